import { type AnyMessage, field, listField, textField } from "./message.ts";
import {
  CALL_PARTS,
  isCallPart,
  isProviderCall,
  type PartList,
  partType,
  withoutParts,
} from "./message-parts.ts";

// The shapes in which people store tool calls and their results. Here are their ids; what they tell is in tool-call-formats.ts:
//
//              calls, of an assistant message             results
//   Cairn      toolCalls: [{ id }]                        role tool, toolCallId
//   OpenAI     tool_calls: [{ id }]                       role tool, tool_call_id
//   Anthropic  content: [{ type: "tool_use", id }]        role user, content: [{ type: "tool_result", tool_use_id }]
//   AI SDK     content: [{ type: "tool-call",             role tool, content: [{ type: "tool-result", toolCallId }]
//                toolCallId }]                            (of a tool that the provider ran: in the assistant message)
//   UIMessage  parts: [{ type: "tool-…", toolCallId }]    the same part, once its state is an output
//
// Calls that a provider carries out, and Gemini's, have both halves in lists of parts: see unpaired-parts.ts.
//
// An id that is missing or no string reads as undefined: a call that nothing can answer, a result that answers nothing.

type Id = string | undefined;

export const CALL_LISTS = ["toolCalls", "tool_calls"];
const RESULT_FIELDS = ["toolCallId", "tool_call_id"];
const RESULT_PARTS = new Map([
  ["tool_result", "tool_use_id"],
  ["tool-result", "toolCallId"],
]);
const UI_OUTPUTS: readonly unknown[] = ["output-available", "output-error", "output-denied"];

const callPartId = (part: unknown): Id => textField(part, CALL_PARTS.get(partType(part)) ?? "");
/** The id of the call that a part of a list is, if it is one. */
export const callId = (part: unknown, list: PartList): Id =>
  list === "parts" && /^(tool-|dynamic-tool$)/.test(partType(part))
    ? (textField(part, "toolCallId") ?? textField(field(part, "toolInvocation"), "toolCallId"))
    : callPartId(part);
const contentOf = (message: AnyMessage): readonly unknown[] => listField(message, "content");
const listedCalls = (message: AnyMessage): Id[] =>
  CALL_LISTS.flatMap((name) => listField(message, name)).map((call) => textField(call, "id"));

export const roleOf = (message: AnyMessage): Id => textField(message, "role");
export const isResultPart = (part: unknown): boolean => RESULT_PARTS.has(partType(part));
export const resultPartId = (part: unknown): Id => textField(part, RESULT_PARTS.get(partType(part)) ?? "");

/** The ids of all calls that an assistant message requests, in order; none of a message of another role. */
export function requestedCalls(message: AnyMessage): Id[] {
  if (roleOf(message) !== "assistant") return [];
  const inParts = contentOf(message).filter(isCallPart).map(callPartId);
  const inUi = uiToolParts(message).map((part) => textField(part, "toolCallId"));
  return [...listedCalls(message), ...inParts, ...inUi];
}

/**
 * The calls, each once, whose results must follow in messages of their own. A call that the provider carries out awaits
 * none.
 */
export function awaitedCalls(message: AnyMessage): Id[] {
  if (roleOf(message) !== "assistant") return [];
  const inParts = contentOf(message).filter(isAwaitedPart).map(callPartId);
  return [...new Set([...listedCalls(message), ...inParts])];
}

/** The same message without the calls that `awaitedCalls` names, nor the approvals that it asks for them. */
export function withoutAwaitedCalls<M extends AnyMessage>(message: M): M {
  const awaited = new Set(awaitedCalls(message));
  // A spread, so that what a caller has tied to the message by a symbol stays on it.
  const copy = { ...message } as { [field: string]: unknown };
  for (const name of CALL_LISTS) delete copy[name];
  const asksForOne = (part: unknown) =>
    partType(part) === "tool-approval-request" && awaited.has(textField(part, "toolCallId"));
  // Only fields that are optional in every one of these shapes have gone.
  return withoutParts(copy as M, (part) => isAwaitedPart(part) || asksForOne(part));
}

/** The id of the call that a tool message as a whole answers; undefined if its results are in its parts. */
export function answeredCall(message: AnyMessage): Id {
  if (roleOf(message) !== "tool") return undefined;
  return RESULT_FIELDS.map((name) => textField(message, name)).find((id) => id !== undefined);
}

/** The ids of all calls that a message gives results for. A tool message that names no call answers `undefined`. */
export function givenResults(message: AnyMessage): Id[] {
  const isTool = roleOf(message) === "tool";
  const whole = isTool ? RESULT_FIELDS.flatMap((name) => textField(message, name) ?? []) : [];
  // One result may be told twice over, in a field and in a part.
  const inParts = contentOf(message)
    .filter(isResultPart)
    .map(resultPartId)
    .filter((id) => id === undefined || !whole.includes(id));
  const inUi = uiToolParts(message)
    .filter((part) => UI_OUTPUTS.includes(field(part, "state")))
    .map((part) => textField(part, "toolCallId"));
  const results = [...new Set(whole), ...inParts, ...inUi];
  const namesNone = isTool && results.length === 0 && approvalResponses(message).length === 0;
  return namesNone ? [undefined] : results;
}

/** The AI SDK's requests for approval in an assistant message: the call of each approval id. */
export function approvalRequests(message: AnyMessage): Map<Id, Id> {
  const parts = contentOf(message).filter((part) => partType(part) === "tool-approval-request");
  const requestParts = roleOf(message) === "assistant" ? parts : [];
  return new Map(requestParts.map((part) => [textField(part, "approvalId"), textField(part, "toolCallId")]));
}

/** The AI SDK's answers to these, in a tool message. */
export function approvalResponses(message: AnyMessage): { approvalId: Id; approved: boolean }[] {
  if (roleOf(message) !== "tool") return [];
  return contentOf(message)
    .filter(isApprovalResponse)
    .map((part) => ({
      approvalId: textField(part, "approvalId"),
      approved: field(part, "approved") === true,
    }));
}

export const isApprovalResponse = (part: unknown): boolean => partType(part) === "tool-approval-response";

const isAwaitedPart = (part: unknown): boolean => isCallPart(part) && !isProviderCall(part);

export const isUiToolPart = (part: unknown): boolean =>
  partType(part) === "dynamic-tool" || partType(part).startsWith("tool-");

const uiToolParts = (message: AnyMessage): unknown[] => listField(message, "parts").filter(isUiToolPart);
