import { z } from "zod";
import type { Proposals } from "../../domain/ingest/proposal.ts";
import { answerSchema, NAME, promptOf } from "../../domain/ingest/prompts/extract-1.ts";
import type { Window } from "../../domain/ingest/window.ts";
import type { ExtractKind, Ingest } from "../../domain/schema/ingest.ts";
import { DeadlineExceeded } from "../deadline.ts";
import type { GenerateRequest, LanguageModel } from "./language-model.ts";

/** `invalid_answer`: twice no JSON of the schema. */
type Failed = "invalid_answer" | "model_failed" | "model_late";
export type Extraction = { usage: Ingest["usage"] } & (
  | { proposals: Proposals; prompt: string }
  | { failed: Failed }
);

/** Time of one call of the model. */
const CALL_MS = 45_000;
const MAX_TOKENS = 2_048;

/**
 * Asks the model for memories of the messages, and once more, with the error, if its answer is no JSON of the schema. The proposals
 * are not checked yet.
 */
export async function extract(
  model: LanguageModel,
  window: Window,
  kinds: readonly ExtractKind[],
): Promise<Extraction> {
  const schema = answerSchema(kinds);
  const { system, content } = promptOf(kinds, window);
  const usage: Ingest["usage"] = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const request: GenerateRequest = {
    system,
    messages: [{ role: "user", content }],
    schema: z.toJSONSchema(schema),
    maxTokens: MAX_TOKENS,
  };
  const seqs = new Set([...window.context, ...window.messages].map(({ seq }) => seq));
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
    const parsed = parseAnswer(schema, text, seqs);
    if ("proposals" in parsed) return { usage, proposals: parsed.proposals, prompt: NAME };
    if (attempt === 2) return { usage, failed: "invalid_answer" };
    request.messages = [
      ...request.messages,
      { role: "assistant", content: text },
      { role: "user", content: `That is not the JSON that was asked for: ${parsed.error}. Answer again.` },
    ];
  }
}

/** The proposals of an answer, or the error to tell the model. */
function parseAnswer(
  schema: ReturnType<typeof answerSchema>,
  text: string,
  seqs: ReadonlySet<number>,
): { proposals: Proposals } | { error: string } {
  let json: unknown;
  try {
    json = JSON.parse(withoutFence(text));
  } catch {
    return { error: "it is not valid JSON" };
  }
  const { success, data, error } = schema.safeParse(json);
  if (!success)
    return {
      error: error.issues
        .slice(0, 5)
        .map(({ path, message }) => `${path.map(String).join(".")}: ${message}`)
        .join("; "),
    };
  const { facts = [], episodes = [], procedures = [] } = data;
  const unknown = [...facts, ...episodes, ...procedures]
    .flatMap(({ sources }) => sources)
    .find((seq) => !seqs.has(seq));
  if (unknown !== undefined) return { error: `sources: there is no message ${unknown}` };
  return { proposals: { facts, episodes, procedures } };
}

/** Some models put JSON into a fence of Markdown, whatever they are told. */
const withoutFence = (text: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*)\n\s*```\s*$/.exec(text)?.[1] ?? text;
