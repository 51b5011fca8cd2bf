import { z } from "@hono/zod-openapi";
import { ok, type Result } from "../../../domain/errors.ts";
import { userHash } from "../../../domain/ids.ts";
import { listMemories } from "../../use-cases/browse.ts";
import { recall } from "../../use-cases/recall.ts";
import { tag as memoryTag } from "../../../domain/schema/memory-fields.ts";
import type { Memory } from "../../../domain/schema/memory.ts";
import { RecallBody, type RecallAnswer } from "../../../domain/schema/recall.ts";
import { isReadOnly } from "../access.ts";
import { day, oneLine, quoted } from "../../../domain/conversation/stored-text.ts";
import { labels } from "../lines.ts";
import { listedThatFit } from "../text.ts";
import { type Context, READS, textResult, tool } from "../tool.ts";
import { LIMIT, limit, owners } from "./arguments.ts";
import { notesOnOwners, notesOnSearch } from "./recall-notes.ts";

/** Characters of a procedure's body in the list. */
const PREVIEW = 160;

type Asked = { query?: string | undefined; tag?: string | undefined; limit: number };
type ListedProcedure = Pick<
  RecallAnswer["hits"][number],
  "id" | "title" | "text" | "tags" | "scope" | "userId" | "updatedAt"
> & {
  score?: number;
};
type Found = { procedures: ListedProcedure[]; after: string[] };

export const memoryListProcedures = tool({
  name: "memory_list_procedures",
  title: "List procedures",
  description:
    "List the stored procedures of the user and of the shared owners: with a query the best matches, else the latest updates. Use it before a task that may have been worked out before. Returns titles and how they begin; memory_get_procedure returns one whole.",
  scope: "read",
  owner: "owners",
  annotations: READS,
  input: z.strictObject({
    query: RecallBody.shape.query.optional().describe("The task, in plain words."),
    tag: memoryTag.optional().describe("Only procedures that carry this tag."),
    limit,
    owners: owners.optional(),
  }),
  run: async (context, { owners: requested, limit: most = LIMIT, ...asked }, others) => {
    const { access } = context;
    const search = asked.query === undefined ? byUpdate : byQuery;
    const found = await search(context, others, { ...asked, limit: most });
    if (!found.ok) return found;
    const { procedures } = found.value;
    const after = [...found.value.after, ...notesOnOwners(access, requested)];
    if (procedures.length === 0) return textResult(["There is no such procedure.", ...after].join("\n"));
    const lines = procedures.map((procedure) => lineOf(procedure, access.user));
    return textResult(listedThatFit(`Procedures: ${procedures.length}.`, lines, after));
  },
});

async function byUpdate(
  context: Context,
  others: string[],
  { tag, limit: most }: Asked,
): Promise<Result<Found>> {
  const { services, access } = context;
  const query = {
    kind: ["procedure" as const],
    sort: "updatedAt" as const,
    limit: most,
    ...(tag !== undefined && { tag: [tag] }),
  };
  const pages = await Promise.all(
    [access.user, ...others].map(async (one) => listMemories(services, await userHash(one), query)),
  );
  const all: Memory[] = [];
  let more = false;
  for (const page of pages) {
    if (!page.ok) return page;
    all.push(...page.value.items);
    more ||= page.value.cursor !== undefined;
  }
  const sorted = all.toSorted((a, b) => b.updatedAt - a.updatedAt);
  const after = more || sorted.length > most ? ["There are more: use a higher limit, a query or a tag."] : [];
  return ok({ procedures: sorted.slice(0, most), after });
}

async function byQuery(
  { services, access }: Context,
  others: string[],
  { query = "", tag, limit: most }: Asked,
): Promise<Result<Found>> {
  const asked = {
    query,
    k: most,
    kinds: ["procedure" as const],
    owners: others,
    ...(tag !== undefined && { tags: [tag] }),
  };
  const answer = await recall(services, access.user, asked, { readOnly: isReadOnly(access) });
  if (!answer.ok) return answer;
  return ok({ procedures: answer.value.hits, after: notesOnSearch(answer.value) });
}

function lineOf(
  { id, title = "", text, tags, scope, userId, updatedAt, score }: ListedProcedure,
  user: string,
): string {
  const about = [
    `id ${id}`,
    ...(updatedAt === undefined ? [] : [`updated ${day(updatedAt)}`]),
    ...(score === undefined ? [] : [`score ${score.toFixed(2)}`]),
    ...labels({ tags, scope, userId }, user),
  ];
  return `- ${quoted(title)} [${about.join(" | ")}] ${oneLine(text, PREVIEW)}`;
}
