import { z } from "@hono/zod-openapi";
import { ownerToChange } from "../access.ts";
import { FORGETS, said, tool } from "../tool.ts";
import { fact } from "./arguments.ts";

export const memoryForgetFact = tool({
  name: "memory_forget_fact",
  title: "Forget a fact",
  description:
    "Forget the fact of a subject and a predicate for good, with its history, in every scope. Use it when the user asks you to forget something. If a fact has only changed, remember the new one instead: it takes the old one's place. Upper and lower case are the same; memory_list or memory_recall shows how it is worded.",
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
    return said(
      forgotten === 0
        ? "No fact of this subject and predicate was remembered, so nothing changed. memory_list shows how facts are worded."
        : "Forgotten, with its history.",
      { forgotten },
    );
  },
});
