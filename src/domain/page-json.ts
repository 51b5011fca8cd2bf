import { inUtf8, type JsonPieces } from "./json-pieces.ts";

/** `body` is the message as JSON in UTF-8. */
export type StoredMessage = { seq: number; body: Uint8Array; createdAt: number };

/** A message of a page; `compaction` if it is a summary. `block`: what its prompt had before the user's message. */
export type ReadMessage = StoredMessage & {
  compaction?: { id: string; from: number; to: number };
  block?: string;
};

export type MessagePage = { items: ReadMessage[]; more: boolean };

/** An entry of a page; without its value where only keys were asked for. */
type PagedEntry = { key: string; value?: Uint8Array; expiresAt: number | null };

/**
 * A page as one block of JSON. RPC clones many byte arrays one by one, which takes a third of a request. `json` holds
 * the items, with a separator between them and nothing around them.
 */
export type PageJson<Key> = { json: Uint8Array; first?: Key; last?: Key; more: boolean };

export function messagesJson({ items, more }: MessagePage, separator: string): PageJson<number> {
  const [first, last] = [items.at(0), items.at(-1)];
  const lines = separator === "\n" ? items.map((item) => ({ ...item, body: onOneLine(item.body) })) : items;
  const json = inUtf8(joined(lines.map(messagePieces), separator));
  return { json, more, ...(first && last && { first: first.seq, last: last.seq }) };
}

export function entriesJson({ entries, more }: { entries: PagedEntry[]; more: boolean }): PageJson<string> {
  const [first, last] = [entries.at(0), entries.at(-1)];
  const json = inUtf8(joined(entries.map(entryPieces), ","));
  return { json, more, ...(first && last && { first: first.key, last: last.key }) };
}

/** A line break in a JSON text is white space between its tokens, as in strings they are escaped. */
function onOneLine(json: Uint8Array): Uint8Array {
  return json.includes(LF) || json.includes(CR)
    ? json.map((byte) => (byte === LF || byte === CR ? SPACE : byte))
    : json;
}

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];

/** A message with what is said of it, in the bytes that it was stored in. */
function messagePieces({ seq, body, createdAt, compaction, block }: ReadMessage): JsonPieces {
  const rest = JSON.stringify({ createdAt, compaction, block }).slice(1);
  return [`{"seq":${seq},"message":`, body, `,${rest}`];
}

function entryPieces({ value, expiresAt, ...entry }: PagedEntry): JsonPieces {
  return withValue({ ...entry, ...(expiresAt !== null && { expiresAt }) }, value);
}

/** An object's JSON with the field `value` added to it in the bytes that it was stored in. */
export function withValue(fields: Record<string, unknown>, value: Uint8Array | undefined): JsonPieces {
  const object = JSON.stringify(fields);
  return value === undefined ? [object] : [`${object.slice(0, -1)},"value":`, value, "}"];
}

/** The items with a separator between them. */
export const joined = (items: JsonPieces[], separator: string): JsonPieces =>
  items.flatMap((item, i) => (i === 0 ? item : [separator, ...item]));
