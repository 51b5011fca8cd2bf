import { identityOf, textOf } from "../domain/memory/identity.ts";
import { namedOpposites } from "../domain/memory/opposites.ts";
import {
  defaultRule,
  type PredicateRule,
  ruled,
  type RulesByPredicate,
} from "../domain/memory/predicates.ts";
import { normalise } from "../domain/memory/normalise.ts";
import { type NewMemory, type Owner, statusOf, type Writer } from "../domain/memory/record.ts";
import { embeddedText } from "../domain/memory/search-text.ts";
import { isPerson } from "../domain/memory/trust.ts";
import type { RememberBody } from "../domain/schema/memory.ts";
import { embedAll } from "./embeddings/embed.ts";
import type { Embedder, TextEmbedding } from "./embeddings/embedder.ts";

/** Memories to write, each with its identity and its vector. `rules`: the tenant's, by predicate. */
export async function prepareMemories(
  { embedder, rules }: { embedder: Embedder; rules: RulesByPredicate },
  owner: Owner,
  given: readonly { body: RememberBody; by: Writer }[],
): Promise<(NewMemory & { vector: TextEmbedding })[]> {
  const texts = given.map(({ body }) =>
    embeddedText({ text: textOf(body), title: body.title ?? null, key: body.key ?? null }),
  );
  const named = namedOpposites(rules);
  const [vectors, candidates] = await Promise.all([
    embedAll(embedder, texts),
    Promise.all(given.map((one) => candidateOf(owner, one, { rules, named }))),
  ]);
  return candidates.flatMap((candidate, i) => {
    const vector = vectors[i];
    return vector === undefined ? [] : [{ ...candidate, vector }];
  });
}

async function candidateOf(
  owner: Owner,
  { body: given, by }: { body: RememberBody; by: Writer },
  { rules, named }: { rules: RulesByPredicate; named: (predicate: string) => readonly string[] },
): Promise<NewMemory> {
  const rule = ruleFor(given, rules);
  const body = ruled(given, rule);
  const status = statusOf(body);
  const fields = { ...body, text: textOf(body) };
  const identity = await identityOf(owner.hash, fields, status === "quarantined");
  // No memory outranks a person, so this identity is not needed.
  const waiting = isPerson(by.trust) ? undefined : await identityOf(owner.hash, fields, true);
  return {
    body,
    status,
    identity,
    by,
    policy: rule.policy,
    ...oppositesIn(body, named),
    ...(waiting && { inQuarantine: waiting }),
  };
}

/** The policy and the opposites that hold for a memory that is released. */
export const rulingOf = (
  body: RememberBody,
  rules: RulesByPredicate,
): Pick<NewMemory, "policy" | "opposites"> => ({
  policy: ruleFor(body, rules).policy,
  ...oppositesIn(body, namedOpposites(rules)),
});

function oppositesIn(
  { predicate }: RememberBody,
  named: (predicate: string) => readonly string[],
): Pick<NewMemory, "opposites"> {
  const opposites = predicate === undefined ? [] : named(predicate);
  return opposites.length > 0 ? { opposites } : {};
}

/** The tenant's rule, or the default. A fact without a whole triple has no predicate to rule it. */
function ruleFor({ subject, predicate }: RememberBody, rules: RulesByPredicate): PredicateRule {
  if (subject === undefined || predicate === undefined) return NO_RULE;
  return rules.get(normalise(predicate)) ?? defaultRule(predicate);
}

const NO_RULE: PredicateRule = { cardinality: "one", policy: "highestTrust" };
