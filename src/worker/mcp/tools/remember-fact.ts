import { z } from "@hono/zod-openapi";
import type { Remembered } from "../../../contract/user-memory.ts";
import { rememberOne } from "../../use-cases/remember.ts";
import { STORES, textResult, tool } from "../tool.ts";
import { fact, sourceIn, sourceOf, withThread } from "./arguments.ts";
import { writtenText } from "../../../domain/conversation/waiting-text.ts";
import { writtenBy, writtenOutput } from "../written.ts";

export const memoryRememberFact = tool({
  name: "memory_remember_fact",
  title: "Remember a fact",
  description:
    "Remember one lasting fact as subject, predicate and object (“user”, “prefers”, “TypeScript”). Use it when the user states something that will still matter in a later conversation, or asks you to remember it. A predicate with one object at a time (`lives in`, `works at`, `e-mail`) takes a new object in place of the old one, which stays in the history. Any other (`likes`, `allergy`, `bought`) keeps all its objects, and memory_forget_fact takes one away. It also ends the opposite of the same object (`dislikes` ends `likes`). The answer names each fact that it ended, and says if it waits for review: tell the user of both. Do not store secrets, or details that only this task needs.",
  scope: "write",
  owner: "user",
  annotations: STORES,
  input: withThread(
    z.strictObject({
      ...fact,
      ...sourceIn("a change that the user states there replaces what they said before."),
    }),
  ),
  output: writtenOutput,
  run: async ({ services, by }, { threadId, message, ...triple }, owner) => {
    const body = { kind: "fact" as const, ...triple, ...sourceOf({ threadId, message }) };
    const remembered = await rememberOne(services, owner, { body, by });
    if (!remembered.ok) return remembered;
    const { created } = remembered.value;
    const written = writtenBy(remembered.value);
    return textResult(writtenText(written, doneText(remembered.value)), { ...written, created });
  },
});

function doneText({ memory: { id, cardinality }, created, replaced, superseded }: Remembered): string {
  if (cardinality === "many")
    return created
      ? `Remembered (id ${id}), beside other objects of this subject and predicate.${superseded ? "" : " None was replaced."}`
      : `Remembered before (id ${id}). Other objects of this subject and predicate stay.`;
  return `Remembered${created || replaced ? "" : " before"} (id ${id}).`;
}
