import { z } from "@hono/zod-openapi";
import { rememberOne } from "../../use-cases/remember.ts";
import { ownerToChange } from "../access.ts";
import { STORES, textResult, tool } from "../tool.ts";
import { fact } from "./arguments.ts";
import { waitingText } from "../../../domain/conversation/waiting-text.ts";

export const memoryRememberFact = tool({
  name: "memory_remember_fact",
  title: "Remember a fact",
  description:
    "Remember one lasting fact as subject, predicate and object (“user”, “prefers”, “TypeScript”). Use it when the user states something that will still matter in a later conversation, or asks you to remember it. One fact is true at a time for a subject and a predicate: a new object replaces the old one, which stays in the history. Do not store secrets, or details that only this task needs.",
  scope: "write",
  annotations: STORES,
  input: z.strictObject(fact),
  output: z.object({ id: z.string(), created: z.boolean() }),
  run: async ({ services, access, by }, body) => {
    const owner = await ownerToChange(access, undefined);
    if (!owner.ok) return owner;
    const remembered = await rememberOne(services, owner.value, { body: { kind: "fact", ...body }, by });
    if (!remembered.ok) return remembered;
    const { memory, created } = remembered.value;
    const waiting = waitingText(memory);
    if (waiting !== null) return textResult(waiting, { id: memory.id, created });
    const more = created
      ? ""
      : " There was a fact of this subject and predicate: memory_history shows its versions.";
    return textResult(`Remembered (id ${memory.id}).${more}`, { id: memory.id, created });
  },
});
