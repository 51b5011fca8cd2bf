/** Words that say how a question is put, not what it is about. English, as the embedded model is. */
const STOP_WORDS = new Set(
  `a about after again all also am an and any are as at be because been before being but by can could did do does
  doing for from get go had has have having he her here hers him his how i if in into is it its just like me more
  most my no nor not of off on once only or other our out over own s same she should so some such t tell than that
  the their them then there these they this those through to too under until up us very was we were what when where
  which while who whom whose why will with would you your`.split(/\s+/),
);

/** FTS5 parses a query into a tree; more words than this make it slow and say no more. */
const MOST = 64;

/**
 * The FTS5 query for a user's words: each quoted, joined by OR, stop words left out unless there is nothing
 * else; null if the text has no word at all (`???`).
 */
export function wordQuery(query: string): string | null {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu))];
  if (words.length === 0) return null;
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words)
    .slice(0, MOST)
    .map((word) => `"${word}"`)
    .join(" OR ");
}
