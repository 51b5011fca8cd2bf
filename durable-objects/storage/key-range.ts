import { part, type SqlPart } from "./sql.ts";

/**
 * The keys under a prefix (`after`: behind one of them), as a range that SQLite seeks to at both ends. It seeks to one lower bound
 * only, so there is no other. Where no key is behind a prefix, the end is a blob, which sorts behind all text.
 */
export function keysUnder(prefix: string, after?: string): SqlPart {
  const begin = after === undefined ? part`key >= ${prefix}` : part`key > ${after}`;
  return part`${begin} AND key < COALESCE(${endOf(prefix)}, x'')`;
}

/** The least string behind all that begin with a prefix: its last character that has a next one, raised. Null if there is none. */
export function endOf(prefix: string): string | null {
  const characters = Array.from(prefix);
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === LAST_CODE_POINT) continue;
    // Surrogates are no characters, and UTF-8 has no bytes for them.
    const next = code + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : code + 1;
    return characters.join("") + String.fromCodePoint(next);
  }
  return null;
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;
