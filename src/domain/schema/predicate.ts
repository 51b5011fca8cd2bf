import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { text } from "./bounds.ts";
import { shape, strictShape, string } from "./described.ts";

export const PredicateRule = strictShape("PredicateRule", {
  cardinality: z.enum(["one", "many"]).openapi({
    description:
      "`one`: a subject has one such fact at a time, as of `lives in`. `many`: several, as of `likes` and of every predicate that no table knows.",
  }),
  policy: z.enum(["highestTrust", "lastWriter", "keepAll", "reject"]).openapi({
    description:
      "What happens to a fact that contradicts a stored one. `highestTrust`: it supersedes it, or waits in quarantine if the stored one has a higher trust. `lastWriter`: it supersedes it. `keepAll`: both are true. `reject`: it is refused with 409.",
  }),
  opposites: z
    .array(text(limits.name))
    .max(limits.opposites)
    .optional()
    .openapi({
      description:
        "Predicates that say the opposite of an object, as `hates` does of `likes`. A fact of one ends the fact of the other with the same subject and object. The rule of either names the pair.",
      example: ["hasst"],
    }),
}).openapi({ example: { cardinality: "one", policy: "reject" } });
export type PredicateRule = z.infer<typeof PredicateRule>;

export const PredicateRuleBody = strictShape("PredicateRuleBody", {
  cardinality: PredicateRule.shape.cardinality.optional(),
  policy: PredicateRule.shape.policy.optional(),
  opposites: PredicateRule.shape.opposites,
})
  .refine((body) => Object.keys(body).length > 0, "sets nothing")
  .openapi({
    description:
      "The default of the predicate holds for what is not set. A policy does not change the cardinality: facts of many contradict only their opposites.",
  });
export type PredicateRuleBody = z.infer<typeof PredicateRuleBody>;

export const NamedPredicateRule = shape("NamedPredicateRule", {
  predicate: string("Without regard to case, width and extra spaces."),
  ...PredicateRule.shape,
});
export type NamedPredicateRule = z.infer<typeof NamedPredicateRule>;

export const PredicateRuleList = z
  .object({ items: z.array(NamedPredicateRule) })
  .openapi("PredicateRuleList");

export const predicatePath = z.object({
  predicate: text(limits.name),
});
