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
  /** Its position among items created by the same call. */
  place: number;
  /** The paths of its searchable texts. */
  fields: string[];
  /** The expiry of the item's texts in milliseconds since the epoch, if reads extend the item's lifetime. */
  findableUntil?: number;
};

/** The longest key in plain characters; a longer one is hashed, as an entry's key has 1,024 bytes. */
const KEY = 160;

/** The key prefix of all items in a namespace and below. */
export const itemsUnder = (prefix: string, namespace: readonly string[]): string =>
  `${prefix}i/${namespace.map((label) => `${escaped(label)}/`).join("")}`;

/** The key of an item's entry. An empty part ends the namespace, since no label is empty. */
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

/** Orders items by creation. */
export const byCreation = (a: ItemRecord, b: ItemRecord): number =>
  a.createdAt - b.createdAt || a.place - b.place || Number(a.key > b.key) - Number(a.key < b.key);

/** Code points of one searchable text: a memory's text has 32 KiB, and a code point at most four bytes. */
const TEXT = 8_000;

/** The searchable texts of an item; long texts are split to fit into memories. */
export const textsOf = ({ value, fields }: Pick<ItemRecord, "value" | "fields">): string[] =>
  fields
    .flatMap((path) => textsAt(value, path))
    .flatMap((text) => text.toWellFormed().replaceAll("\0", " ").match(PARTS) ?? [])
    .filter((text) => text.trim() !== "");

/** Splits by code points, never within a character. */
const PARTS = new RegExp(`.{1,${TEXT}}`, "gsu");

const escaped = (part: string): string => part.replace(/[%/#]/g, (sign) => encodeURIComponent(sign));
