import { z } from "@hono/zod-openapi";
import { fail, ok } from "../../../domain/errors.ts";
import { memoryHistory } from "../../use-cases/browse.ts";
import { memoryPath } from "../../../domain/schema/memory.ts";
import { versionLine } from "../lines.ts";
import { findMemory } from "../find-memory.ts";
import { SINGLE_TEXT, fittingPage, listed } from "../text.ts";
import { ITEM } from "../../../domain/conversation/stored-text.ts";
import { READS, textResult, tool } from "../tool.ts";
import { cursor, fact, LIMIT, limit, owner } from "./arguments.ts";

export const memoryHistoryTool = tool({
  name: "memory_history",
  title: "History of a memory",
  description:
    "List the versions of a memory, the newest first, with when each was true and which were corrections. Use it when the user asks what something was earlier (“where did I live before?”), or when a fact looks wrong; with limit 1, to read a memory whole that a list has cut. Name the memory by its id, or a fact by its subject and predicate.",
  scope: "read",
  owner: "owner",
  annotations: READS,
  input: z
    .strictObject({
      id: memoryPath.shape.id.optional().describe("The memory's id, from another tool."),
      subject: fact.subject.optional(),
      predicate: fact.predicate.optional(),
      owner,
      limit,
      cursor,
    })
    .refine(
      ({ id, subject, predicate }) =>
        id === undefined
          ? subject !== undefined && predicate !== undefined
          : subject === undefined && predicate === undefined,
      { path: ["id"], error: "is required, or subject and predicate instead" },
    ),
  run: async (context, { id: given, subject, predicate, limit: most = LIMIT, cursor: from }, whose) => {
    const named =
      subject === undefined || predicate === undefined
        ? ok({ id: given ?? "" })
        : await findMemory(context, whose.id, { subject, predicate });
    if (!named.ok) return named;
    if (named.value === null) return fail("not_found", { message: "No such fact is stored." });
    const { id } = named.value;
    const page = await fittingPage(
      (many) => memoryHistory(context.services, whose.hash, { id, limit: many, cursor: from }),
      most,
      (version) => versionLine(version, most === 1 ? SINGLE_TEXT : ITEM),
    );
    if (!page.ok) return page;
    const { lines, cursor: next } = page.value;
    const after = next === undefined ? [] : [`There are older ones: call again with cursor ${next}`];
    return textResult(listed(`Versions of ${id}: ${lines.length}, the newest first.`, lines, after));
  },
});
