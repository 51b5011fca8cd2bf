import { decodeCursor, encodeCursor } from "../cursor.ts";
import { answered } from "../d1/answered.ts";
import type { MemoryRecords } from "../d1/memory-records.ts";
import type { MemoryRow } from "../d1/tables.ts";
import { fail, ok, type Result } from "../errors.ts";
import type { UserHash } from "../ids.ts";
import { byteLength, limits } from "../limits.ts";
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
  const filter = { order, ...(kinds && { kinds }), ...(tags && { tags }) };
  const rows: MemoryRow[] = [];
  let bytes = 0;
  for (let from = after; ;) {
    // One more than asked for tells whether there is a next page.
    const slice = Math.min(SLICE, limit + 1 - rows.length);
    const page = { ...filter, limit: slice, ...(from && { after: from }) };
    const read = await answered(() => records.list(owner, page));
    if (!read.ok) return read;
    rows.push(...read.value);
    bytes += read.value.reduce((sum, { text }) => sum + byteLength(text), 0);
    const last = rows.at(-1);
    const ended = read.value.length < slice;
    if (last === undefined || ended || rows.length > limit || bytes > limits.pageBytes)
      return ok(pageOf(rows, { limit, ended: ended && rows.length <= limit }));
    from = [last.createdAt, last.id];
  }
}

/** Rows that one statement reads of a page, so that a page of long texts can be cut short. */
const SLICE = 100;

function pageOf(
  rows: readonly MemoryRow[],
  { limit, ended }: { limit: number; ended: boolean },
): MemoriesPage {
  const items = rows.slice(0, limit).map(memoryOf);
  const last = items.at(-1);
  return { items, ...(!ended && last && { cursor: encodeCursor([last.createdAt, last.id]) }) };
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
