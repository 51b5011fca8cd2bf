import {
  type ForgetPlan,
  forgottenFacts,
  noSuchFact,
  planForget,
  severalObjects,
} from "../../../../src/domain/memory/forget-fact.ts";
import { DATA_NOTE, inert } from "../../../../src/domain/conversation/stored-text.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { Memory } from "../../../client/src/shapes.ts";

/** The arguments of memory_forget_fact. */
export type ForgetFact = { subject: string; predicate: string; object?: string; all?: boolean };

/** `text`: the answer for a model. `forgotten` is 0 also if the model has to choose one of several objects. */
export type ForgottenFacts = { forgotten: number; text: string };

const PAGE = 1_000;
/** Objects that one answer lists. */
const SHOWN = 50;

/** Forgets the facts of a subject and predicate: all of the one object that is named, or that there is, or all objects. */
export async function forgetFact(
  { memories }: Pick<Cairn, "memories">,
  user: string,
  {
    given: { subject, predicate, object, all },
    scope,
    options,
  }: { given: ForgetFact; scope?: string | undefined; options: CallOptions },
): Promise<ForgottenFacts> {
  const named = { subject, predicate, ...(scope !== undefined && { scope: [scope] }) };
  const facts: Memory[] = [];
  let cursor: string | undefined;
  do {
    const page = await memories.list(
      user,
      { ...named, kind: ["fact"], status: ["active", "quarantined", "expired"], limit: PAGE, cursor },
      options,
    );
    facts.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined);
  const plan = planForget(facts, { object, all });
  if (plan.isAmbiguous) return { forgotten: 0, text: listed(severalObjects(plan), plan) };
  let forgotten = 0;
  if (object === undefined)
    ({ count: forgotten } = await memories.forgetWhere(user, { kinds: ["fact"], ...named }, options));
  else
    for (const id of plan.ids) {
      await memories.forget(user, id, options);
      forgotten++;
    }
  if (forgotten === 0) return { forgotten, text: noSuchFact({ object }) };
  const { heading, after } = forgottenFacts(forgotten, plan);
  return { forgotten, text: listed(heading, plan, after) };
}

/** The objects as data between tags. */
function listed(heading: string, { objects }: ForgetPlan, after: readonly string[] = []): string {
  if (objects.length === 0) return [heading, ...after].join("\n");
  const left = objects.length - SHOWN;
  return [
    heading,
    DATA_NOTE,
    "<memory>",
    inert(objects.slice(0, SHOWN).join("\n")),
    "</memory>",
    ...(left > 0 ? [`${left} more are not shown.`] : []),
    ...after,
  ].join("\n");
}
