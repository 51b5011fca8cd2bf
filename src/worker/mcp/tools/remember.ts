import { z } from "@hono/zod-openapi";
import { memoryKind } from "../../../domain/schema/memory-fields.ts";
import { rememberOne } from "../../use-cases/remember.ts";
import { STORES, textResult, tool } from "../tool.ts";
import { procedureBody, scope, sourceIn, sourceOf, tags, withThread } from "./arguments.ts";
import { writtenText } from "../../../domain/conversation/waiting-text.ts";
import { writtenBy, writtenOutput } from "../written.ts";

export const memoryRemember = tool({
  name: "memory_remember",
  title: "Remember a text",
  description:
    "Remember one lasting thing in a sentence that can be read by itself (“The user is moving to Porto in May.”). Use it for what does not fit a subject, a predicate and an object: events, plans, the reasons of a decision. For a property that may change later, use memory_remember_fact: a new value replaces the old one where only one can be true. Do not store secrets, or details that only this task needs.",
  scope: "write",
  owner: "user",
  annotations: STORES,
  input: withThread(
    z.strictObject({
      text: procedureBody.describe("The sentence, to 32 KiB."),
      kind: memoryKind
        .exclude(["procedure"])
        .optional()
        .describe("`fact` (unless set); `episode` for an event; `reflection` for a conclusion."),
      tags: tags.optional().describe("Tags to list it by."),
      scope: scope.optional(),
      ...sourceIn(
        "the memory cites it. It replaces nothing: a sentence stands beside what the user said before.",
      ),
    }),
  ),
  output: writtenOutput,
  run: async ({ services, by }, { threadId, message, ...given }, owner) => {
    const body = { ...given, ...sourceOf({ threadId, message }) };
    const remembered = await rememberOne(services, owner, { body, by });
    if (!remembered.ok) return remembered;
    const { created } = remembered.value;
    const written = writtenBy(remembered.value);
    const done = `${created ? "Remembered" : "Remembered before"} (id ${written.id}).`;
    return textResult(writtenText(written, done), { ...written, created });
  },
});
