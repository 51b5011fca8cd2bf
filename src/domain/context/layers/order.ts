import type { MemoryRow } from "../../memory/table.ts";

/** Memories with this tag come first. */
export const PINNED = "pinned";
/** The importance of a memory without one. */
const USUAL_IMPORTANCE = 0.5;

/** Pinned ones first, then by importance, then the newest. */
export const bestFirst = (rows: readonly MemoryRow[]): MemoryRow[] =>
  rows.toSorted(
    (a, b) =>
      Number(b.tags.includes(PINNED)) - Number(a.tags.includes(PINNED)) ||
      (b.importance ?? USUAL_IMPORTANCE) - (a.importance ?? USUAL_IMPORTANCE) ||
      b.updatedAt - a.updatedAt ||
      b.version - a.version,
  );

export const newestFirst = (rows: readonly MemoryRow[]): MemoryRow[] =>
  rows.toSorted((a, b) => b.createdAt - a.createdAt || b.version - a.version);
