import { estimatedTokens } from "../embeddings/tokens.ts";
import type { Generated, GenerateRequest } from "./language-model.ts";

/** The tokens of a call as the service counted them; else an estimate. */
export function usageOf(
  answer: unknown,
  { system, messages, text }: Pick<GenerateRequest, "system" | "messages"> & { text: string },
): Generated["usage"] {
  const usage = Object(Object(answer).usage) as { prompt_tokens?: unknown; completion_tokens?: unknown };
  const prompt = [system, ...messages.map(({ content }) => content)].join("\n");
  return {
    inputTokens: countOf(usage.prompt_tokens) ?? Math.ceil(estimatedTokens(prompt)),
    outputTokens: countOf(usage.completion_tokens) ?? Math.ceil(estimatedTokens(text)),
  };
}

const countOf = (given: unknown): number | null =>
  typeof given === "number" && Number.isSafeInteger(given) && given >= 0 ? given : null;
