import type { Featured } from "./features.ts";
import { type Match, SAME } from "./matches.ts";
import { type PoolMember, REACH } from "./pool.ts";

/** Characters of a message that may leave out what the one before it says, and of that one. */
const [SHORT, BEFORE] = [200, 400];
/** The share of a match that is left for each step back. */
const FADE = 0.85;

/**
 * A short message goes on from those before it: "A border terrier, nine weeks old" names the breed, and no puppy. Answers the
 * match of each such message together with those of its sitting before it, by its place in the pool. People among themselves have
 * features for this.
 */
export function* goingOn({ pool, matches }: Featured): Generator<[i: number, match: Match]> {
  for (const [i, one] of pool.entries()) {
    const before = leadingTo(one, pool);
    if (before.length === 0) continue;
    const match = { soft: 0, exact: 0 };
    for (const { share, own } of matches.pieces) {
      const cosines = [i, ...before].map((at) => own[at] ?? 0);
      match.soft += share * Math.max(...cosines.map((cosine, steps) => cosine * FADE ** steps));
      match.exact += share * Math.max(...cosines.map((cosine, steps) => (cosine > SAME ? FADE ** steps : 0)));
    }
    yield [i, match];
  }
}

/** The places of the messages that one goes on from, the nearest first: those before it in its sitting, up to a long one. */
export function leadingTo({ before, sitting, kind, text }: PoolMember, pool: Featured["pool"]): number[] {
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
