import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { Moment } from "../../platform/d1/memory-filter.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import { present } from "../../domain/present.ts";
import { byteLength, limits } from "../../domain/limits.ts";
import { filterOf, type ListMemoriesQuery, type SortKey } from "../../domain/schema/memory-filter.ts";
import type { Memory, PastMemory } from "../../domain/schema/memory.ts";
import type { Services } from "../services.ts";
import { memoryOf, pastMemoryOf } from "../../domain/memory/record.ts";
import type { MemoryRow } from "../../domain/memory/table.ts";

export type Page<T> = { items: T[]; cursor?: string };
/** The transaction time and the valid time of a read. */
type At = { asOf?: number | undefined; validAt?: number | undefined };
type Needs = Pick<Services, "records" | "now">;

/** A page of a user's memories, straight from the record. */
export async function listMemories(
  { records, now }: Needs,
  owner: UserHash,
  query: ListMemoriesQuery & { unscoped?: true },
): Promise<Result<Page<Memory>>> {
  const { sort = "createdAt", order = "desc", limit = 50, cursor } = query;
  const list = `memories ${owner}`;
  const decoded = decodeCursor(list, cursor, ["string", "string", "number", "string"]);
  if (!decoded.ok) return decoded;
  const begun = decoded.value;
  if (begun && (begun[0] !== sort || begun[1] !== order)) return invalidCursor;
  const page = { filter: filterOf(query), moment: momentOf(now(), query), sort, order };
  return readPage({
    limit,
    after: begun && ([begun[2], begun[3]] as const),
    keyOf: (row) => [sortKey(row, sort), row.id] as const,
    read: (after, slice) => records.list(owner, { ...page, limit: slice, ...(after && { after }) }),
    show: memoryOf,
    cursorOf: (key) => encodeCursor(list, [sort, order, ...key]),
  });
}

type ById = Needs & Pick<Services, "userMemory">;

/** One memory, straight from the record. */
export async function getMemory(
  needs: ById,
  owner: UserHash,
  { id, at }: { id: string; at: At },
): Promise<Result<Memory>> {
  const { records, userMemory, now } = needs;
  const row = await ofEitherId(needs, owner, id, async (one) => {
    const result = await d1Result(() => records.get(owner, one, momentOf(now(), at)));
    return result.ok && result.value === undefined ? fail("not_found") : result;
  });
  if (!row.ok) return row;
  if (row.value === undefined) return fail("not_found");
  return ok({ ...memoryOf(row.value), indexing: await userMemory(owner).indexingOf(row.value.version) });
}

/** A page of a memory's versions, the newest first. */
export function memoryHistory(
  needs: ById,
  owner: UserHash,
  { id, ...page }: { id: string; limit?: number | undefined; cursor?: string | undefined },
): Promise<Result<Page<PastMemory>>> {
  return ofEitherId(needs, owner, id, (one) => historyOf(needs, owner, { id: one, ...page }));
}

async function historyOf(
  { records, now }: Needs,
  owner: UserHash,
  { id, limit = 50, cursor }: { id: string; limit?: number | undefined; cursor?: string | undefined },
): Promise<Result<Page<PastMemory>>> {
  const list = `history ${owner} ${id}`;
  const before = decodeCursor(list, cursor, ["number"]);
  if (!before.ok) return before;
  const page = await readPage({
    limit,
    after: before.value,
    keyOf: ({ version }) => [version] as const,
    read: (after, slice) =>
      records.history(owner, id, { limit: slice, now: now(), ...(after && { before: after[0] }) }),
    show: pastMemoryOf,
    cursorOf: (key) => encodeCursor(list, key),
  });
  return page.ok && page.value.items.length === 0 && cursor === undefined ? fail("not_found") : page;
}

/** What is read by an id; if there is none, by the id of the memory that it became when it was released from quarantine. */
async function ofEitherId<T>(
  { userMemory }: Pick<Services, "userMemory">,
  owner: UserHash,
  id: string,
  read: (id: string) => Promise<Result<T>>,
): Promise<Result<T>> {
  const result = await read(id);
  if (result.ok || (result.code !== "not_found" && result.code !== "invalid_cursor")) return result;
  const became = await userMemory(owner).memoryIdOf(id);
  return became === null || became === id ? result : read(became);
}

const momentOf = (now: number, { asOf, validAt }: At): Moment => ({ now, ...present({ asOf, validAt }) });

/** A memory without a score sorts below all scores. */
const sortKey = (row: MemoryRow, sort: SortKey): number => row[sort] ?? -1;

/** Rows that one statement reads, so that a page of long texts can end early. */
const SLICE = 100;

/** Reads a page of at most `limit` rows, and of about `limits.pageBytes`. */
async function readPage<T, Key extends readonly (string | number)[]>({
  limit,
  after,
  keyOf,
  read,
  show,
  cursorOf,
}: {
  limit: number;
  after: Key | undefined;
  keyOf: (row: MemoryRow) => Key;
  read: (after: Key | undefined, limit: number) => Promise<MemoryRow[]>;
  show: (row: MemoryRow) => T;
  cursorOf: (key: Key) => string;
}): Promise<Result<Page<T>>> {
  const rows: MemoryRow[] = [];
  let bytes = 0;
  for (let from = after; ;) {
    // One row more than the limit, to know whether there are more.
    const slice = Math.min(SLICE, limit + 1 - rows.length);
    const some = await d1Result(() => read(from, slice));
    if (!some.ok) return some;
    rows.push(...some.value);
    bytes += some.value.reduce((sum, row) => sum + byteLength(JSON.stringify(row)), 0);
    const last = rows.at(-1);
    const ended = some.value.length < slice;
    if (last === undefined || ended || rows.length > limit || bytes > limits.pageBytes) {
      const items = rows.slice(0, limit);
      const end = items.at(-1);
      const more = (!ended || rows.length > limit) && end !== undefined;
      return ok({ items: items.map(show), ...(more && { cursor: cursorOf(keyOf(end)) }) });
    }
    from = keyOf(last);
  }
}
