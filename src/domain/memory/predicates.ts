import type { RememberBody } from "../schema/memory.ts";
import type { PredicateRule, PredicateRuleBody } from "../schema/predicate.ts";
import { normalise } from "./normalise.ts";
import { wordsOf } from "./predicate-words.ts";

export type { PredicateRule };
export type ConflictPolicy = PredicateRule["policy"];
/** Rules by normalised predicate. */
export type RulesByPredicate = ReadonlyMap<string, PredicateRule>;

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/u));

/** Nouns of which a subject has one at a time. A plural is another word: "favourite colours" are several. */
const NOUNS = list(`
  name surname nickname username age birthday birthdate birthplace hometown gender sex pronouns religion
  email phone telephone mobile cellphone number address postcode city town country residence location timezone
  employer company workplace job occupation profession title position rank department salary income
  manager boss supervisor ceo cto cfo president chair captain mayor dispatcher advisor adviser gp landlord
  husband wife spouse fiance fiancee girlfriend boyfriend mother father mum mom dad
  height weight size colour color type status zone date place year code password pin
  version broker deadline budget price rent currency`);

/** Words before such a noun, or after its "of", that leave it one: "home city", "date of birth". Not "pet name". */
const BESIDE = list(`
  home current present new permanent main primary private personal work business office company job employment
  mobile cell phone telephone email postal mailing billing shipping delivery street zip post area
  first last middle full maiden legal real given family user login display preferred
  birth marital relationship visa citizenship blood skin hair eye shoe ring shirt dress clothing body time line
  annual monthly hourly net gross base passport insurance tax social security national employee student
  due start end wedding wifi door alarm message`);

/** Words that make the singular after them one: "favourite film". */
const FOREMOST = list("favourite favorite preferred primary main default");

/** Predicates with one object at a time, without a form of "be", by the inflection of their words. */
const VERBS: ReadonlySet<string> = new Set(
  `lives in, lives at, resides in, resides at, based in, based at, located in, located at
   works at, works for, works as, employed by, employed at, employed as, reports to, studies at
   married, married to, engaged to, named, called, goes by
   born, born in, born on, born at, aged, years old, comes from, from, originally from, grew up in, weighs`
    .split(/,|\n/u)
    .map((predicate) => wordsOf(predicate).base),
);

const PRESENT = list("has have is are am");
/** Words of what is over, unless it is a birth or a name: "was married to", "was born in". */
const PAST = list("had was were been");
const LASTING = list("born called named");
const AFTER = list("is are on in at");
/** A last word that makes the noun before it the subject's own part: "is mother of". After a first word, no noun follows. */
const LINKS = list("of for to by with from among over as than in at on");
const PLURALS = list("people children women men feet teeth mice geese");
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
