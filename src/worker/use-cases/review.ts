import { conditionOnVersion } from "../../domain/conditions.ts";
import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Owner, Writer } from "../../domain/memory/record.ts";
import type { ReviewedMemories, ReviewMemoriesBody } from "../../domain/schema/review.ts";
import type { Services } from "../services.ts";

/** Releases or rejects memories that wait: those that are named, or a slice of those that match. */
export async function reviewMemories(
  { userMemory }: Pick<Services, "userMemory">,
  owner: Owner,
  {
    decision,
    memories = [],
    filter,
    by,
    cursor,
  }: ReviewMemoriesBody & { by: Writer; cursor?: string | undefined },
): Promise<Result<ReviewedMemories>> {
  const list = `review ${owner.hash} ${JSON.stringify([decision, filter ?? null])}`;
  const begun = decodeCursor(list, cursor, ["number", "number", "number"]);
  if (!begun.ok) return begun;
  const [upTo = 0, at = 0, version = 0] = begun.value ?? [];
  const after = begun.value && { upTo, at, version };
  const which =
    filter === undefined
      ? { memories: memories.map(({ id, ifVersion }) => ({ id, condition: conditionOnVersion(ifVersion) })) }
      : { matching: { filter, limit: limits.memoriesPerBatch, ...(after && { after }) } };
  const reviewed = await userMemory(owner.hash).reviewMemories(owner, { decision, by, ...which });
  if (!reviewed.ok) return reviewed;
  const { items, next } = reviewed.value;
  return ok({ items, ...(next && { cursor: encodeCursor(list, [next.upTo, next.at, next.version]) }) });
}
