import { z } from "@hono/zod-openapi";
import { quoted } from "../../../domain/conversation/stored-text.ts";
import { FORGETS, textResult, tool } from "../tool.ts";
import { owner, procedureTitle } from "./arguments.ts";

export const memoryForgetProcedure = tool({
  name: "memory_forget_procedure",
  title: "Forget a procedure",
  description:
    "Delete the procedure of this exact title with its history. Use it when the user asks for that, or when nobody does the task any more. If it is done differently now, store it again instead.",
  scope: "write",
  owner: "owner",
  annotations: FORGETS,
  input: z.strictObject({ title: procedureTitle, owner }),
  output: z.object({ forgotten: z.int().min(0) }),
  run: async ({ services }, { title }, owned) => {
    const filter = { kinds: ["procedure" as const], title };
    const gone = await services.userMemory(owned.hash).forgetMemories(owned, { filter });
    if (!gone.ok) return gone;
    const forgotten = gone.value.count;
    return textResult(
      forgotten === 0
        ? `There is no procedure ${quoted(title)}, so nothing changed. memory_list_procedures shows the titles.`
        : `Forgotten: procedure ${quoted(title)}, with its history.`,
      { forgotten },
    );
  },
});
