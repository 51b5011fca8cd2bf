import type { Item } from "./interfaces.ts";

/** What a user said, and what was answered: in Noetic, one message, and all assistant messages until the next one. */
export type Turn = {
  /** The same for a turn that has grown by another answer: an `externalId` for what is remembered of it. */
  id: string;
  /** Empty if the execution began without a message of a user. */
  user: string;
  assistant: string;
  threadId: string;
};

/** A turn as the log has it, with its place there. */
export type LoggedTurn = { at: number; user: string; assistant: string };

/** The turns of a log, in their order; tools, reasoning and what the framework says are left out. */
export function turnsIn(items: readonly Item[]): LoggedTurn[] {
  const turns: LoggedTurn[] = [];
  for (const [at, item] of items.entries()) {
    const said = messageIn(item);
    if (said === null) continue;
    const last = turns.at(-1);
    if (said.role === "user" && (last === undefined || last.assistant !== ""))
      turns.push({ at, user: said.text, assistant: "" });
    else if (last === undefined) turns.push({ at, user: "", assistant: said.text });
    else if (said.role === "user") last.user = joined(last.user, said.text);
    else last.assistant = joined(last.assistant, said.text);
  }
  return turns;
}

/** The user's words in the last turn of a log; empty if there are none. */
export const lastSaid = (items: readonly Item[]): string => turnsIn(items).at(-1)?.user ?? "";

/** The log with what was just answered, which a harness may, or may not yet, have put into it. */
export const withNew = (log: readonly Item[], newItems: readonly Item[]): readonly Item[] => [
  ...log,
  ...newItems.filter((item) => !log.some((logged) => logged === item || isSame(logged, item))),
];

export const saysAnything = (items: readonly Item[]): boolean =>
  items.some((item) => messageIn(item)?.role === "assistant");

const isSame = (a: Item, b: Item): boolean => "id" in a && "id" in b && a.id !== undefined && a.id === b.id;

const joined = (before: string, after: string): string => (before === "" ? after : `${before}\n${after}`);

/** A message of the user or the assistant with a text. */
function messageIn(item: Item): { role: "user" | "assistant"; text: string } | null {
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
