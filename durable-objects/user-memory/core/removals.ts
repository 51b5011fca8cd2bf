import { SqlStore } from "../../storage/sql.ts";

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
    for (let i = 0; i < (ids?.length ?? 1); i += IDS) {
      const some = JSON.stringify(ids?.slice(i, i + IDS) ?? null);
      this.sql.run`
        INSERT INTO removals (kind, n, at, ids, erasure)
        VALUES (${order}, ${next()}, ${this.#now()}, ${some}, ${erasure === true ? 1 : 0})`;
    }
  }

  between(order: ChangeOrder, [after, upTo]: readonly [number, number], limit: number): Removal[] {
    const rows = this.sql.rows<Row>`
      SELECT n, at, ids, erasure FROM removals
      WHERE kind = ${order} AND n > ${after} AND n <= ${upTo} ORDER BY n LIMIT ${limit}`;
    return rows.map(({ n, at, ids, erasure }) => ({
      n,
      at,
      ids: JSON.parse(ids) as string[] | null,
      ...(erasure === 1 && { erasure: true as const }),
    }));
  }

  /** The last number of an order; 0 if nothing was removed. */
  last(order: ChangeOrder): number {
    return this.sql.value`
      SELECT MAX(ifnull((SELECT MAX(n) FROM removals WHERE kind = ${order}), 0),
        ifnull((SELECT n FROM removals_pruned WHERE kind = ${order}), 0))`;
  }

  /** A reader who stands before this number has missed removals. */
  prunedUpTo(order: ChangeOrder): number {
    return this.sql.column<number>`SELECT n FROM removals_pruned WHERE kind = ${order}`[0] ?? 0;
  }

  /** Counts the things that were removed since a time: each id, all that went at once as one. */
  countSince(order: ChangeOrder, at: number): number {
    return this.sql.value`
      SELECT ifnull(SUM(ifnull(json_array_length(ids), 1)), 0) FROM removals
      WHERE kind = ${order} AND at > ${at} AND erasure = 0`;
  }

  /** True if an erasure began since a time. */
  erasedSince(at: number): boolean {
    return this.sql.has`SELECT 1 FROM removals WHERE at > ${at} AND erasure = 1 LIMIT 1`;
  }

  /** Numbers up to this one are used up: a reader who stands before it begins anew. */
  skipTo(order: ChangeOrder, n: number): void {
    this.sql.run`INSERT OR REPLACE INTO removals_pruned (kind, n) VALUES (${order}, ${n})`;
  }

  #prune(): void {
    const old = this.sql.rows<{ kind: ChangeOrder; n: number }>`
      SELECT kind, MAX(n) AS n FROM removals WHERE at < ${this.#now() - LIFE_MS} GROUP BY kind`;
    for (const { kind, n } of old) {
      this.sql.run`DELETE FROM removals WHERE kind = ${kind} AND n <= ${n}`;
      this.skipTo(kind, n);
    }
  }
}
