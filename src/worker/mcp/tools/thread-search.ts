import { z } from "@hono/zod-openapi";
import { limits } from "../../../domain/limits.ts";
import { recall } from "../../use-cases/recall.ts";
import { isReadOnly } from "../access.ts";
import { RecallBody } from "../../../domain/schema/recall.ts";
import { messageLines } from "../lines.ts";
import { listedThatFit } from "../text.ts";
import { READS, textResult, tool } from "../tool.ts";
import { notesOnSearch } from "./recall-notes.ts";

const { query, k, threadId, window } = RecallBody.shape;

export const threadSearch = tool({
  name: "thread_search",
  title: "Search past conversations",
  description:
    "Search the user's stored conversations, by meaning and by words. Use it when the user refers to an earlier conversation, or when the wording matters and memory_recall has only the gist. Returns messages, best first, each with its thread, its number in it, the day, who spoke, and the messages beside it.",
  scope: "read",
  owner: "user",
  annotations: READS,
  input: z.strictObject({
    query: query.describe("A question or a topic, in plain words."),
    k: k.describe(`At most this many messages; 10 unless set, ${limits.k} at most.`),
    threadId: threadId.describe("Only in this thread."),
    window: window.describe(
      `Messages to show on each side of a match; 1 unless set, ${limits.window} at most.`,
    ),
  }),
  run: async ({ services, access }, asked) => {
    const answer = await recall(
      services,
      access.user,
      { ...asked, kinds: ["message"] },
      { readOnly: isReadOnly(access) },
    );
    if (!answer.ok) return answer;
    const { hits } = answer.value;
    const after = notesOnSearch(answer.value);
    if (hits.length === 0) return textResult(["No message matches.", ...after].join("\n"));
    const lines = hits.map((hit) => messageLines(hit, access.user));
    return textResult(listedThatFit(`Found: ${hits.length}, best first.`, lines, after));
  },
});
