import { z } from "@hono/zod-openapi";
import type { Remembered } from "../../../../durable-objects/user-memory/contract.ts";
import { rememberOne } from "../../use-cases/remember.ts";
import { ownerToChange } from "../access.ts";
import { STORES, textResult, tool } from "../tool.ts";
import { fact } from "./arguments.ts";
import { waitingText } from "../../../domain/conversation/waiting-text.ts";

export const memoryRememberFact = tool({
  name: "memory_remember_fact",
  title: "Remember a fact",
  description:
    "Remember one lasting fact as subject, predicate and object (“user”, “prefers”, “TypeScript”). Use it when the user states something that will still matter in a later conversation, or asks you to remember it. A predicate with one object at a time (`lives in`, `works at`, `e-mail`) takes a new object in place of the old one, which stays in the history. Any other (`likes`, `allergy`, `bought`) keeps all its objects, and memory_forget_fact takes one away. The answer tells which of the two happened. Do not store secrets, or details that only this task needs.",
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
    return textResult(doneText(remembered.value), { id: memory.id, created });
  },
});

function doneText({ memory: { id, cardinality }, created }: Pick<Remembered, "memory" | "created">): string {
  if (cardinality === "many")
    return created
      ? `Remembered (id ${id}), beside other objects of this subject and predicate. None was replaced.`
      : `Remembered before (id ${id}). Other objects of this subject and predicate stay.`;
  const former = " It replaces the object from before, if that was another: memory_history shows both.";
  return `Remembered (id ${id}).${created ? "" : former}`;
}
