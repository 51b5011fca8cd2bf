import type { Triples } from "./draft.ts";
import { normalise } from "./normalise.ts";
import { type PredicateWords, wordsOf } from "./predicate-words.ts";
import type { RulesByPredicate } from "./predicates.ts";

/** Verbs of two sides. A subject's objects of one side are none of the other's: who dislikes olives no longer likes them. */
const PAIRS: readonly (readonly [string, string])[] = [
  ["likes, loves, enjoys, adores, fond of, is fond of", "dislikes, hates, loathes, detests"],
  ["eats, drinks, uses, wears", "avoids"],
  ["trusts", "distrusts, mistrusts"],
  ["supports", "opposes"],
  ["agrees with", "disagrees with"],
  ["follows", "unfollows"],
  ["subscribes to", "unsubscribes from"],
  [
    "starts, started, begins, began, has started, takes up, took up",
    "stops, stopped, quits, has stopped, gives up, gave up",
  ],
  ["joins, joined, has joined", "leaves, left, has left"],
];

/** The pair and the side of a verb, by the words without inflection. */
const SIDES: ReadonlyMap<string, readonly [pair: number, side: number]> = new Map(
  PAIRS.flatMap((sides, pair) =>
    sides.flatMap((verbs, side) =>
      verbs.split(", ").map((verb) => [wordsOf(verb).base, [pair, side]] as const),
    ),
  ),
);

/** What a triple says of its object. `thing`: the object as it is compared, without an article and a denial. */
type Claim = PredicateWords & { thing: string };

const DENIED = /^(?:not|no longer|never) /u;
/** A possessive tells two things apart: "her manager" is not "his manager". */
const ARTICLE = /^(?:the|an?) (?=.)/u;

/** The object as it is compared: "the oboe" is "oboe". */
export const thingOf = (object: string): string => normalise(object).replace(DENIED, "").replace(ARTICLE, "");

const claimOf = (predicate: string, object: string): Claim => {
  const words = wordsOf(predicate);
  return { ...words, denies: words.denies !== DENIED.test(normalise(object)), thing: thingOf(object) };
};

/** The object is then a time or a place of two events, which both are true: "starts on" and "stops on" Monday. */
const DATED = /^(?:on|at|in|to|from|by|for|with|after|before|until|since|around|near)$/u;

/** The side of a predicate, and its words after the verb: "likes to swim". */
function sideOf({ base }: PredicateWords): { pair: number; side: number; rest: string } | null {
  const words = base.split(" ");
  for (const length of [3, 2, 1]) {
    const sides = SIDES.get(words.slice(0, length).join(" "));
    if (sides === undefined) continue;
    const rest = words.slice(length).join(" ");
    return DATED.test(rest) ? null : { pair: sides[0], side: sides[1], rest };
  }
  return null;
}

/** True if one denies what the other says, or both say the two sides of a pair. */
function areOpposite(a: PredicateWords, b: PredicateWords): boolean {
  if (a.base === b.base) return a.denies !== b.denies;
  if (a.denies || b.denies) return false;
  const [one, other] = [sideOf(a), sideOf(b)];
  return (
    one !== null &&
    other !== null &&
    one.pair === other.pair &&
    one.side !== other.side &&
    one.rest === other.rest
  );
}

/**
 * The test of triples that say the opposite of a triple, of the same object: the later one ends the earlier one. `named`: the
 * normalised predicates that the tenant calls opposites of this one.
 */
export function oppositesOf(
  { predicate, object }: { predicate: string; object: string },
  named: readonly string[],
): Triples {
  const claim = claimOf(predicate, object);
  const isNamed = (other: string): boolean => named.includes(normalise(other));
  return {
    thing: claim.thing,
    has: (other, otherObject) => {
      const counter = claimOf(other, otherObject);
      return counter.thing === claim.thing && (isNamed(other) || areOpposite(claim, counter));
    },
  };
}

/** The opposites that a tenant's rules name, of each predicate: a pair is named by the rule of either. */
export function namedOpposites(rules: RulesByPredicate): (predicate: string) => readonly string[] {
  const pairs = [...rules].flatMap(([predicate, { opposites = [] }]) =>
    // A fact would end itself.
    opposites.filter((other) => other !== predicate).map((other) => [predicate, other] as const),
  );
  const named = Map.groupBy(
    [...pairs, ...pairs.map(([one, other]) => [other, one] as const)],
    ([one]) => one,
  );
  return (predicate) => named.get(normalise(predicate))?.map(([, other]) => other) ?? [];
}
