import { estimatedTokens } from "../embeddings/tokens.ts";
import type { Generated, GenerateRequest } from "./language-model.ts";

type Question = Pick<GenerateRequest, "system" | "messages" | "maxTokens">;

/** The tokens of a call as the service counted them; else an estimate: of an answer, no more than it was asked for. */
export function usageOf(answer: unknown, request: Question & { text: string }): Generated["usage"] {
  const usage = Object(Object(answer).usage) as { prompt_tokens?: unknown; completion_tokens?: unknown };
  const { text, maxTokens } = request;
  return {
    inputTokens: countOf(usage.prompt_tokens) ?? inputTokens(request),
    outputTokens: countOf(usage.completion_tokens) ?? Math.min(maxTokens, Math.ceil(estimatedTokens(text))),
  };
}

/** Stands for an answer that was cut off: no text, and all tokens that were asked for. */
export const cutOff = (request: Question): Generated => ({
  text: "",
  usage: { inputTokens: inputTokens(request), outputTokens: request.maxTokens },
});

const inputTokens = ({ system, messages }: Question): number =>
  Math.ceil(estimatedTokens([system, ...messages.map(({ content }) => content)].join("\n")));

const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
