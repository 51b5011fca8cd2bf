import { type AnyMessage, field, listField, textField } from "./message.ts";
import { isBlank, PART_LISTS, type PartList, partsSpeak, withoutParts } from "./message-parts.ts";
import { resultsInOrder, withContent } from "./results-in-order.ts";
import { CALL_LISTS, callId, isResultPart, roleOf, withoutAwaitedCalls } from "./tool-calls.ts";
import { unpairedParts } from "./unpaired-parts.ts";

/**
 * A conversation that every model takes: each tool call with its result, each result with its call, and no message or text
 * that is empty.
 *
 * - A complete tool turn keeps its results in the order of its calls; the first result of a call wins.
 * - A turn with a call that has no result loses its calls and results and keeps its text. So does a call that waits for an
 *   approval: sanitise what goes to a model, not what is still to be approved.
 * - Of the calls of a message with one id, the first stays.
 * - A result without a call in the turn that it follows goes. So does a call that the provider carries out itself, or of
 *   Gemini, without its result, and a tool part of a UI message that is still pending.
 * - Reasoning goes that led to none of what stays.
 * - A text of blanks alone goes, and a message that says nothing.
 *
 * Reads the shapes of Cairn, OpenAI with the items of its Agents SDK, Anthropic, Gemini and the AI SDK, UIMessages included;
 * everything else comes back as it is. Never changes its input; a message that needs no change is the same object in the
 * answer. Sanitising twice changes nothing more.
 *
 * @example
 * const { items } = await memory.threads.read(id);
 * const prompt = sanitizeConversation(items.map(({ message }) => message));
 */
export function sanitizeConversation<M extends AnyMessage>(messages: readonly M[]): M[] {
  const distinct = messages.map((message) => {
    const isRepeated = repeatedCalls();
    return withoutRepeatedCalls(withoutParts(message, (part, { list }) => isRepeated(part, list)));
  });
  // After that, as a repeated call leaves its result alone.
  const leaves = unpairedParts(distinct);
  const cleaned = distinct.map((message, n) =>
    withoutEmptyFields(withoutParts(message, (part, at) => leaves(n, part, at))),
  );
  const turns: M[][] = [];
  let next: AnyMessage | undefined;
  // From the end, as reasoning of its own stays if what it led to does.
  for (const turn of turnsOf(cleaned).toReversed()) {
    const isLoose = isReasoningItem(turn[0]) && roleOf(next ?? {}) !== "assistant";
    const sanitized = sanitizedTurn(turn).slice(isLoose ? 1 : 0);
    next = sanitized[0];
    turns.push(sanitized);
  }
  return turns.toReversed().flat();
}

/** Answers for the parts of a message, one after another, if each is a call whose id an earlier one of its list has. */
function repeatedCalls(): (part: unknown, list: PartList) => boolean {
  const seen = new Set<string>();
  return (part, list) => {
    const id = callId(part, list);
    if (id === undefined) return false;
    const isRepeated = seen.has(list + id);
    seen.add(list + id);
    return isRepeated;
  };
}

/** The same in the lists of calls. One call may be told twice over, in a list and in a part. */
function withoutRepeatedCalls<M extends AnyMessage>(message: M): M {
  let copy = message;
  for (const name of CALL_LISTS) {
    const calls = listField(message, name);
    const first = new Map(calls.toReversed().map((call) => [textField(call, "id") ?? call, call]));
    if (first.size < calls.length)
      copy = { ...copy, [name]: calls.filter((call) => first.get(textField(call, "id") ?? call) === call) };
  }
  return copy;
}

const TAKES_TEXT: readonly unknown[] = ["tool", "assistant"];

/** OpenAI refuses an empty list of calls, and one of parts, also beside calls. */
function withoutEmptyFields<M extends AnyMessage>(message: M): M {
  const [role, content] = [roleOf(message), field(message, "content")];
  const isVoid =
    (role === "tool" && (content ?? null) === null) ||
    (TAKES_TEXT.includes(role) && Array.isArray(content) && content.length === 0);
  const filled = isVoid ? { ...message, content: "" } : message;
  const calls = field(message, "tool_calls");
  if (!Array.isArray(calls) || calls.length > 0) return filled;
  const { tool_calls: _, ...rest } = filled as { tool_calls?: unknown };
  return rest as M; // The field is optional.
}

/**
 * Every message with the results that follow it directly. A user message that says something besides its results is
 * the last of a turn, as nobody takes results after the user has spoken.
 */
function turnsOf<M extends AnyMessage>(messages: readonly M[]): M[][] {
  const turns: M[][] = [];
  let open: M[] | undefined;
  for (const message of messages) {
    const carries = carriesResults(message);
    if (carries && open !== undefined) open.push(message);
    else turns.push((open = [message]));
    if (carries && spoken(message) !== undefined) open = undefined;
  }
  return turns;
}

/** True if a message belongs to the turn of the one before it: it holds results of tool calls, or what goes with them. */
export const carriesResults = (message: AnyMessage): boolean =>
  roleOf(message) === "tool" ||
  (roleOf(message) === "user" && listField(message, "content").some(isResultPart));

function sanitizedTurn<M extends AnyMessage>(turn: readonly M[]): M[] {
  const [head, ...results] = turn;
  if (head === undefined || carriesResults(head)) return words(turn);
  const ordered = resultsInOrder(head, results, (message) => spoken(message) !== undefined);
  if (isEmpty(head)) return words(results);
  if (ordered !== undefined) return [head, ...ordered];
  const text = withoutAwaitedCalls(head);
  return [...(isEmpty(text) ? [] : [text]), ...words(results)];
}

const words = <M extends AnyMessage>(results: readonly M[]): M[] =>
  results.flatMap((message) => spoken(message) ?? []);

/** The text of a message besides its tool results. Only a user's message can have some, in parts of its own. */
function spoken<M extends AnyMessage>(message: M): M | undefined {
  if (roleOf(message) === "tool") return undefined;
  const rest = withContent(
    message,
    listField(message, "content").filter((part) => !isResultPart(part)),
  );
  return isEmpty(rest) ? undefined : rest;
}

const SPEAKERS: readonly unknown[] = ["assistant", "model", "user", "system", "developer"];
/** Fields of OpenAI's assistant that say something without content. */
const OTHER_WORDS = ["refusal", "audio", "function_call"];

/** True if no provider takes the message: it has neither words nor calls, or reasoning alone. */
function isEmpty(message: AnyMessage): boolean {
  if (!SPEAKERS.includes(roleOf(message))) return false;
  if (CALL_LISTS.some((name) => listField(message, name).length > 0)) return false;
  if (OTHER_WORDS.some((name) => !isBlank(field(message, name)))) return false;
  const item = field(message, "agentItem");
  // A call whose result is missing has lost its list of calls.
  if (typeof item === "object" && item !== null)
    return textField(item, "callId") !== undefined || ("role" in item && saysNothing(item));
  return saysNothing(message);
}

const saysNothing = (message: object): boolean =>
  PART_LISTS.every((name) => {
    const content = field(message, name) ?? "";
    return !partsSpeak(Array.isArray(content) ? content : [content]);
  });

/** An item of reasoning of OpenAI's Agents SDK, which is a message of its own before what it led to. */
const isReasoningItem = (message: AnyMessage | undefined): boolean =>
  field(field(message, "agentItem"), "type") === "reasoning";
