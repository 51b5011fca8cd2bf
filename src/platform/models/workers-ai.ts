import { z } from "zod";
import { withDeadline } from "../deadline.ts";
import type { WorkersAi } from "../embeddings/workers-ai.ts";
import { isFreeAllocationUsedUp } from "../free-allocation.ts";
import { parsed, textOf } from "../endpoint-request.ts";
import {
  type Generated,
  type GenerateRequest,
  type LanguageModel,
  LONGEST_ANSWER,
  ModelRefusal,
} from "./language-model.ts";
import { cutOff, usageOf } from "./usage.ts";

/**
 * Models that take the schema as the older JSON Mode does: https://developers.cloudflare.com/workers-ai/features/json-mode/. All others
 * take the parameters of OpenAI's chat completions.
 */
const JSON_MODE = new Set([
  "@cf/meta/llama-3-8b-instruct",
  "@cf/meta/llama-3.1-8b-instruct",
  "@cf/meta/llama-3.1-8b-instruct-fast",
  "@cf/meta/llama-3.1-70b-instruct",
  "@cf/meta/llama-3.2-11b-vision-instruct",
  "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
  "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b",
]);

/** The error of JSON Mode for a model that did not keep to the schema: it is a wrong answer. */
const UNMET = "JSON Mode couldn't be met";
/** The codes of https://developers.cloudflare.com/workers-ai/platform/errors/ for a call that would fail again. */
const REFUSED_MESSAGES = new Set([3006, 5004]);
/** 5028: the model is retired. 5035: it is for the paid plan only. */
const REFUSED_SETTINGS = new Set([3023, 3041, 3042, 5005, 5007, 5016, 5018, 5019, 5028, 5035]);

/** Generates with a model of Workers AI, which is given a schema of the answer. */
export class WorkersAiModel implements LanguageModel {
  readonly name: string;
  readonly #ai: WorkersAi;

  constructor(ai: WorkersAi, name: string) {
    this.#ai = ai;
    this.name = name;
  }

  async generate(request: GenerateRequest, { withinMs }: { withinMs: number }): Promise<Generated> {
    const cancelled = new AbortController();
    const answer = await withDeadline(this.#ask(request, cancelled.signal), withinMs)
      .catch((error: unknown) => {
        if (String(error).includes(UNMET)) return { response: "" };
        throw refusalOf(error);
      })
      // Ends a call that is late, and the rest of an answer that is too long.
      .finally(() => cancelled.abort());
    if (answer === null) return cutOff(request);
    const text = contentOf(answer);
    return { text, usage: usageOf(answer, { ...request, text }) };
  }

  /** The answer's JSON; null if it is too long. JSON Mode does not stream: the response is read as it comes in its place. */
  async #ask(
    { system, messages, schema, maxTokens }: GenerateRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    const input = {
      messages: [{ role: "system", content: system }, ...messages],
      ...(JSON_MODE.has(this.name)
        ? { response_format: { type: "json_schema", json_schema: schema }, max_tokens: maxTokens }
        : {
            response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
            // Some models take one of the names, and some the other.
            max_completion_tokens: maxTokens,
            max_tokens: maxTokens,
            // The reasoning of a small model would take the tokens of its answer.
            chat_template_kwargs: { enable_thinking: false },
          }),
      temperature: 0,
    };
    const response = await this.#ai.run(this.name, input, { returnRawResponse: true, signal });
    if (!(response instanceof Response)) throw new Error("Workers AI answered no response");
    const text = await textOf(response, LONGEST_ANSWER);
    if (text === null && response.ok) return null;
    const json = parsed(text ?? "");
    if (!response.ok) throw new Error(errorIn(json) ?? `Workers AI answered ${response.status}`);
    return json ?? {};
  }
}

/** The error of a response, as the binding itself would tell it. */
function errorIn(json: unknown): string | null {
  const { data } = ServiceError.safeParse(json);
  if (data === undefined) return null;
  if ("internalCode" in data) return `${data.internalCode}: ${data.description}`;
  const [{ code, message }] = data.errors;
  return `${code}: ${message}`;
}

const errorCode = z.union([z.string(), z.number()]);
const ServiceError = z.union([
  z.object({ internalCode: errorCode, description: z.string() }),
  z.object({ errors: z.tuple([z.object({ code: errorCode, message: z.string() })], z.unknown()) }),
]);

/** JSON Mode answers an object; older models a text; the newest the shape of OpenAI. */
function contentOf(answer: unknown): string {
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
  if (isFreeAllocationUsedUp(error)) return new ModelRefusal("day", message);
  const code = Number(/\b[35]\d{3}(?=:)/.exec(message)?.[0]);
  if (REFUSED_SETTINGS.has(code)) return new ModelRefusal("settings", message);
  const isTooLong = /context (?:length|window)/i.test(message);
  return isTooLong || REFUSED_MESSAGES.has(code) ? new ModelRefusal("messages", message) : error;
}
