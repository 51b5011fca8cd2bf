import { decodeCursor, encodeCursor } from "../cursor.ts";
import { answered } from "../d1/answered.ts";
import type { MemoryRecords } from "../d1/memory-records.ts";
import { fail, ok, type Result } from "../errors.ts";
import type { UserHash } from "../ids.ts";
import type { Memory, MemoryKind } from "../schema/memory.ts";
import { memoryOf } from "./record.ts";

export type MemoriesQuery = {
  kind?: MemoryKind[];
  tag?: string[];
  order?: "asc" | "desc";
  limit?: number;
  cursor?: string;
};
export type MemoriesPage = { items: Memory[]; cursor?: string };

/** A page of a user's memories by age, straight from the record. */
export async function listMemories(
  records: MemoryRecords,
  owner: UserHash,
  { kind: kinds, tag: tags, order = "desc", limit = 50, cursor }: MemoriesQuery,
): Promise<Result<MemoriesPage>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, ["number", "string"]);
  if (after === null) return fail("invalid_cursor");
  // One more than asked for tells whether there is a next page.
  const page = {
    order,
    limit: limit + 1,
    ...(kinds && { kinds }),
    ...(tags && { tags }),
    ...(after && { after }),
  };
  const rows = await answered(() => records.list(owner, page));
  if (!rows.ok) return rows;
  const items = rows.value.slice(0, limit).map(memoryOf);
  const last = items.at(-1);
  return ok({
    items,
    ...(rows.value.length > limit && last && { cursor: encodeCursor([last.createdAt, last.id]) }),
  });
}

/** One memory, straight from the record. */
export async function getMemory(
  records: MemoryRecords,
  owner: UserHash,
  id: string,
): Promise<Result<Memory>> {
  const row = await answered(() => records.get(owner, id));
  if (!row.ok) return row;
  return row.value === undefined ? fail("not_found") : ok(memoryOf(row.value));
}
