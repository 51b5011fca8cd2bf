import { z } from "@hono/zod-openapi";
import { rememberOne } from "../../use-cases/remember.ts";
import { quoted } from "../../../domain/conversation/stored-text.ts";
import { STORES, textResult, tool } from "../tool.ts";
import { writtenText } from "../../../domain/conversation/waiting-text.ts";
import { writtenBy, writtenOutput } from "../written.ts";
import { owner, procedureBody, procedureTitle, tags } from "./arguments.ts";

export const memoryStoreProcedure = tool({
  name: "memory_store_procedure",
  title: "Store a procedure",
  description:
    "Store how something is done, step by step, under a title: a deployment, a release, a way of working that has proved itself. Use it when you have worked out a task that will come again. Replaces a procedure of the same title; to add to one, read it first with memory_get_procedure.",
  scope: "write",
  owner: "owner",
  // The replaced version stays in the history.
  annotations: STORES,
  input: z.strictObject({
    title: procedureTitle.describe("A short name to find it by: `deploy-shop`."),
    body: procedureBody.describe("The steps, as Markdown, to 32 KiB."),
    tags: tags.optional().describe("Tags to list it by."),
    owner,
  }),
  output: writtenOutput,
  run: async ({ services, by }, { title, body: text, tags: labels }, owned) => {
    const body = { kind: "procedure" as const, title, text, ...(labels && { tags: labels }) };
    const stored = await rememberOne(services, owned, { body, by });
    if (!stored.ok) return stored;
    const { created } = stored.value;
    const written = writtenBy(stored.value);
    const done = `${created ? "Stored" : "Replaced"}: procedure ${quoted(title)} (id ${written.id}).`;
    return textResult(writtenText(written, done), { ...written, created });
  },
});
