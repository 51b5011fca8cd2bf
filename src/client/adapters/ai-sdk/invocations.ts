import { field, textField } from "../../../conversation/message.ts";
import type { AssistantPart, PromptMessage } from "./sdk.ts";

type ToolMessage = Extract<PromptMessage, { role: "tool" }>;
type Call = Extract<AssistantPart, { type: "tool-call" }>;
type Result = Extract<AssistantPart, { type: "tool-result" }>;

/** A tool's call, and what came of it once that is there. */
type Invocation = { call: Call; result: Result | undefined };

/** Whether calls stand in the parts with their results, as in the messages of `useChat` and of Mastra. */
export const hasInvocations = (parts: readonly unknown[]): boolean =>
  parts.some((part) => invocationIn(part) !== undefined);

/**
 * One stored message as those that a model takes: of each step what it said and called, then the results. What is said
 * after a call belongs to the next step, as it was said knowing the results.
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
      const { call, result } = invocation;
      here.content.push(call);
      if (call.providerExecuted === true) here.content.push(...(result === undefined ? [] : [result]));
      else {
        here.results.push(...(result === undefined ? [] : [result]));
        here.called = true;
      }
    }
  }
  return steps.flatMap(({ content, results }) => [
    ...(content.length === 0 ? [] : [{ role: "assistant" as const, content }]),
    ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }]),
  ]);
}

/** The SDK's own parts of a prompt, whose names begin alike. */
const OWN = new Set(["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]);

function invocationIn(part: unknown): Invocation | undefined {
  const type = textField(part, "type") ?? "";
  if (OWN.has(type) || !(type === "dynamic-tool" || type.startsWith("tool-"))) return undefined;
  const told = type === "tool-invocation" ? field(part, "toolInvocation") : part;
  const toolCallId = textField(told, "toolCallId");
  const named = type === "tool-invocation" || type === "dynamic-tool";
  const toolName = named ? textField(told, "toolName") : type.slice("tool-".length);
  if (toolCallId === undefined || toolName === undefined || field(told, "state") === undefined)
    return undefined;
  const input = field(told, "input") ?? field(told, "args") ?? {};
  const who = field(part, "providerExecuted") === true ? { providerExecuted: true } : {};
  const output = outputIn(told);
  return {
    call: { type: "tool-call", toolCallId, toolName, input, ...who },
    result: output && { type: "tool-result", toolCallId, toolName, output },
  };
}

function outputIn(told: unknown): Result["output"] | undefined {
  const value = field(told, "output") ?? field(told, "result") ?? null;
  switch (field(told, "state")) {
    case "output-error":
      return { type: "error-text", value: textField(told, "errorText") ?? "The tool failed." };
    case "output-denied":
      return { type: "execution-denied" };
    case "output-available":
    case "result": {
      const failed = field(told, "isError") === true;
      if (typeof value === "string") return { type: failed ? "error-text" : "text", value };
      // It was stored as JSON.
      return { type: failed ? "error-json" : "json", value: value as null };
    }
    default:
      return undefined;
  }
}
