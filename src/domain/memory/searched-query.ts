import { isWithin, limits } from "../limits.ts";

/** `cut`: the query is longer than what is searched by. */
export type SearchedQuery = { query: string; cut: boolean };

const HALF = limits.searchedQuery / 2;
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

/**
 * What a query is searched by: all of it, or its first and its last part. A pasted document is a query too, and what is
 * asked about it stands before it or after it.
 */
export function searchedQuery(query: string): SearchedQuery {
  if (isWithin(query, limits.searchedQuery)) return { query, cut: false };
  const bytes = encoder.encode(query);
  let [end, start] = [HALF - 1, bytes.length - HALF];
  // No character is cut in two. The byte between the parts is a line break.
  while (isInside(bytes[end])) end--;
  while (isInside(bytes[start])) start++;
  return {
    query: `${decoder.decode(bytes.subarray(0, end))}\n${decoder.decode(bytes.subarray(start))}`,
    cut: true,
  };
}

/** True for a byte of UTF-8 that continues a character. */
const isInside = (byte = 0): boolean => (byte & 0xc0) === 0x80;
