import { z } from "@hono/zod-openapi";
import { listMemories } from "../../use-cases/browse.ts";
import { memoryFilter } from "../../../domain/schema/memory-filter.ts";
import { memoryLine } from "../lines.ts";
import { fittingPage, listed } from "../text.ts";
import { READS, textResult, tool } from "../tool.ts";
import { cursor, LIMIT, limit, owner } from "./arguments.ts";

const { kinds, tags, scope, subject, predicate } = memoryFilter.shape;

export const memoryList = tool({
  name: "memory_list",
  title: "List memories",
  description:
    "List memories, the newest first, without a search. Use it to see everything, or all of one kind, tag or subject (“what do you know about me?”, “what did I tell you about Alice?”). To answer a question use memory_recall. Each line has the id that memory_history takes.",
  scope: "read",
  owner: "owner",
  annotations: READS,
  input: z.strictObject({
    kinds: kinds.describe("Only these kinds."),
    tags: tags.describe("Only memories that carry every one of these tags."),
    scope: scope.describe("Only memories of any of these scopes."),
    subject: subject.describe("Only facts about this subject; upper and lower case are the same."),
    predicate: predicate.describe("Only facts with this predicate."),
    owner,
    limit,
    cursor,
  }),
  run: async ({ services }, asked, { hash, id }) => {
    const { kinds: kind, tags: tag, owner: _owner, limit: most = LIMIT, ...filter } = asked;
    const page = await fittingPage(
      (many) => listMemories(services, hash, { ...filter, kind, tag, limit: many }),
      most,
      (memory) => memoryLine(memory, id),
    );
    if (!page.ok) return page;
    const { lines, cursor: next } = page.value;
    if (lines.length === 0) return textResult("No such memory is stored.");
    const after = next === undefined ? [] : [`There are more: call again with cursor ${next}`];
    return textResult(listed(`Memories: ${lines.length}, the newest first.`, lines, after));
  },
});
