import { z } from "zod";
import type { Ingest } from "../../domain/schema/ingest.ts";
import { DeadlineExceeded } from "../deadline.ts";
import { type Generated, type GenerateRequest, type LanguageModel, ModelRefusal } from "./language-model.ts";

/** `answer`: the part of an answer that can be used, or null. `problem`: an error in it, or null. */
export type ParsedAnswer<T> = { answer: T | null; problem: string | null };
/** `content`: the message to the model. `schema`: of the answer. `parse`: parses an answer, which may be any JSON. */
type Question<T> = {
  system: string;
  content: string;
  schema: z.ZodType;
  parse: (json: unknown) => ParsedAnswer<T>;
};
/**
 * `invalid_answer`: twice nothing that can be used. `model_refused`: the model does not take these messages. `model_misconfigured`: it
 * takes none, as the settings are wrong. `model_daily_limit`: it takes none before 0:00 UTC. `usage` does not count a call that was refused at no cost.
 */
export type Reply<T> = { usage: Ingest["usage"] } & (
  | { answer: T }
  | { failed: "invalid_answer" | ModelFailure }
);
type ModelFailure = (typeof REFUSALS)[keyof typeof REFUSALS] | "model_failed" | "model_late";

const REFUSALS = {
  messages: "model_refused",
  settings: "model_misconfigured",
  day: "model_daily_limit",
} as const;

/** Time of one call of the model. */
const CALL_MS = 45_000;
const MAX_TOKENS = 2_048;
/** Characters of an answer: many more than those tokens have. And those of a wrong answer that the model sees again. */
const [LONGEST, SHOWN] = [100_000, 4_000];
/** Braces at which the JSON of an answer may begin: text before it may have some. */
const BRACES = 20;

/** Asks the model, and once more, with the error, if something is wrong with its answer. Then it takes what can be used. */
export async function ask<T>(
  model: LanguageModel,
  { system, content, schema, parse }: Question<T>,
): Promise<Reply<T>> {
  const usage: Ingest["usage"] = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const request: GenerateRequest = {
    system,
    messages: [{ role: "user", content }],
    schema: z.toJSONSchema(schema),
    maxTokens: MAX_TOKENS,
  };
  let usable: T | null = null;
  for (let attempt = 1; ; attempt++) {
    let text: string;
    try {
      const generated = await model.generate(request, { withinMs: CALL_MS });
      text = generated.text;
      add(usage, generated.usage);
    } catch (error) {
      console.error({
        message: "the language model failed",
        model: model.name,
        error: error instanceof Error ? error.message : "no reason given",
      });
      const spent = error instanceof ModelRefusal ? error.usage : { inputTokens: 0, outputTokens: 0 };
      if (spent !== undefined) add(usage, spent);
      // A refusal of the second question comes again. Another failure may pass.
      if (usable !== null && error instanceof ModelRefusal) return { usage, answer: usable };
      return { usage, failed: failureOf(error) };
    }
    const json = text.length > LONGEST ? undefined : jsonIn(text);
    const { answer, problem } = json === undefined ? NO_JSON : parse(json);
    usable = answer ?? usable;
    if (usable !== null && (problem === null || attempt === 2)) return { usage, answer: usable };
    if (attempt === 2) return { usage, failed: "invalid_answer" };
    request.messages = [
      ...request.messages,
      { role: "assistant", content: text.slice(0, SHOWN) || "(no text)" },
      { role: "user", content: `That is not the JSON that was asked for: ${problem}. Answer again.` },
    ];
  }
}

function add(usage: Ingest["usage"], { inputTokens, outputTokens }: Generated["usage"]): void {
  usage.calls++;
  usage.inputTokens += inputTokens;
  usage.outputTokens += outputTokens;
}

function failureOf(error: unknown): ModelFailure {
  if (error instanceof ModelRefusal) return REFUSALS[error.refused];
  return error instanceof DeadlineExceeded ? "model_late" : "model_failed";
}

const NO_JSON = { answer: null, problem: "it is not valid JSON" };

/** Parses a whole answer of the schema, or nothing. */
export const strictParser =
  <T>(schema: z.ZodType<T>) =>
  (json: unknown): ParsedAnswer<T> => {
    const { success, data, error } = schema.safeParse(json);
    return success ? { answer: data, problem: null } : { answer: null, problem: problemIn(error) };
  };

/** The first errors, to tell the model. */
const problemIn = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => [path.map(String).join("."), message].filter(Boolean).join(": "))
    .join("; ");

/** The JSON of an answer. Some models put it into a fence of Markdown, with text or their reasoning around, whatever they are told. */
function jsonIn(text: string): unknown {
  const end = text.lastIndexOf("}") + 1;
  const starts = [...text.matchAll(/\{/g)].slice(0, BRACES).map(({ index }) => index);
  for (const json of [text, ...starts.map((start) => text.slice(start, end))])
    try {
      return JSON.parse(json) as unknown;
    } catch {
      continue;
    }
  return undefined;
}
