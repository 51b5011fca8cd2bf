import { fail, invalidField } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { normalise } from "../../domain/memory/normalise.ts";
import { ruleOf } from "../../domain/memory/predicates.ts";
import {
  NamedPredicateRule,
  predicatePath,
  PredicateRuleBody,
  PredicateRuleList,
} from "../../domain/schema/predicate.ts";
import { body, json, nothing, route } from "../http/describe.ts";
import { Refusal } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { byAdmin } from "../http/owner.ts";

const TENANT = byAdmin("keeps the tenant's rules of predicates");

const list = route("get", "/v1/predicates", {
  operationId: "listPredicateRules",
  summary: "List the tenant's rules of predicates",
  description: "All other predicates have the rules of docs/reference/memories.md.",
  ...TENANT,
  responses: { 200: json(PredicateRuleList, "All of them, by name.") },
});

const put = route("put", "/v1/predicates/{predicate}", {
  operationId: "putPredicateRule",
  summary: "Set the rule of a predicate",
  description: "Holds for facts that are written from now on, everywhere within a minute.",
  ...TENANT,
  payload: "verbatim",
  request: { params: predicatePath, body: body(PredicateRuleBody) },
  responses: { 200: json(NamedPredicateRule, "The rule.") },
});

const remove = route("delete", "/v1/predicates/{predicate}", {
  operationId: "deletePredicateRule",
  summary: "Delete the rule of a predicate",
  ...TENANT,
  request: { params: predicatePath },
  responses: { 204: nothing("The predicate has its default rule.") },
});

const TOO_LONG = `together with those of the other rules, they are longer than ${limits.oppositesBytes / 1024} KiB as JSON`;

export const predicateRules = newRouter("memories")
  .answer(list, async (_, { predicates }) => ({ items: await predicates.list() }))
  .answer(put, async (c, { predicates }) => {
    const { predicate } = c.req.valid("param");
    const rule = { predicate: normalise(predicate), ...ruleOf(predicate, c.req.valid("json")) };
    const own = rule.opposites?.indexOf(rule.predicate) ?? -1;
    if (own !== -1) throw new Refusal(invalidField(`body.opposites[${own}]`, "is the predicate itself"));
    const outcome = await predicates.put(rule);
    if (outcome === "too many rules") throw new Refusal(fail("limit_reached"));
    if (outcome === "too many opposites") throw new Refusal(invalidField("body.opposites", TOO_LONG));
    return rule;
  })
  .answer(remove, (c, { predicates }) => predicates.delete(normalise(c.req.valid("param").predicate)));
