import { z } from "@hono/zod-openapi";
import { fail, ok, type Result } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import {
  forgottenFacts,
  noSuchFact,
  planForget,
  severalObjects,
} from "../../../domain/memory/forget-fact.ts";
import type { Owner } from "../../../domain/memory/record.ts";
import type { Memory } from "../../../domain/schema/memory.ts";
import { listMemories } from "../../use-cases/browse.ts";
import { listedThatFit } from "../text.ts";
import { type Context, FORGETS, textResult, tool } from "../tool.ts";
import { fact } from "./arguments.ts";

export const memoryForgetFact = tool({
  name: "memory_forget_fact",
  title: "Forget a fact",
  description:
    "Delete the fact of a subject and a predicate with its history, in every scope. Use it when the user asks you to forget something. If the fact has several objects (“likes”: “tea”, “coffee”), name the one to forget in object; all of them are deleted only with all. If a fact of one object (`lives in`) has only changed, remember the new one instead, which replaces it. Ignores case; memory_list or memory_recall shows the wording.",
  scope: "write",
  owner: "user",
  annotations: FORGETS,
  input: z
    .strictObject({
      subject: fact.subject,
      predicate: fact.predicate,
      object: fact.object
        .optional()
        .describe(
          "The object to forget: `tea`. Required if the fact has several objects, unless `all` is set.",
        ),
      all: z
        .boolean()
        .optional()
        .describe("True: deletes every object. Only if the user wants all of them forgotten."),
    })
    .refine(({ object, all }) => object === undefined || all !== true, {
      path: ["all"],
      error: "does not go with object",
    }),
  output: z.object({ forgotten: z.int().min(0) }),
  run: async (context, { subject, predicate, object, all }, owner) => {
    const stored = await factsOf(context, owner, { subject, predicate });
    if (!stored.ok) return stored;
    const plan = planForget(stored.value, { object, all });
    if (plan.isAmbiguous)
      return fail("invalid_request", { message: listedThatFit(severalObjects(plan), plan.objects) });
    const filter = { kinds: ["fact" as const], subject, predicate };
    const gone =
      object === undefined
        ? await context.services.userMemory(owner.hash).forgetMemories(owner, { filter })
        : await forgetEach(context, owner, plan.ids);
    if (!gone.ok) return gone;
    const forgotten = gone.value.count;
    if (forgotten === 0) return textResult(noSuchFact({ object }), { forgotten });
    const { heading, after } = forgottenFacts(forgotten, plan);
    return textResult(
      plan.objects.length === 0
        ? [heading, ...after].join("\n")
        : listedThatFit(heading, plan.objects, after),
      { forgotten },
    );
  },
});

/** The facts of this name: those that are true now, and those in quarantine. */
async function factsOf(
  { services }: Context,
  owner: Owner,
  name: { subject: string; predicate: string },
): Promise<Result<Memory[]>> {
  const found: Memory[] = [];
  let cursor: string | undefined;
  do {
    const page = await listMemories(services, owner.hash, {
      ...name,
      kind: ["fact"],
      status: ["active", "quarantined", "expired"],
      limit: limits.page,
      cursor,
    });
    if (!page.ok) return page;
    found.push(...page.value.items);
    ({ cursor } = page.value);
  } while (cursor !== undefined);
  return ok(found);
}

async function forgetEach(
  { services }: Context,
  owner: Owner,
  ids: readonly string[],
): Promise<Result<{ count: number }>> {
  let count = 0;
  for (const id of ids) {
    const gone = await services.userMemory(owner.hash).forget(owner, id);
    if (!gone.ok) return gone;
    if (gone.value) count++;
  }
  return ok({ count });
}
