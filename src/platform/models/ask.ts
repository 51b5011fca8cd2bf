import { z } from "zod";
import type { Ingest } from "../../domain/schema/ingest.ts";
import { DeadlineExceeded } from "../deadline.ts";
import type { GenerateRequest, LanguageModel } from "./language-model.ts";

/** `content`: the message to the model. `problemOf`: why an answer of the schema is none all the same; null if it is one. */
export type Question<T> = {
  system: string;
  content: string;
  schema: z.ZodType<T>;
  problemOf?: (answer: T) => string | null;
};
/** `invalid_answer`: twice no JSON of the schema. */
export type Asked<T> = { usage: Ingest["usage"] } & (
  | { answer: T }
  | { failed: "invalid_answer" | "model_failed" | "model_late" }
);

/** Time of one call of the model. */
const CALL_MS = 45_000;
const MAX_TOKENS = 2_048;

/** Asks the model, and once more, with the error, if its answer is no JSON of the schema. */
export async function ask<T>(
  model: LanguageModel,
  { system, content, schema, problemOf = () => null }: Question<T>,
): Promise<Asked<T>> {
  const usage: Ingest["usage"] = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const request: GenerateRequest = {
    system,
    messages: [{ role: "user", content }],
    schema: z.toJSONSchema(schema),
    maxTokens: MAX_TOKENS,
  };
  for (let attempt = 1; ; attempt++) {
    let text: string;
    usage.calls++;
    try {
      const generated = await model.generate(request, { withinMs: CALL_MS });
      text = generated.text;
      usage.inputTokens += generated.usage.inputTokens;
      usage.outputTokens += generated.usage.outputTokens;
    } catch (error) {
      console.error({
        message: "the language model failed",
        model: model.name,
        error: error instanceof Error ? error.message : "no reason given",
      });
      return { usage, failed: error instanceof DeadlineExceeded ? "model_late" : "model_failed" };
    }
    const parsed = parseAnswer(schema, text);
    const problem = "answer" in parsed ? problemOf(parsed.answer) : parsed.error;
    if ("answer" in parsed && problem === null) return { usage, answer: parsed.answer };
    if (attempt === 2) return { usage, failed: "invalid_answer" };
    request.messages = [
      ...request.messages,
      { role: "assistant", content: text },
      { role: "user", content: `That is not the JSON that was asked for: ${problem}. Answer again.` },
    ];
  }
}

/** The answer, or the error to tell the model. */
function parseAnswer<T>(schema: z.ZodType<T>, text: string): { answer: T } | { error: string } {
  let json: unknown;
  try {
    json = JSON.parse(withoutFence(text));
  } catch {
    return { error: "it is not valid JSON" };
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return { answer: data };
  const issues = error.issues.slice(0, 5);
  return {
    error: issues
      .map(({ path, message }) => [path.map(String).join("."), message].filter(Boolean).join(": "))
      .join("; "),
  };
}

/** Some models put JSON into a fence of Markdown, whatever they are told. */
const withoutFence = (text: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*)\n\s*```\s*$/.exec(text)?.[1] ?? text;
