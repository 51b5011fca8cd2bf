import { anyOf, fieldsOf, wordsIn } from "../language/fields.ts";
import type { Triples } from "./draft.ts";
import { normalise } from "./normalise.ts";
import { type PredicateWords, wordsOf } from "./predicate-words.ts";
import type { RulesByPredicate } from "./predicates.ts";

const FACTS = fieldsOf("facts");

/** The pair and the side of a verb, by the words without inflection. */
const SIDES: ReadonlyMap<string, readonly [pair: number, side: number]> = new Map(
  FACTS.flatMap(({ opposites }) => opposites).flatMap((sides, pair) =>
    sides.flatMap((verbs, side) =>
      verbs.split(", ").map((verb) => [wordsOf(verb).base, [pair, side]] as const),
    ),
  ),
);

/** What a triple says of its object. `thing`: the object as it is compared, without an article and a denial. */
type Claim = PredicateWords & { thing: string };

const DENIAL = new RegExp(`^${anyOf(FACTS.map(({ deniesObject }) => deniesObject))} `, "u");
const ARTICLE = new RegExp(`^${anyOf(FACTS.map(({ beforeObject }) => beforeObject))} (?=.)`, "u");

/** The object as it is compared: "the oboe" is "oboe". */
export const thingOf = (object: string): string => normalise(object).replace(DENIAL, "").replace(ARTICLE, "");

const claimOf = (predicate: string, object: string): Claim => {
  const words = wordsOf(predicate);
  return { ...words, denies: words.denies !== DENIAL.test(normalise(object)), thing: thingOf(object) };
};

const BEFORE_TIME = wordsIn(FACTS.map(({ beforeTime }) => beforeTime));

/** The side of a predicate, and its words after the verb: "likes to swim". */
function sideOf({ base }: PredicateWords): { pair: number; side: number; rest: string } | null {
  const words = base.split(" ");
  for (const length of [3, 2, 1]) {
    const sides = SIDES.get(words.slice(0, length).join(" "));
    if (sides === undefined) continue;
    const rest = words.slice(length).join(" ");
    return BEFORE_TIME.has(rest) ? null : { pair: sides[0], side: sides[1], rest };
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
