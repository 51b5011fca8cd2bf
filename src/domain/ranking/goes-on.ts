import { type PieceMatch, SAME } from "./features.ts";
import { type PooledCandidate, REACH } from "./pool.ts";

/** Characters of a message that may leave out what the one before it says, and of that one. */
const [SHORT, BEFORE] = [200, 400];
/** The share of a match that is left for each step back. */
const FADE = 0.85;

/**
 * A short message goes on from those before it: "A border terrier, nine weeks old" names the breed, and no puppy. Answers the soft
 * and the exact match of each such message together with those of its sitting before it, by its place in the pool. People among
 * themselves have features for this.
 */
export function* goingOn(
  pool: readonly PooledCandidate[],
  pieces: readonly PieceMatch[],
): Generator<[i: number, match: { soft: number; exact: number }]> {
  for (const [i, one] of pool.entries()) {
    const before = leadingTo(one, pool);
    if (before.length === 0) continue;
    let [soft, exact] = [0, 0];
    for (const { share, own } of pieces) {
      const matches = [i, ...before].map((at, steps) => ({ match: own[at] ?? 0, left: FADE ** steps }));
      soft += share * Math.max(...matches.map(({ match, left }) => match * left));
      exact += share * Math.max(...matches.map(({ match, left }) => (match > SAME ? left : 0)));
    }
    yield [i, { soft, exact }];
  }
}

/** The places of the messages that one goes on from, the nearest first: those before it in its sitting, up to a long one. */
export function leadingTo(
  { before, sitting, kind, text }: PooledCandidate,
  pool: readonly PooledCandidate[],
): number[] {
  const places: number[] = [];
  // A question that goes on has no answer.
  if (kind !== "assistant" || text.length > SHORT || text.includes("?")) return places;
  for (let at = before; at !== undefined && places.length < REACH; at = pool[at]?.before) {
    const one = pool[at];
    if (one === undefined || one.sitting !== sitting || one.text.length > BEFORE) break;
    places.push(at);
  }
  return places;
}
