import { z } from "@hono/zod-openapi";
import { fail } from "../../errors.ts";
import type { Memory } from "../../schema/memory.ts";
import { ownersToAsk, ownerToRead } from "../access.ts";
import { memoryNamed } from "../named.ts";
import { day, documented, quoted } from "../text.ts";
import { READS, said, tool } from "../tool.ts";
import { owner, procedureTitle, scope } from "./arguments.ts";

export const memoryGetProcedure = tool({
  name: "memory_get_procedure",
  title: "Get a procedure",
  description:
    "Read a procedure whole, by its exact title as memory_list_procedures or memory_recall gave it. Use it before doing a task that a procedure describes. The user's own comes before a shared owner's of the same title.",
  scope: "read",
  annotations: READS,
  input: z.strictObject({ title: procedureTitle, owner, scope: scope.optional() }),
  run: async (context, { title, owner: wanted, scope: within }) => {
    const { access } = context;
    const first = await ownerToRead(access, wanted);
    if (!first.ok) return first;
    const others = ownersToAsk(access, wanted === undefined ? undefined : []);
    if (!others.ok) return others;
    const owners = [first.value.id, ...others.value];
    const named = { title, scope: within };
    const found: Memory[] = [];
    for (const one of await Promise.all(owners.map((each) => memoryNamed(context, each, named)))) {
      if (!one.ok) return one;
      if (one.value !== null) found.push(one.value);
    }
    const [procedure, ...same] = found;
    if (procedure === undefined)
      return fail("not_found", {
        message: `There is no procedure ${quoted(title)}. memory_list_procedures shows the titles that there are.`,
      });
    const also = same.map(({ userId }) => quoted(userId)).join(", ");
    return said(
      documented(
        headingOf(procedure, access.user),
        procedure.text,
        also === "" ? [] : [`One of this title is there of ${also}, too.`],
      ),
    );
  },
});

function headingOf({ id, title = "", userId, updatedAt, tags = [], scope: within }: Memory, user: string) {
  const about = [
    `id ${id}`,
    `updated ${day(updatedAt)}`,
    ...(tags.length === 0 ? [] : [`tags ${tags.map(quoted).join(" ")}`]),
    ...(within === undefined ? [] : [`scope ${quoted(within)}`]),
    ...(userId === user ? [] : [`owner ${quoted(userId)}`]),
  ];
  return `Procedure ${quoted(title)} (${about.join(", ")}).`;
}
