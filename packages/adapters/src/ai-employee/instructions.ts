/** A system message of the AI SDK. */
export type SystemMessage = { role: "system"; content: string };

/** The type of `system` and `instructions` in the AI SDK. */
export type Instructions = string | SystemMessage | readonly SystemMessage[];

/** The `system` that a step may return: version 5 of the AI SDK takes a text alone. `instructions` are those of version 7. */
export type SystemOf<Step> = "instructions" extends keyof Step ? string | SystemMessage[] : string;

/** The fields that every version of the AI SDK gives a `prepareStep`; `instructions` since version 7. */
export type StepStart = {
  stepNumber: number;
  steps?: readonly unknown[];
  messages?: readonly unknown[];
  model?: unknown;
  instructions?: Instructions | undefined;
  experimental_context?: unknown;
  runtimeContext?: unknown;
};

/** Instructions as a list of messages. */
export function messagesOf(instructions: Instructions | null | undefined): readonly SystemMessage[] {
  if (instructions === undefined || instructions === null || instructions === "") return [];
  if (typeof instructions === "string") return [{ role: "system", content: instructions }];
  return "role" in instructions ? [instructions] : instructions;
}

/** `messages` without what they begin with, if that is all of `start`. */
export function withoutStart(
  messages: readonly SystemMessage[],
  start: readonly SystemMessage[],
): readonly SystemMessage[] {
  const begins =
    messages.length >= start.length && start.every(({ content }, i) => messages[i]?.content === content);
  return begins ? messages.slice(start.length) : messages;
}
