import { withDeadline } from "../deadline.ts";
import type { WorkersAi } from "../embeddings/workers-ai.ts";
import { type Generated, type GenerateRequest, type LanguageModel, ModelRefusal } from "./language-model.ts";
import { usageOf } from "./usage.ts";

/** The model of a deployment that binds Workers AI and names none. Cloudflare's page on JSON Mode lists it. */
export const DEFAULT_MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";

/** The error of JSON Mode for a model that did not keep to the schema: it is a wrong answer. */
const UNMET = "JSON Mode couldn't be met";
/** The codes of https://developers.cloudflare.com/workers-ai/platform/errors/ for a call that would fail again. */
const REFUSED_MESSAGES = new Set([3006, 5004]);
const REFUSED_SETTINGS = new Set([3023, 3041, 3042, 5005, 5007, 5016, 5018, 5019]);

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
    ).catch((error: unknown) => {
      if (String(error).includes(UNMET)) return { response: "" };
      throw refusalOf(error);
    });
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
  return "";
}

/** The error, as a `ModelRefusal` if its code or text says that the same call would fail again. */
function refusalOf(error: unknown): unknown {
  const message = String(error);
  const code = Number(/\b[35]\d{3}(?=:)/.exec(message)?.[0]);
  if (REFUSED_SETTINGS.has(code)) return new ModelRefusal("settings", message);
  const isTooLong = /context (?:length|window)/i.test(message);
  return isTooLong || REFUSED_MESSAGES.has(code) ? new ModelRefusal("messages", message) : error;
}
