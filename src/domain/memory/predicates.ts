import type { RememberBody } from "../schema/memory.ts";
import type { PredicateRule } from "../schema/predicate.ts";
import { normalise } from "./normalise.ts";

export type { PredicateRule };
export type ConflictPolicy = PredicateRule["policy"];
/** Rules by normalised predicate. */
export type Rules = ReadonlyMap<string, PredicateRule>;

/** Common predicates of which several facts are true at a time. All others have one. */
const MANY: readonly string[] = [
  "allergic to",
  "attended",
  "avoids",
  "collects",
  "dislikes",
  "drinks",
  "eats",
  "enjoys",
  "fears",
  "follows",
  "friend of",
  "friends with",
  "goes to",
  "has",
  "has allergy",
  "has aunt",
  "has brother",
  "has cat",
  "has child",
  "has cousin",
  "has daughter",
  "has dog",
  "has friend",
  "has hobby",
  "has nephew",
  "has niece",
  "has pet",
  "has sibling",
  "has sister",
  "has skill",
  "has son",
  "has uncle",
  "hates",
  "hobby",
  "interested in",
  "knows",
  "likes",
  "listens to",
  "loves",
  "member of",
  "needs",
  "owns",
  "plays",
  "plans to",
  "practices",
  "reads",
  "speaks",
  "studied",
  "studies",
  "takes",
  "travelled to",
  "uses",
  "visited",
  "wants",
  "wants to",
  "watches",
  "works on",
  "works with",
];
const many: ReadonlySet<string> = new Set(MANY);

/** The predicate as the table has it: without a form of "be" or "have been" at its beginning. */
const bare = (predicate: string): string =>
  normalise(predicate)
    .replaceAll("_", " ")
    .replace(/^(?:is|are|am|was|has been|have been|have) /, "");

/** The rule of a predicate for which the tenant has none. */
export function defaultRule(predicate: string): PredicateRule {
  const name = normalise(predicate).replaceAll("_", " ");
  const isMany = many.has(name) || many.has(bare(predicate));
  return { cardinality: isMany ? "many" : "one", policy: "highestTrust" };
}

/** The body of a fact under a rule: a fact of many has the field `cardinality`, and any other has none. */
export function ruled(body: RememberBody, rule: PredicateRule): RememberBody {
  const { cardinality = rule.cardinality, ...fields } = body;
  const isTriple = body.subject !== undefined && body.predicate !== undefined;
  const keepsAll = rule.policy === "keepAll" || cardinality === "many";
  return isTriple && keepsAll ? { ...fields, cardinality: "many" } : fields;
}
