import { field } from "../../../../src/domain/conversation/message.ts";
import { type Invocation, invocationIn } from "../../../../src/domain/conversation/tool-call-formats.ts";
import type { AssistantPart, PromptMessage } from "./sdk.ts";

type ToolMessage = Extract<PromptMessage, { role: "tool" }>;
type Call = Extract<AssistantPart, { type: "tool-call" }>;
type Result = Extract<AssistantPart, { type: "tool-result" }>;

/** True for parts that hold calls with their results, as in messages of `useChat` and of Mastra. */
export const hasInvocations = (parts: readonly unknown[]): boolean =>
  parts.some((part) => invocationIn(part) !== undefined);

/**
 * Splits a stored message into messages for a model: for each step its text and calls, then the results. Text after a
 * call belongs to the next step, since it was written with the results known.
 */
export function stepsOf(
  parts: readonly unknown[],
  spokenIn: (part: unknown) => AssistantPart[],
): (ToolMessage | { role: "assistant"; content: AssistantPart[] })[] {
  const steps: { content: AssistantPart[]; results: Result[]; called: boolean }[] = [];
  let step: (typeof steps)[number] | undefined;
  const next = () => {
    step = { content: [], results: [], called: false };
    steps.push(step);
    return step;
  };
  for (const part of parts) {
    const invocation = invocationIn(part);
    const begins =
      field(part, "type") === "step-start" || (invocation === undefined && step?.called === true);
    const here = step === undefined || begins ? next() : step;
    if (invocation === undefined) here.content.push(...spokenIn(part));
    else {
      here.content.push(callOf(invocation));
      if (invocation.byProvider) here.content.push(...resultsOf(invocation));
      else {
        here.results.push(...resultsOf(invocation));
        here.called = true;
      }
    }
  }
  return steps.flatMap(({ content, results }) => [
    ...(content.length === 0 ? [] : [{ role: "assistant" as const, content }]),
    ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }]),
  ]);
}

const callOf = ({ id, name, input, byProvider }: Invocation): Call => ({
  type: "tool-call",
  toolCallId: id,
  toolName: name,
  input,
  ...(byProvider && { providerExecuted: true }),
});

function resultsOf({ id, name, outcome }: Invocation): Result[] {
  return outcome === undefined
    ? []
    : [{ type: "tool-result", toolCallId: id, toolName: name, output: outputOf(outcome) }];
}

function outputOf({ kind, value }: NonNullable<Invocation["outcome"]>): Result["output"] {
  if (kind === "denial") return { type: "execution-denied" };
  if (typeof value === "string") return { type: kind === "failure" ? "error-text" : "text", value };
  // It was stored as JSON.
  return { type: kind === "failure" ? "error-json" : "json", value: value as null };
}
