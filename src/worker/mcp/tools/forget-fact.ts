import { z } from "@hono/zod-openapi";
import { ownerToChange } from "../access.ts";
import { FORGETS, textResult, tool } from "../tool.ts";
import { fact } from "./arguments.ts";

export const memoryForgetFact = tool({
  name: "memory_forget_fact",
  title: "Forget a fact",
  description:
    "Delete the fact of a subject and a predicate with its history, in every scope. Use it when the user asks you to forget something. If a fact has only changed, remember the new one instead, which replaces it. Ignores case; memory_list or memory_recall shows the wording.",
  scope: "write",
  annotations: FORGETS,
  input: z.strictObject({ subject: fact.subject, predicate: fact.predicate }),
  output: z.object({ forgotten: z.int().min(0) }),
  run: async ({ services, access }, { subject, predicate }) => {
    const owner = await ownerToChange(access, undefined);
    if (!owner.ok) return owner;
    const filter = { kinds: ["fact" as const], subject, predicate };
    const gone = await services.userMemory(owner.value.hash).forgetMemories(owner.value, { filter });
    if (!gone.ok) return gone;
    const forgotten = gone.value.count;
    return textResult(
      forgotten === 0
        ? "There is no fact of this subject and predicate, so nothing changed. memory_list shows how facts are worded."
        : "Forgotten, with its history.",
      { forgotten },
    );
  },
});
