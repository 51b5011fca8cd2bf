import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

// What Cairn's fields take (src/domain/schema/memory.ts), and the nearest to a value that they do.

/** Bytes of UTF-8. */
export const NAME = 1024;
const TEXT = 32 * 1024;
const QUERY = 256 * 1024;
/** The times that a Date can hold. */
const LAST_TIME = 8.64e15;

const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** A number in its range; what is no number is left out. */
export const within = (value: number | undefined, min: number, max: number): number | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : Math.min(max, Math.max(min, value));

/** A time in whole milliseconds, rounded down. */
export const moment = (time: number): number | undefined => within(Math.floor(time), -LAST_TIME, LAST_TIME);

/** A text without what no field takes: lone surrogates and U+0000. */
const plain = (text: string): string => text.toWellFormed().replaceAll("\0", "");

/** As much of a text as a memory's field holds; left out if that is nothing. */
export const textWithin = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : truncateUtf8(plain(text), TEXT) || undefined;

/** A query as recall takes it; empty if it has nothing to search by. */
export const askable = (query: string): string => truncateUtf8(query.trim(), QUERY);

/** Whether a name can stand in a field, or in a filter, as it is. */
export const isName = (name: string): boolean =>
  name !== "" && name === plain(name) && byteLength(name) <= NAME;

/** A name as it stands in a field: one that cannot, by its hash, so that a filter by the same name finds it. */
export async function nameOf(name: string | undefined): Promise<string | undefined> {
  if (name === undefined || name === "") return undefined;
  return isName(name) ? name : `sha256:${await sha256Hex(JSON.stringify(name))}`;
}
