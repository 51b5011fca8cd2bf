import { type AnyMessage, field, listField, textField } from "./message.ts";
import { isCallPart, isProviderCall, type PartList } from "./message-parts.ts";
import { invocationIn } from "./tool-call-formats.ts";
import { isResultPart, isUiToolPart, roleOf } from "./tool-calls.ts";

/** The places of parts, as `<message>.<list>.<part>`. */
type Places = Set<string>;
type At = { list: PartList; i: number };
const place = (n: number, { list, i }: At): string => `${n}.${list}.${i}`;

/**
 * Tells the parts with calls or results whose other half is missing, where both stand in lists of parts: calls that the
 * provider carries out, Gemini's, and tool parts of UI messages that are still pending.
 */
export function unpairedParts(
  messages: readonly AnyMessage[],
): (n: number, part: unknown, at: At) => boolean {
  const unpaired: Places = new Set();
  findProviderCalls(messages, unpaired);
  for (const [n, message] of messages.entries()) findGeminiCalls(message, { messages, n, unpaired });
  return (n, part, at) =>
    unpaired.has(place(n, at)) ||
    (at.list === "parts" && isUiToolPart(part) && invocationIn(part)?.outcome === undefined);
}

/**
 * A result stands behind its call in the same message, or in a later one of the assistant before the user speaks again: a
 * provider may wait for the result of another tool.
 */
function findProviderCalls(messages: readonly AnyMessage[], unpaired: Places): void {
  let open = new Map<string, string[]>();
  const give = () => {
    for (const places of open.values()) for (const one of places) unpaired.add(one);
    open = new Map();
  };
  for (const [n, message] of messages.entries()) {
    const content = listField(message, "content");
    if (roleOf(message) === "user" && !(content.length > 0 && content.every(isResultPart))) give();
    if (roleOf(message) !== "assistant") continue;
    const awaited = new Set(content.filter((part) => isCallPart(part) && !isProviderCall(part)).map(idOf));
    /** The provider's calls of this message, with the parts that go with them. */
    const own = new Map<string | undefined, string[]>();
    const isPaired = (part: unknown, here: string): boolean => {
      const id = idOf(part);
      if (isProviderCall(part)) {
        if (id === undefined || open.has(id) || own.has(id)) return false;
        const places = [here];
        own.set(id, places);
        open.set(id, places);
        return true;
      }
      // The approval of a call goes where the call goes.
      if (textField(part, "type") === "tool-approval-request")
        return own.get(id)?.push(here) !== undefined || awaited.has(id);
      // Elsewhere a result is the user's, or a tool's.
      const isResult = isResultPart(part) || isProviderResult(part);
      return !isResult || (id !== undefined && open.delete(id));
    };
    for (const [i, part] of content.entries()) {
      const here = place(n, { list: "content", i });
      if (!isPaired(part, here)) unpaired.add(here);
    }
  }
  give();
}

const isProviderResult = (part: unknown): boolean => (textField(part, "type") ?? "").endsWith("_tool_result");

const idOf = (part: unknown): string | undefined =>
  textField(part, "toolCallId") ?? textField(part, "tool_use_id") ?? textField(part, "id");

type Named = { id: string | undefined; name: string | undefined; i: number };

/** Gemini takes as many results as calls, in the message right behind them. */
function findGeminiCalls(
  message: AnyMessage,
  { messages, n, unpaired }: { messages: readonly AnyMessage[]; n: number; unpaired: Places },
): void {
  const calls = roleOf(message) === "model" ? namedIn(message, "functionCall") : [];
  const next = messages[n + 1];
  const results = next === undefined || roleOf(next) === "model" ? [] : namedIn(next, "functionResponse");
  const taken = takenBy(calls, results);
  const isComplete = taken.size === calls.length;
  if (!isComplete) for (const { i } of calls) unpaired.add(place(n, { list: "parts", i }));
  for (const { i } of results)
    if (!isComplete || !taken.has(i)) unpaired.add(place(n + 1, { list: "parts", i }));
  // Nothing precedes the first message, and no call stands with a user.
  const loose = [
    ...(n === 0 || roleOf(message) === "model" ? namedIn(message, "functionResponse") : []),
    ...(roleOf(message) === "model" ? [] : namedIn(message, "functionCall")),
  ];
  for (const { i } of loose) unpaired.add(place(n, { list: "parts", i }));
}

/**
 * The places of the results that calls take, each the first one of its name. A result without an id fits any call of the name, and
 * a call without an id any result.
 */
function takenBy(calls: readonly Named[], results: readonly Named[]): Set<number> {
  const taken = new Set<number>();
  // A message may have a hundred thousand parts, so no call looks through the results.
  const places = new Map<string, number[]>();
  // The last first, so that the first is at the end.
  for (const { id, name, i } of results.toReversed())
    if (name !== undefined)
      for (const key of [keyOf(name), keyOf(name, id ?? "")]) {
        const known = places.get(key);
        if (known === undefined) places.set(key, [i]);
        else known.push(i);
      }
  const first = (key: string): number => {
    const known = places.get(key) ?? [];
    while (taken.has(known.at(-1) ?? -1)) known.pop();
    return known.at(-1) ?? Infinity;
  };
  for (const { id, name } of calls) {
    if (name === undefined) continue;
    const i = id ? Math.min(first(keyOf(name, id)), first(keyOf(name, ""))) : first(keyOf(name));
    if (i !== Infinity) taken.add(i);
  }
  return taken;
}

const keyOf = (name: string, id?: string): string => JSON.stringify([name, id]);

const namedIn = (message: AnyMessage, kind: "functionCall" | "functionResponse"): Named[] =>
  listField(message, "parts").flatMap((part, i) => {
    const named = field(part, kind);
    return typeof named === "object" && named !== null
      ? [{ id: textField(named, "id"), name: textField(named, "name"), i }]
      : [];
  });
