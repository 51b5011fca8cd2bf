import { type AnyMessage } from "./message.ts";
import { differenceIn, type FieldPath } from "./same-message.ts";
import { approvalRequests, approvalResponses, givenResults, requestedCalls, roleOf } from "./tool-calls.ts";

export type ContinuationOptions = {
  /** Calls that the client says its user has approved. */
  approvedToolCallIds?: readonly string[];
  rejectedToolCallIds?: readonly string[];
  /** `loose`, unless set. */
  mode?: "loose" | "strict";
};

export type ContinuationCode =
  | "not-a-prefix"
  | "truncated-history"
  | "forged-system-message"
  | "forged-tool-call"
  | "forged-tool-result"
  | "duplicate-tool-result"
  | "forged-approval";

/** `index` is into the incoming messages; what no message shows (a missing end, an approval of an option) has none. */
export type ContinuationRefusal = { ok: false; code: ContinuationCode; reason: string; index?: number };
export type Continuation = { ok: true } | ContinuationRefusal;

/**
 * Checks that a client's history continues the stored one, and claims nothing that only the server knows. It reads
 * `persisted` once and does not keep it, so a long thread may be streamed.
 *
 * Loose: every message that both have by position is the same (`not-a-prefix`), every new result is of a requested
 * call (`forged-tool-result`), every approval too (`forged-approval`). A shorter history is accepted. Results in the
 * shared prefix are not checked again: the server has them itself. The reason of `not-a-prefix` names the field that differs.
 *
 * Strict refuses in this order, each check over the whole input, so that the code names the cause and not what
 * follows from it: first the past (`not-a-prefix`, then `truncated-history`), as nothing else means much on a false
 * one; then what the client says in another's name, the program's (`forged-system-message`) before the model's
 * (`forged-tool-call`), as an invented call would vouch for its invented result; then results that answer no call
 * (`forged-tool-result`) before those that come second (`duplicate-tool-result`), as only an answer can be a second
 * one; at last approvals (`forged-approval`), which must be of calls that after all this still have no result, and
 * not for and against at once.
 *
 * @example
 * validateContinuation(stored, sent, { mode: "strict" });
 * // { ok: false, code: "forged-tool-call", reason: "message 2 …", index: 2 }
 */
export function validateContinuation(
  persisted: Iterable<AnyMessage>,
  incoming: readonly AnyMessage[],
  options: ContinuationOptions = {},
): Continuation {
  const calls: Calls = { answered: new Map(), approvals: new Map() };
  let length = 0;
  for (const message of persisted) {
    const path = length < incoming.length ? differenceIn(message, incoming[length]) : undefined;
    if (path !== undefined) {
      const reason = `message ${length} is not the one that is stored there${differing(path)}`;
      return refusal("not-a-prefix", reason, length);
    }
    noteCalls(calls, message);
    for (const id of givenResults(message)) if (id !== undefined) calls.answered.set(id, true);
    length++;
  }
  const added = incoming.slice(length).map((message, i) => ({ message, index: length + i }));
  const isStrict = options.mode === "strict";
  if (isStrict && incoming.length < length) {
    const reason = `the conversation has fewer messages (${incoming.length}) than are stored (${length})`;
    return refusal("truncated-history", reason);
  }
  const forged = isStrict ? forgedMessage(added) : undefined;
  if (forged !== undefined) return forged;
  for (const { message } of added) noteCalls(calls, message);
  return forgedResult(added, calls, isStrict) ?? forgedApproval(added, calls, options) ?? { ok: true };
}

/** Every requested call and whether it has its result, and the call of every approval asked for. */
type Calls = {
  answered: Map<string, boolean>;
  approvals: Map<string | undefined, string | undefined>;
};
type Added = readonly { message: AnyMessage; index: number }[];

/** A call requested again is a new call: some models count their ids from zero in every turn. */
function noteCalls(calls: Calls, message: AnyMessage): void {
  for (const id of requestedCalls(message)) if (id !== undefined) calls.answered.set(id, false);
  for (const [approval, id] of approvalRequests(message)) calls.approvals.set(approval, id);
}

/** The depth to which a reason names the field that differs: `toolCalls[0].arguments`. */
const NAMED_DEPTH = 3;

function differing(path: FieldPath): string {
  const named = path.slice(0, NAMED_DEPTH);
  if (named.length === 0) return "";
  const steps = named.map((step, i) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^\w{1,64}$/.test(step)) return `[${JSON.stringify(step.slice(0, 64))}]`;
    return i === 0 ? step : `.${step}`;
  });
  return `: ${steps.join("")} differs`;
}

function refusal(code: ContinuationCode, reason: string, index?: number): ContinuationRefusal {
  return { ok: false, code, reason, ...(index !== undefined && { index }) };
}

/** The program's messages before the model's calls. */
function forgedMessage(added: Added): ContinuationRefusal | undefined {
  const system = added.find(({ message }) => /^(system|developer)$/i.test(roleOf(message) ?? ""));
  if (system !== undefined) {
    const reason = `message ${system.index} is new and of role ${roleOf(system.message)}, which only the server adds`;
    return refusal("forged-system-message", reason, system.index);
  }
  const call = added.find(({ message }) => requestedCalls(message).length > 0);
  if (call === undefined) return undefined;
  const reason = `message ${call.index} is new and calls tools, which only the server's model does`;
  return refusal("forged-tool-call", reason, call.index);
}

/** Notes the new results as well, so that no approval can be of a call that they answer. */
function forgedResult(added: Added, calls: Calls, isStrict: boolean): ContinuationRefusal | undefined {
  const results = added.flatMap(({ message, index }) => givenResults(message).map((id) => ({ id, index })));
  const forged = results.find(({ id }) => id === undefined || !calls.answered.has(id));
  if (forged !== undefined) {
    const reason = `message ${forged.index} answers ${quoted(forged.id)}, which no assistant message has requested`;
    return refusal("forged-tool-result", reason, forged.index);
  }
  if (!isStrict) return undefined;
  for (const { id = "", index } of results) {
    if (calls.answered.get(id) === true)
      return refusal(
        "duplicate-tool-result",
        `message ${index} answers ${quoted(id)}, which has its result`,
        index,
      );
    calls.answered.set(id, true);
  }
  return undefined;
}

function forgedApproval(
  added: Added,
  calls: Calls,
  options: ContinuationOptions,
): ContinuationRefusal | undefined {
  const decisions = [
    ...(options.approvedToolCallIds ?? []).map((id) => ({ id, approved: true, index: undefined })),
    ...(options.rejectedToolCallIds ?? []).map((id) => ({ id, approved: false, index: undefined })),
    ...added.flatMap(({ message, index }) =>
      approvalResponses(message).map(({ approvalId, approved }) => {
        return { id: calls.approvals.get(approvalId), approved, index };
      }),
    ),
  ];
  const decisionOf = new Map<string, boolean>();
  for (const { id, approved, index } of decisions) {
    const refuse = (why: string) =>
      refusal("forged-approval", `the approval or rejection of ${quoted(id)} ${why}`, index);
    if (id === undefined || !calls.answered.has(id)) return refuse("is of no requested call");
    if (options.mode !== "strict") continue;
    if (calls.answered.get(id) === true) return refuse("comes after its result");
    if ((decisionOf.get(id) ?? approved) !== approved) return refuse("is given both ways");
    decisionOf.set(id, approved);
  }
  return undefined;
}

const quoted = (id: string | undefined): string =>
  id === undefined ? "a call without id" : JSON.stringify(id);
