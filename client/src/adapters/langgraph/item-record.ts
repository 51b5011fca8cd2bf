import type { Item } from "@langchain/langgraph-checkpoint";
import { textsAt } from "./texts-at-path.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** An item as its entry holds it. */
export type ItemRecord = {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  /** Its place among those that were created by the same call. */
  place: number;
  /** The paths whose texts it is found by. */
  fields: string[];
  /** Of an item whose time to live begins anew when it is read: until when it is found by meaning, in milliseconds. */
  findableUntil?: number;
};

/** Characters of a key that stand for themselves; more become a hash: a key of an entry holds 1,024 bytes. */
const KEY = 160;

/** What the keys of all items of a namespace, and of those below it, begin with. */
export const itemsUnder = (prefix: string, namespace: readonly string[]): string =>
  `${prefix}i/${namespace.map((label) => `${escaped(label)}/`).join("")}`;

/** The key of an item's entry: an empty part, which no label is, ends the namespace. */
export async function entryKeyOf(prefix: string, namespace: readonly string[], key: string): Promise<string> {
  const short = escaped(key);
  return `${itemsUnder(prefix, namespace)}/${short.length <= KEY ? short : `#${await sha256Hex(key)}`}`;
}

/** The namespace of an item, from the key of its entry. */
export function namespaceIn(prefix: string, entryKey: string): string[] {
  const path = entryKey.slice(itemsUnder(prefix, []).length);
  const labels = path.slice(0, path.indexOf("//"));
  return labels.split("/").map((label) => label.replace(/%(2F|23|25)/g, (code) => decodeURIComponent(code)));
}

export const itemOf = ({ namespace, key, value, createdAt, updatedAt }: ItemRecord): Item => ({
  namespace,
  key,
  value,
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
});

/** In the order in which they were created. */
export const byCreation = (a: ItemRecord, b: ItemRecord): number =>
  a.createdAt - b.createdAt || a.place - b.place || Number(a.key > b.key) - Number(a.key < b.key);

/** Code points of a text that is found as one: a memory's text holds 32 KiB, and none takes more than four bytes. */
const TEXT = 8_000;

/** What an item is found by, as memories can hold it: long texts in parts. */
export const textsOf = ({ value, fields }: Pick<ItemRecord, "value" | "fields">): string[] =>
  fields
    .flatMap((path) => textsAt(value, path))
    .flatMap((text) => text.toWellFormed().replaceAll("\0", " ").match(PARTS) ?? [])
    .filter((text) => text.trim() !== "");

/** By code points, so that no part ends in the middle of a character. */
const PARTS = new RegExp(`.{1,${TEXT}}`, "gsu");

const escaped = (part: string): string => part.replace(/[%/#]/g, (sign) => encodeURIComponent(sign));
