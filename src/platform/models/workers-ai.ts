import { withDeadline } from "../deadline.ts";
import type { WorkersAi } from "../embeddings/workers-ai.ts";
import type { Generated, GenerateRequest, LanguageModel } from "./language-model.ts";
import { usageOf } from "./usage.ts";

/** The model of a deployment that binds Workers AI and names none. Cloudflare's page on JSON Mode lists it. */
export const DEFAULT_MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";

/** Generates with a model of Workers AI, in JSON Mode. */
export class WorkersAiModel implements LanguageModel {
  readonly name: string;
  readonly #ai: WorkersAi;

  constructor(ai: WorkersAi, name: string = DEFAULT_MODEL) {
    this.#ai = ai;
    this.name = name;
  }

  async generate(
    { system, messages, schema, maxTokens }: GenerateRequest,
    { withinMs }: { withinMs: number },
  ): Promise<Generated> {
    const answer = await withDeadline(
      this.#ai.run(this.name, {
        messages: [{ role: "system", content: system }, ...messages],
        response_format: { type: "json_schema", json_schema: schema },
        max_tokens: maxTokens,
        temperature: 0,
      }),
      withinMs,
    );
    const text = textOf(answer);
    return { text, usage: usageOf(answer, { system, messages, text }) };
  }
}

/** JSON Mode answers an object; older models a text; the newest the shape of OpenAI. */
function textOf(answer: unknown): string {
  const { response, choices } = Object(answer) as { response?: unknown; choices?: unknown };
  const chosen: unknown = Array.isArray(choices) ? Object(Object(choices[0]).message).content : undefined;
  const content = response ?? chosen;
  if (typeof content === "string") return content;
  if (typeof content === "object" && content !== null) return JSON.stringify(content);
  throw new Error("the model of Workers AI answered no text");
}
