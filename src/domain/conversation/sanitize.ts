import { type AnyMessage, field, listField } from "./message.ts";
import { resultsInOrder, withContent } from "./results-in-order.ts";
import { isResultPart, roleOf, withoutAwaitedCalls } from "./tool-calls.ts";

/**
 * A conversation that every model takes: each tool call with its result, each result with its call.
 *
 * - A complete tool turn keeps its results in the order of its calls; the first result of a call wins.
 * - A turn with a call that has no result loses its calls and results and keeps its text; a message that is then
 *   empty goes. So does a call that waits for an approval: sanitise what goes to a model, not what is still to be
 *   approved.
 * - A result without a call in the turn that it follows goes.
 *
 * Reads the shapes of Cairn, OpenAI, Anthropic and the AI SDK; everything else, UIMessages included, comes back as it
 * is. Never changes its input; a message that needs no change is the same object in the answer. Sanitising twice
 * changes nothing more.
 *
 * @example
 * const { items } = await memory.threads.read(id);
 * const prompt = sanitizeConversation(items.map(({ message }) => message));
 */
export function sanitizeConversation<M extends AnyMessage>(messages: readonly M[]): M[] {
  return turnsOf(messages).flatMap(sanitizedTurn);
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

/** Reasoning alone counts as empty: providers refuse it without what it led to. */
const WORDLESS: readonly unknown[] = ["reasoning", "thinking", "redacted_thinking"];

function isEmpty(message: AnyMessage): boolean {
  const content = field(message, "content") ?? field(message, "parts") ?? "";
  if (!Array.isArray(content)) return content === "";
  return content.every((part: unknown) => {
    const type = field(part, "type");
    return part === "" || WORDLESS.includes(type) || (type === "text" && field(part, "text") === "");
  });
}
