// A model of the AI SDK that says what a test gives it, and keeps what it was asked.
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import type { AnswerContent, Prompt, StreamPart } from "../src/ai-sdk/sdk.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export const says = (text: string): AnswerContent[] => [{ type: "text", text }];
export const calls = (
  toolName: string,
  input: object,
  toolCallId: string = crypto.randomUUID(),
): AnswerContent[] => [{ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) }];

/** Answers each call with the next of these; with the last one from then on. An error is thrown. */
export function scripted(...answers: (AnswerContent[] | Error)[]) {
  let at = 0;
  const next = () => {
    const answer = answers[Math.min(at++, answers.length - 1)] ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const content = next();
      return { content, finishReason: reasonOf(content), usage, warnings: [] };
    },
    doStream: async () => ({ stream: convertArrayToReadableStream(partsOf(next())) }),
  });
}

const reasonOf = (content: AnswerContent[]) => {
  const unified = content.some(({ type }) => type === "tool-call")
    ? ("tool-calls" as const)
    : ("stop" as const);
  return { unified, raw: undefined };
};

/** An answer as a provider streams it: text word by word. */
export function partsOf(content: AnswerContent[]): StreamPart[] {
  const parts = content.flatMap((part, i): StreamPart[] => {
    const id = String(i);
    if (part.type === "text")
      return [
        { type: "text-start", id },
        ...part.text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id, delta })),
        { type: "text-end", id },
      ];
    if (part.type === "reasoning")
      return [
        { type: "reasoning-start", id },
        { type: "reasoning-delta", id, delta: part.text },
        {
          type: "reasoning-end",
          id,
          ...(part.providerMetadata && { providerMetadata: part.providerMetadata }),
        },
      ];
    return [part];
  });
  return [
    { type: "stream-start", warnings: [] },
    ...parts,
    { type: "finish", usage, finishReason: reasonOf(content) },
  ];
}

/** What each call of the model was asked. */
export const promptsOf = (model: MockLanguageModelV4): Prompt[] =>
  [...model.doGenerateCalls, ...model.doStreamCalls].map(({ prompt }) => prompt);

/** All text of a prompt. */
export const textIn = (prompt: Prompt | undefined): string => JSON.stringify(prompt);
