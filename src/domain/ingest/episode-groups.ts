import type { MemoryRow } from "../memory/table.ts";

/** Episodes of one summary: fewer stay as they are, and more are several summaries. */
const [FEWEST, MOST] = [8, 32];

/** The first moment of the month (UTC) of a time. */
export const monthOf = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
};

/** The episodes that one summary each may tell: of one scope and month, in the order of their time, the oldest group first. */
export function episodeGroups<T extends Pick<MemoryRow, "scope" | "createdAt">>(
  episodes: readonly T[],
): T[][] {
  const inOrder = episodes.toSorted((a, b) => a.createdAt - b.createdAt);
  const together = Map.groupBy(inOrder, ({ scope, createdAt }) =>
    JSON.stringify([scope, monthOf(createdAt)]),
  );
  return [...together.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / MOST) }, (_, i) =>
      all.slice(i * MOST, (i + 1) * MOST),
    ).filter((group) => group.length >= FEWEST),
  );
}
