import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Owner, Writer } from "../../domain/memory/record.ts";
import type { ReviewedMemories, ReviewMemoriesBody } from "../../domain/schema/review.ts";
import type { Reviewing } from "../../contract/user-memory.ts";
import type { Services } from "../services.ts";

/** Releases or rejects memories that wait: those that are named, or a slice of those that match. */
export async function reviewMemories(
  { userMemory }: Pick<Services, "userMemory">,
  owner: Owner,
  {
    decision,
    memories,
    filter,
    by,
    cursor,
  }: Pick<ReviewMemoriesBody, "decision" | "filter"> & {
    memories: readonly Reviewing[];
    by: Writer;
    cursor: string | undefined;
  },
): Promise<Result<ReviewedMemories>> {
  const list = `review ${owner.hash} ${JSON.stringify([decision, filter ?? null])}`;
  const begun = decodeCursor(list, cursor, ["number", "number", "number"]);
  if (!begun.ok) return begun;
  const [upTo, at, version] = begun.value ?? [];
  const after =
    upTo === undefined || at === undefined || version === undefined ? undefined : { upTo, at, version };
  const which =
    filter === undefined
      ? { memories }
      : { matching: { filter, limit: limits.memoriesPerBatch, ...(after && { after }) } };
  const reviewed = await userMemory(owner.hash).reviewMemories(owner, { decision, by, ...which });
  if (!reviewed.ok) return reviewed;
  const { items, next } = reviewed.value;
  return ok({
    items,
    ...(next && { cursor: encodeCursor(list, [next.upTo, next.at, next.version]) }),
  });
}
