import { z } from "@hono/zod-openapi";
import { fail } from "../../../domain/errors.ts";
import type { Memory } from "../../../domain/schema/memory.ts";
import { ownersToSearch } from "../access.ts";
import { findMemory } from "../find-memory.ts";
import { labels } from "../lines.ts";
import { day, quoted } from "../../../domain/conversation/stored-text.ts";
import { documented } from "../text.ts";
import { READS, textResult, tool } from "../tool.ts";
import { owner, procedureTitle, scope } from "./arguments.ts";

export const memoryGetProcedure = tool({
  name: "memory_get_procedure",
  title: "Get a procedure",
  description:
    "Read a procedure whole, by its exact title as memory_list_procedures or memory_recall gave it. Use it before doing a task that a procedure describes. The user's own comes before a shared owner's of the same title.",
  scope: "read",
  owner: "owner",
  annotations: READS,
  input: z.strictObject({ title: procedureTitle, owner, scope: scope.optional() }),
  run: async (context, { title, owner: ownerId, scope: within }, first) => {
    const { access } = context;
    const others = ownersToSearch(access, ownerId === undefined ? undefined : []);
    if (!others.ok) return others;
    const owners = [first.id, ...others.value];
    const named = { title, scope: within };
    const found: Memory[] = [];
    for (const one of await Promise.all(owners.map((each) => findMemory(context, each, named)))) {
      if (!one.ok) return one;
      if (one.value !== null) found.push(one.value);
    }
    const [procedure, ...same] = found;
    if (procedure === undefined)
      return fail("not_found", {
        message: `There is no procedure ${quoted(title)}. memory_list_procedures shows the titles.`,
      });
    return textResult(
      documented(headingOf(procedure), [
        `title ${quoted(procedure.title ?? "")}`,
        ...labels(procedure, access.user),
        ...alsoOf(same),
        "",
        procedure.text,
      ]),
    );
  },
});

const headingOf = ({ id, updatedAt }: Memory): string => `Procedure of id ${id}, updated ${day(updatedAt)}.`;

function alsoOf(same: readonly Memory[]): string[] {
  const owners = same.map(({ userId }) => quoted(userId)).join(", ");
  return owners === "" ? [] : [`These shared owners have one of this title too: ${owners}.`];
}
