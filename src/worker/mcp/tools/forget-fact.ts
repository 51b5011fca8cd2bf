import { z } from "@hono/zod-openapi";
import { oneLine } from "../../../domain/conversation/stored-text.ts";
import { fail, ok, type Result } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { normalise } from "../../../domain/memory/normalise.ts";
import type { Owner } from "../../../domain/memory/record.ts";
import type { Memory } from "../../../domain/schema/memory.ts";
import { listMemories } from "../../use-cases/browse.ts";
import { ownerToChange } from "../access.ts";
import { listedThatFit } from "../text.ts";
import { type Context, FORGETS, textResult, tool } from "../tool.ts";
import { fact } from "./arguments.ts";

export const memoryForgetFact = tool({
  name: "memory_forget_fact",
  title: "Forget a fact",
  description:
    "Delete the fact of a subject and a predicate with its history, in every scope. Use it when the user asks you to forget something. If the fact has several objects (“likes”: “tea”, “coffee”), name the one to forget in object; all of them are deleted only with all. If a fact of one object (`lives in`) has only changed, remember the new one instead, which replaces it. Ignores case; memory_list or memory_recall shows the wording.",
  scope: "write",
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
  run: async (context, { subject, predicate, object, all = false }) => {
    const owner = await ownerToChange(context.access, undefined);
    if (!owner.ok) return owner;
    const stored = await factsOf(context, owner.value, { subject, predicate });
    if (!stored.ok) return stored;
    const asked = stored.value.filter((one) => object === undefined || isSame(shownObject(one), object));
    const live = asked.filter(({ status }) => status === "active");
    const shown = objectLines(live);
    if (object === undefined && !all && shown.length > 1)
      return fail("invalid_request", {
        message: listedThatFit(
          `Nothing was deleted: this subject and predicate have ${shown.length} objects. Call again with the object to forget, or with all set to true if the user wants every one forgotten.`,
          shown,
        ),
      });
    const filter = { kinds: ["fact" as const], subject, predicate };
    const gone =
      object === undefined
        ? await context.services.userMemory(owner.value.hash).forgetMemories(owner.value, { filter })
        : await forgetEach(context, owner.value, asked);
    if (!gone.ok) return gone;
    const forgotten = gone.value.count;
    if (forgotten === 0)
      return textResult(
        `There is no fact of this subject${object === undefined ? " and predicate" : ", predicate and object"}, so nothing changed. memory_list shows how facts are worded.`,
        { forgotten },
      );
    const unused = forgotten - live.length;
    const after = unused > 0 ? [`${unused} of these were not in use: for review, or for a later time.`] : [];
    return textResult(
      shown.length === 0
        ? [`Forgotten, with their history: ${forgotten}.`, ...after].join("\n")
        : listedThatFit(`Forgotten, with their history: ${forgotten}. Their objects:`, shown, after),
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
      status: ["active", "quarantined"],
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
  facts: readonly Memory[],
): Promise<Result<{ count: number }>> {
  let count = 0;
  for (const { id } of facts) {
    const gone = await services.userMemory(owner.hash).forget(owner, id);
    if (!gone.ok) return gone;
    if (gone.value) count++;
  }
  return ok({ count });
}

/** The object as a line shows it, so that a model can name it. */
const shownObject = ({ object, text }: Memory): string => oneLine(object ?? text);

const isSame = (shown: string, object: string): boolean => normalise(shown) === normalise(oneLine(object));

/** One line for each object, also if several scopes have it. */
const objectLines = (facts: readonly Memory[]): string[] => [
  ...new Map(facts.map((one) => [normalise(shownObject(one)), `- ${shownObject(one)}`])).values(),
];
