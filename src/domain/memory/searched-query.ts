import { withoutCourtesy } from "../ranking/courtesy.ts";
import { isWithin, limits } from "../limits.ts";

/** `cut`: only a part of the query is searched. */
type SearchedQuery = { query: string; cut: boolean };

const HALF = limits.searchedQuery / 2;
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

/**
 * The searched part of a query, without chatter: of all, or of its first and last part. A question about a pasted document is
 * at either end.
 */
export function searchedQuery(text: string): SearchedQuery {
  const { query, cut } = withinLimit(text);
  return { query: withoutCourtesy(query), cut };
}

function withinLimit(query: string): SearchedQuery {
  if (isWithin(query, limits.searchedQuery)) return { query, cut: false };
  const bytes = encoder.encode(query);
  let [end, start] = [HALF - 1, bytes.length - HALF];
  // Cuts between characters. A line break joins the parts.
  while (isInside(bytes[end])) end--;
  while (isInside(bytes[start])) start++;
  return {
    query: `${decoder.decode(bytes.subarray(0, end))}\n${decoder.decode(bytes.subarray(start))}`,
    cut: true,
  };
}

/** True for a byte of UTF-8 that continues a character. */
const isInside = (byte = 0): boolean => (byte & 0xc0) === 0x80;
