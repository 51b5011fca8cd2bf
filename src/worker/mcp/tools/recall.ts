import { z } from "@hono/zod-openapi";
import { limits } from "../../../domain/limits.ts";
import { recall } from "../../use-cases/recall.ts";
import { RecallBody } from "../../../domain/schema/recall.ts";
import { memoryKind } from "../../../domain/schema/memory-fields.ts";
import { isReadOnly } from "../access.ts";
import { hitLine } from "../lines.ts";
import { listedThatFit } from "../text.ts";
import { READS, textResult, tool } from "../tool.ts";
import { owners, tags } from "./arguments.ts";
import { notesOnOwners, notesOnSearch } from "./recall-notes.ts";

const { query, k, kinds, scope } = RecallBody.shape;

export const memoryRecall = tool({
  name: "memory_recall",
  title: "Recall memories",
  description:
    "Find memories about the user (facts, past episodes, procedures, reflections) by meaning and by words. Use it before answering anything that may depend on who the user is, what they prefer, or what was decided earlier. Returns the best matches first, each with its id, its kind, since when it holds, and a score from 0 to 1. If none answers, it says so and returns the nearest. A long text is cut: memory_history with its id and limit 1 returns it whole.",
  scope: "read",
  owner: "owners",
  annotations: READS,
  input: z.strictObject({
    query: query.describe("A question or a topic, in plain words."),
    k: k.describe(`At most this many; 10 unless set, ${limits.k} at most.`),
    kinds: kinds.describe("Only these kinds. All but `message` unless set; for messages use thread_search."),
    tags: tags.optional().describe("Only memories that carry every one of these tags."),
    scope: scope.describe("Only memories of this scope, such as a project."),
    owners: owners.optional(),
  }),
  run: async ({ services, access }, { owners: requested, kinds: given, ...asked }, others) => {
    const body = {
      ...asked,
      kinds: given ?? memoryKind.options,
      owners: others,
      answerable: "auto",
    } as const;
    const answer = await recall(services, access.user, body, { readOnly: isReadOnly(access) });
    if (!answer.ok) return answer;
    const { abstained, nearest = [] } = answer.value;
    // A model may search again: it gets the lines that do not fit too, and is told so.
    const hits = abstained ? nearest : answer.value.hits;
    const after = [...notesOnSearch(answer.value), ...notesOnOwners(access, requested)];
    if (hits.length === 0) return textResult(["No memory matches.", ...after].join("\n"));
    const lines = hits.map((hit) => hitLine(hit, access.user));
    const heading = abstained
      ? "Nothing stored seems to answer this. The nearest memories, which may be about something else:"
      : `Found: ${hits.length}, best first.`;
    return textResult(listedThatFit(heading, lines, after));
  },
});
