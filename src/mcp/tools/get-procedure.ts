import { z } from "@hono/zod-openapi";
import { fail } from "../../errors.ts";
import { ownersToAsk, ownerToRead } from "../access.ts";
import { proceduresOf } from "../procedures.ts";
import { day, documented, quoted } from "../text.ts";
import { READS, said, tool } from "../tool.ts";
import { owner, procedureTitle } from "./arguments.ts";

export const memoryGetProcedure = tool({
  name: "memory_get_procedure",
  title: "Get a procedure",
  description:
    "Read a procedure whole, by its exact title as memory_list_procedures or memory_recall gave it. Use it before doing a task that a procedure describes. The user's own comes before a shared owner's of the same title.",
  scope: "read",
  annotations: READS,
  input: z.strictObject({ title: procedureTitle, owner }),
  run: async (context, { title, owner: wanted }) => {
    const { access } = context;
    const one = await ownerToRead(access, wanted);
    if (!one.ok) return one;
    const others = ownersToAsk(access, wanted === undefined ? undefined : []);
    if (!others.ok) return others;
    const owners = [one.value.id, ...others.value];
    const found = await proceduresOf(context, owners, { title, limit: 1 });
    if (!found.ok) return found;
    const [procedure, ...same] = found.value;
    if (procedure === undefined)
      return fail("not_found", {
        message: `There is no procedure ${quoted(title)}. memory_list_procedures shows the titles that there are.`,
      });
    const { id, userId, updatedAt, tags = [], text } = procedure;
    const heading = [
      `Procedure ${quoted(title)} (id ${id}, updated ${day(updatedAt)}`,
      tags.length > 0 ? `, tags ${tags.map(quoted).join(" ")}` : "",
      userId === access.user ? ")." : `, owner ${quoted(userId)}).`,
    ].join("");
    const also = same.map((other) => quoted(other.userId)).join(", ");
    return said(
      documented(heading, text, also === "" ? [] : [`One of this title is there of ${also}, too.`]),
    );
  },
});
