import type { RememberBody } from "../../../client/src/shapes.ts";
import { overlap } from "../threads/overlap.ts";
import type { Item } from "./interfaces.ts";

/** A turn: one user message and all assistant messages until the next one. */
export type Turn = {
  /** Stays the same when the turn grows by another answer: an `externalId` for its memory. */
  id: string;
  /** Empty if the execution began without a user message. */
  user: string;
  assistant: string;
  threadId: string;
  /** The thread, and the hash of the user's message: the `source` of the turn's memory unless that has one. */
  source: NonNullable<RememberBody["source"]>;
};

/** A turn and its place in the log; `asked` is the last message of its user. */
export type LoggedTurn = { at: number; asked: string; user: string; assistant: string };

/** The turns of a log, in order, without tools, reasoning and the framework's messages. */
export function turnsIn(items: readonly Item[]): LoggedTurn[] {
  const turns: LoggedTurn[] = [];
  for (const [at, item] of items.entries()) {
    const said = messageIn(item);
    if (said === null) continue;
    const last = turns.at(-1);
    if (said.role === "user" && (last === undefined || last.assistant !== ""))
      turns.push({ at, asked: said.text, user: said.text, assistant: "" });
    else if (last === undefined) turns.push({ at, asked: "", user: "", assistant: said.text });
    else if (said.role === "user") {
      last.asked = said.text;
      last.user = joined(last.user, said.text);
    } else last.assistant = joined(last.assistant, said.text);
  }
  return turns;
}

/** The log with the new items, which a harness may have added already. */
export function withNew(log: readonly Item[], newItems: readonly Item[]): readonly Item[] {
  const fresh = newItems.filter((item) => !log.some((logged) => logged === item || isSame(logged, item)));
  // It may have copied them, without ids.
  const known = fresh.length < newItems.length ? 0 : overlap(log.map(jsonOf), fresh.map(jsonOf));
  return [...log, ...fresh.slice(known)];
}

export const saysAnything = (items: readonly Item[]): boolean =>
  items.some((item) => messageIn(item)?.role === "assistant");

const isSame = (a: Item, b: Item): boolean => "id" in a && "id" in b && a.id !== undefined && a.id === b.id;

const jsonOf = (item: Item): string => JSON.stringify(item);

const joined = (before: string, after: string): string => (before === "" ? after : `${before}\n${after}`);

/** A user or assistant message with text; else null. */
export function messageIn(item: Item): { role: "user" | "assistant"; text: string } | null {
  if (item.type !== "message" || !("role" in item) || !("content" in item)) return null;
  const { role, content } = item;
  if (role !== "user" && role !== "assistant") return null;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const text = parts.map(textIn).join("").trim();
  return text === "" ? null : { role, text };
}

function textIn(part: unknown): string {
  if (typeof part !== "object" || part === null || !("text" in part)) return "";
  return typeof part.text === "string" ? part.text : "";
}
