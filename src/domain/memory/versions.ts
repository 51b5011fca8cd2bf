import type { PatchMemoryBody, RememberBody } from "../schema/memory.ts";
import type { Draft } from "./draft.ts";
import { type NewMemory, newRow, type Owner } from "./record.ts";
import type { MemoryRow } from "./table.ts";

export const NOT_AHEAD = "is not in the future";

/** Ends facts. Their history stays, and they can be restored. */
export function endAll(draft: Draft, rows: readonly MemoryRow[], at: number): void {
  for (const row of rows) amend(draft, row, { validTo: at, updatedAt: row.updatedAt });
}

/** True if a version ends after this time, or not at all, by what its caller said. */
export const goesOn = ({ validTo }: Pick<MemoryRow, "validTo">, from: number): boolean =>
  validTo === null || validTo > from;

/** Usually seconds in place of milliseconds. The memory would expire at once, with its history. */
export const isOver = ({ expiresAt }: RememberBody | PatchMemoryBody, time: number): boolean =>
  typeof expiresAt === "number" && expiresAt <= time;

export const neverTrue = ({ validFrom, validTo }: MemoryRow): boolean =>
  validTo !== null && validTo <= validFrom;

export const changesAnything = (row: MemoryRow, changes: Partial<MemoryRow>): boolean =>
  Object.entries(changes).some(
    // The fields are those of the row.
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(row[field as keyof MemoryRow]),
  );

/** The version of a memory that is true now; else the last one. */
export function currentOf(draft: Draft, id: string): MemoryRow | null {
  const rows = draft.current(id);
  return rows.findLast(({ validFrom }) => validFrom <= draft.time) ?? rows.at(-1) ?? null;
}

export function begin(draft: Draft, owner: Owner, candidate: NewMemory): MemoryRow {
  const { id } = candidate.identity;
  const rows = id === null ? [] : draft.current(id);
  // The rows of an expired memory may still exist.
  if (id !== null && rows.length === 0) draft.forget(id);
  const fresh = newRow(owner, candidate, { id, version: draft.nextVersion(), time: draft.time });
  // A changed fact keeps its place in lists, so that a reader of pages misses none.
  const createdAt = rows.reduce((first, row) => Math.min(first, row.createdAt), fresh.createdAt);
  const row = { ...fresh, createdAt };
  draft.put(row);
  return row;
}

/** Replaces a version by a new one, if anything changes. A repeat changes nothing, not even `updatedAt`, unless it gives one. */
export function amend(draft: Draft, row: MemoryRow, changes: Partial<MemoryRow>): MemoryRow {
  const updatedAt = Math.max(changes.updatedAt ?? draft.time, row.updatedAt);
  if (!changesAnything(row, changes)) return row;
  const fresh = {
    ...row,
    ...changes,
    version: draft.nextVersion(),
    updatedAt,
    recordedAt: draft.time,
    supersededAt: null,
    supersededBy: null,
  };
  draft.put({ ...row, correctedAt: draft.time });
  draft.put(fresh);
  link(draft, row.id);
  return draft.version(row.id, fresh.version) ?? fresh;
}

/** Sets in each version which one is true after it. */
export function link(draft: Draft, id: string): void {
  const rows = draft.current(id);
  for (const [i, row] of rows.entries()) {
    const [supersededAt, supersededBy] = [rows[i + 1]?.validFrom ?? null, rows[i + 1]?.version ?? null];
    if (row.supersededAt !== supersededAt || row.supersededBy !== supersededBy)
      draft.put({ ...row, supersededAt, supersededBy });
  }
}
