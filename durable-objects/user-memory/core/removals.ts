import { SqlStore } from "./sql-store.ts";

/** The two orders of a user's changes: of memories, by their versions, and of threads. */
export type ChangeOrder = "memory" | "thread";
/** Things that were deleted in one step, by their ids; or an erasure that began. `n`: the place in the order. */
export type Removal = { n: number; at: number; ids: string[] | null; erasure?: true };

type Row = { n: number; at: number; ids: string; erasure: number };

/** The time that removals are kept for readers of the changes. */
const LIFE_MS = 30 * 24 * 60 * 60 * 1000;
/** Ids in one row: a page of 1,000 changes is 4 MB at most. */
const IDS = 100;

/**
 * Notes what was deleted, as a deleted thing leaves no row to tell of it. Holds ids, no texts. Owns the SQL of `removals` and
 * `removals_pruned`.
 */
export class Removals extends SqlStore {
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    super(sql);
    this.#now = now;
  }

  /** `next`: gives the next number of the order. `ids`: null for all. */
  add(
    order: ChangeOrder,
    next: () => number,
    { ids, erasure }: { ids: readonly string[] | null; erasure?: true },
  ): void {
    this.#prune();
    for (let i = 0; i < (ids?.length ?? 1); i += IDS)
      this.exec("INSERT INTO removals (kind, n, at, ids, erasure) VALUES (?, ?, ?, ?, ?)", [
        order,
        next(),
        this.#now(),
        JSON.stringify(ids?.slice(i, i + IDS) ?? null),
        erasure === true ? 1 : 0,
      ]);
  }

  between(order: ChangeOrder, [after, upTo]: readonly [number, number], limit: number): Removal[] {
    return this.rows<Row>(
      "SELECT n, at, ids, erasure FROM removals WHERE kind = ? AND n > ? AND n <= ? ORDER BY n LIMIT ?",
      [order, after, upTo, limit],
    ).map(({ n, at, ids, erasure }) => ({
      n,
      at,
      ids: JSON.parse(ids) as string[] | null,
      ...(erasure === 1 && { erasure: true as const }),
    }));
  }

  /** The last number of an order; 0 if nothing was removed. */
  last(order: ChangeOrder): number {
    return this.value(
      `SELECT MAX(ifnull((SELECT MAX(n) FROM removals WHERE kind = ?1), 0),
         ifnull((SELECT n FROM removals_pruned WHERE kind = ?1), 0))`,
      [order],
    );
  }

  /** A reader who stands before this number has missed removals. */
  prunedUpTo(order: ChangeOrder): number {
    return this.row<{ n: number }>("SELECT n FROM removals_pruned WHERE kind = ?", [order])?.n ?? 0;
  }

  /** Counts the things that were removed since a time: each id, all that went at once as one. */
  countSince(order: ChangeOrder, at: number): number {
    return this.value(
      `SELECT ifnull(SUM(ifnull(json_array_length(ids), 1)), 0) FROM removals
       WHERE kind = ? AND at > ? AND erasure = 0`,
      [order, at],
    );
  }

  /** True if an erasure began since a time. */
  erasedSince(at: number): boolean {
    return this.selects("SELECT 1 FROM removals WHERE at > ? AND erasure = 1 LIMIT 1", [at]);
  }

  /** Numbers up to this one are used up: a reader who stands before it begins anew. */
  skipTo(order: ChangeOrder, n: number): void {
    this.exec("INSERT OR REPLACE INTO removals_pruned (kind, n) VALUES (?, ?)", [order, n]);
  }

  #prune(): void {
    const old = this.rows<{ kind: ChangeOrder; n: number }>(
      "SELECT kind, MAX(n) AS n FROM removals WHERE at < ? GROUP BY kind",
      [this.#now() - LIFE_MS],
    );
    for (const { kind, n } of old) {
      this.exec("DELETE FROM removals WHERE kind = ? AND n <= ?", [kind, n]);
      this.skipTo(kind, n);
    }
  }
}
