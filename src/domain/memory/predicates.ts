import { fieldsOf, wordsIn } from "../language/fields.ts";
import type { FactWords } from "../language/memory-words.ts";
import type { RememberBody } from "../schema/memory.ts";
import type { PredicateRule, PredicateRuleBody } from "../schema/predicate.ts";
import { normalise } from "./normalise.ts";
import { wordsOf } from "./predicate-words.ts";

export type { PredicateRule };
export type ConflictPolicy = PredicateRule["policy"];
/** Rules by normalised predicate. */
export type RulesByPredicate = ReadonlyMap<string, PredicateRule>;

const FACTS = fieldsOf("facts");
const listOf = (kind: Exclude<keyof FactWords, "opposites">): ReadonlySet<string> =>
  wordsIn(FACTS.map((words) => words[kind]));
const [NOUNS, BESIDE, FOREMOST] = [listOf("oneNouns"), listOf("besideNouns"), listOf("foremost")];
const VERBS: ReadonlySet<string> = new Set(
  FACTS.flatMap(({ oneVerbs }) => oneVerbs.split(",")).map((predicate) => wordsOf(predicate).base),
);
const [PRESENT, PAST, LASTING] = [listOf("present"), listOf("past"), listOf("lasting")];
const [AFTER, LINKS, PLURALS] = [listOf("after"), listOf("links"), listOf("plurals")];
const isPlural = (word: string): boolean => /..[^sui]s$/u.test(word) || PLURALS.has(word);

/** True if a subject has one object of this predicate at a time. A predicate that the tables do not know has many. */
function isOne(predicate: string): boolean {
  const { words, denies } = wordsOf(predicate);
  if (denies) return false;
  if (words.some((word) => PAST.has(word)) && !words.some((word) => LASTING.has(word))) return false;
  const from = words.findIndex((word) => !PRESENT.has(word) && !PAST.has(word));
  const rest = words.slice(Math.max(from, 0));
  if (VERBS.has(wordsOf(rest.join(" ")).base)) return true;
  const named = rest.slice(0, rest.findLastIndex((word) => !AFTER.has(word)) + 1);
  const [first = "", second = "of"] = named;
  if (LINKS.has(named.at(-1) ?? "")) return false;
  if (FOREMOST.has(first) && !LINKS.has(second)) return !named.some(isPlural);
  const of = named.indexOf("of");
  const [noun, ...before] = (of === -1 ? named : named.slice(0, of)).toReversed();
  if (noun === undefined) return false;
  const beside = [...before, ...(of === -1 ? [] : named.slice(of + 1))];
  return NOUNS.has(noun) && beside.every((word) => BESIDE.has(word) || NOUNS.has(word) || FOREMOST.has(word));
}

/** The rule of a predicate for which the tenant has none. */
export const defaultRule = (predicate: string): PredicateRule => ({
  cardinality: isOne(predicate) ? "one" : "many",
  policy: "highestTrust",
});

/** The rule that a tenant sets. A policy changes no cardinality: facts of many contradict their opposites. */
export const ruleOf = (
  predicate: string,
  { policy, opposites, ...set }: PredicateRuleBody,
): PredicateRule => ({
  ...defaultRule(predicate),
  ...(policy !== undefined && { policy }),
  ...(opposites !== undefined && { opposites: [...new Set(opposites.map(normalise))] }),
  ...set,
});

/** The body of a fact under a rule: a fact of many has the field `cardinality`, and any other has none. */
export function ruled(body: RememberBody, rule: PredicateRule): RememberBody {
  const { cardinality = rule.cardinality, ...fields } = body;
  const isTriple = body.subject !== undefined && body.predicate !== undefined;
  const keepsAll = rule.policy === "keepAll" || cardinality === "many";
  return isTriple && keepsAll ? { ...fields, cardinality: "many" } : fields;
}
