import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

// Limits of Cairn's fields (src/domain/schema/memory.ts), and the nearest valid value.

/** Bytes of UTF-8. */
const NAME = 1024;
const TEXT = 32 * 1024;
const QUERY = 256 * 1024;
/** The latest time of a Date, in milliseconds since the epoch. */
const LAST_TIME = 8.64e15;

const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** Clamps a number to its range; undefined if it is not finite. */
export const within = (value: number | undefined, min: number, max: number): number | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : Math.min(max, Math.max(min, value));

/** A time in whole milliseconds, rounded down. */
export const moment = (time: number): number | undefined => within(Math.floor(time), -LAST_TIME, LAST_TIME);

/** Removes lone surrogates and U+0000, which no field accepts. */
const plain = (text: string): string => text.toWellFormed().replaceAll("\0", "");

/** Cuts a text to a memory's field; undefined if nothing remains. */
export const textWithin = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : truncateUtf8(plain(text), TEXT) || undefined;

/** Cuts a query to recall's limit; it may be empty. */
export const askable = (query: string): string => truncateUtf8(query.trim(), QUERY);

/** True if a field or filter can hold the name unchanged. */
export const isName = (name: string): boolean =>
  name !== "" && name === plain(name) && byteLength(name) <= NAME;

/** A name as stored: an unsuitable one becomes its hash, by which a filter can find it. */
export async function nameOf(name: string | undefined): Promise<string | undefined> {
  if (name === undefined || name === "") return undefined;
  return isName(name) ? name : `sha256:${await sha256Hex(JSON.stringify(name))}`;
}
