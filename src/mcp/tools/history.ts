import { z } from "@hono/zod-openapi";
import { fail, ok, type Result } from "../../errors.ts";
import type { UserHash } from "../../ids.ts";
import { listMemories, memoryHistory } from "../../memory/browse.ts";
import { memoryPath } from "../../schema/memory.ts";
import { ownerToRead } from "../access.ts";
import { versionLine } from "../lines.ts";
import { fittingPage } from "../pages.ts";
import { listed } from "../text.ts";
import { type Context, READS, said, tool } from "../tool.ts";
import { cursor, fact, LIMIT, limit, owner } from "./arguments.ts";

export const memoryHistoryTool = tool({
  name: "memory_history",
  title: "History of a memory",
  description:
    "What a memory said before: every version, the newest first, with when it was true and which were corrections. Use it when the user asks what something was earlier (“where did I live before?”), or when a fact looks wrong. Name the memory by its id, or a fact by its subject and predicate.",
  scope: "read",
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
      { path: ["id"], error: "is required, or subject and predicate in its place" },
    ),
  run: async (
    context,
    { id: given, subject, predicate, owner: wanted, limit: most = LIMIT, cursor: from },
  ) => {
    const whose = await ownerToRead(context.access, wanted);
    if (!whose.ok) return whose;
    const { hash } = whose.value;
    const id = given === undefined ? await factId(context, hash, { subject, predicate }) : ok(given);
    if (!id.ok) return id;
    const page = await fittingPage(
      (many) => memoryHistory(context.services, hash, { id: id.value, limit: many, cursor: from }),
      most,
      versionLine,
    );
    if (!page.ok) return page;
    const { lines, cursor: next } = page.value;
    const after = next === undefined ? [] : [`There are older ones: call again with cursor ${next}`];
    return said(listed(`Versions of ${id.value}: ${lines.length}, the newest first.`, lines, after));
  },
});

/** The id of the fact of this subject and predicate: of the newest, where several scopes have one. */
async function factId(
  { services }: Context,
  hash: UserHash,
  named: { subject: string | undefined; predicate: string | undefined },
): Promise<Result<string>> {
  const page = await listMemories(services, hash, { ...named, kind: ["fact"], limit: 1 });
  if (!page.ok) return page;
  const [known] = page.value.items;
  return known === undefined ? fail("not_found", { message: "No such fact is remembered." }) : ok(known.id);
}
