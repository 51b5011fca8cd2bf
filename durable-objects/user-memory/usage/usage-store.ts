import type { MemoryUsage } from "../../../src/domain/schema/usage.ts";

/** A recall or a context (`injected`) that showed memories. `query`: hashes of its words. `done`: its outcome is counted. */
export type ServedRecall = {
  id: string;
  at: number;
  memories: string[];
  injected: boolean;
  query: number[];
  done?: true;
};
type Row = { n: number; body: string };
export type Counts = Partial<Pick<MemoryUsage, "recalled" | "injected" | "used" | "usedLikely">> & {
  recalledAt?: number;
  usedAt?: number;
};

/**
 * The recalls of the last day, many in a row, and the counters of each memory. Owns the SQL of `recalls` and `memory_usage`.
 * A trigger deletes the counters of a memory with its last version.
 */
export class UsageStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores recalls in one row, in the order of their times. */
  add(recalls: readonly ServedRecall[]): void {
    this.#sql.exec(
      "INSERT INTO recalls (first_at, last_at, body) VALUES (?, ?, ?)",
      Math.min(...recalls.map(({ at }) => at)),
      Math.max(...recalls.map(({ at }) => at)),
      JSON.stringify(recalls),
    );
  }

  /** The recall with this id, which was served at `at`. */
  find(id: string, at: number): ServedRecall | null {
    const rows = this.#sql.exec<Row>("SELECT n, body FROM recalls WHERE ? BETWEEN first_at AND last_at", at);
    for (const { body } of rows) {
      const found = (JSON.parse(body) as ServedRecall[]).find((one) => one.id === id);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Notes that the outcome of a stored recall is counted. */
  markDone({ id, at }: ServedRecall): void {
    const rows = this.#sql
      .exec<Row>("SELECT n, body FROM recalls WHERE ? BETWEEN first_at AND last_at", at)
      .toArray();
    for (const { n, body } of rows) {
      const all = JSON.parse(body) as ServedRecall[];
      const found = all.find((one) => one.id === id);
      if (found === undefined) continue;
      found.done = true;
      this.#sql.exec("UPDATE recalls SET body = ? WHERE n = ?", JSON.stringify(all), n);
    }
  }

  /** Adds the recalls up to a time to the counters of their memories, and deletes them. */
  fold(upTo: number): void {
    const counts = this.#stored(upTo);
    if (counts.size === 0) return;
    this.count(counts);
    this.#sql.exec("DELETE FROM recalls WHERE last_at <= ?", upTo);
  }

  /** The counts of the stored recalls up to a time. */
  #stored(upTo = Number.MAX_SAFE_INTEGER): Map<string, Counts> {
    const counts = new Map<string, Counts>();
    const rows = this.#sql.exec<Row>("SELECT n, body FROM recalls WHERE last_at <= ?", upTo).toArray();
    for (const { memories, injected, at } of rows.flatMap(({ body }) => JSON.parse(body) as ServedRecall[]))
      for (const id of memories) {
        const { recalled = 0, injected: shown = 0, recalledAt = 0 } = counts.get(id) ?? {};
        counts.set(id, {
          recalled: recalled + (injected ? 0 : 1),
          injected: shown + (injected ? 1 : 0),
          recalledAt: Math.max(recalledAt, at),
        });
      }
    return counts;
  }

  /** Of memories that are gone nothing is counted. */
  count(counts: ReadonlyMap<string, Counts>): void {
    for (const [id, { recalled = 0, injected = 0, used = 0, usedLikely = 0, recalledAt, usedAt }] of counts)
      this.#sql.exec(
        `INSERT INTO memory_usage (id, recalled, injected, used, used_likely, recalled_at, used_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM memories WHERE id = ?1)
         ON CONFLICT (id) DO UPDATE SET recalled = recalled + ?2, injected = injected + ?3, used = used + ?4,
           used_likely = used_likely + ?5, recalled_at = MAX(ifnull(recalled_at, ?6), ifnull(?6, recalled_at)),
           used_at = MAX(ifnull(used_at, ?7), ifnull(?7, used_at))`,
        id,
        recalled,
        injected,
        used,
        usedLikely,
        recalledAt ?? null,
        usedAt ?? null,
      );
  }

  /**
   * The counters of memories, in the order of their ids, after one. `unusedSince`: of live memories from before then that were not
   * used since; without it, of those that have counters.
   */
  list({
    after,
    limit,
    unusedSince,
    now,
  }: {
    after: string;
    limit: number;
    unusedSince?: number;
    now: number;
  }): MemoryUsage[] {
    const columns = `recalled, injected, used, used_likely AS "usedLikely", recalled_at AS "lastRecalledAt", used_at AS "lastUsedAt"`;
    type Read = MemoryUsage & { lastRecalledAt: number | null; lastUsedAt: number | null };
    const rows =
      unusedSince === undefined
        ? this.#sql.exec<Read>(
            `SELECT id AS "memoryId", ${columns} FROM memory_usage WHERE id > ? ORDER BY id LIMIT ?`,
            after,
            limit,
          )
        : this.#sql.exec<Read>(
            `SELECT memories.id AS "memoryId", ${columns} FROM memories INDEXED BY memories_by_id
             LEFT JOIN memory_usage ON memory_usage.id = memories.id
             WHERE memories.id > ?1 AND corrected_at IS NULL AND status = 'active' AND created_at <= ?3
               AND (superseded_at IS NULL OR superseded_at > ?4) AND (valid_to IS NULL OR valid_to > ?4)
               AND valid_from <= ?4 AND (expires_at IS NULL OR expires_at >= ?4)
               AND (used_at IS NULL OR used_at <= ?3)
             ORDER BY memories.id LIMIT ?2`,
            after,
            limit,
            unusedSince,
            now,
          );
    const stored = this.#stored();
    const counted = rows.toArray().map(({ lastRecalledAt, lastUsedAt, ...row }) => {
      const { recalled = 0, injected = 0, recalledAt = 0 } = stored.get(row.memoryId) ?? {};
      stored.delete(row.memoryId);
      const last = Math.max(lastRecalledAt ?? 0, recalledAt);
      return {
        memoryId: row.memoryId,
        recalled: (row.recalled ?? 0) + recalled,
        injected: (row.injected ?? 0) + injected,
        used: row.used ?? 0,
        usedLikely: row.usedLikely ?? 0,
        ...(last > 0 && { lastRecalledAt: last }),
        ...(lastUsedAt !== null && { lastUsedAt }),
      };
    });
    if (unusedSince !== undefined) return counted;
    const others = [...stored]
      .filter(([id]) => id > after && this.#exists(id))
      .map(([memoryId, { recalled = 0, injected = 0, recalledAt = 0 }]) => {
        const row = { memoryId, recalled, injected, used: 0, usedLikely: 0 };
        return { ...row, lastRecalledAt: recalledAt };
      });
    return [...counted, ...others].toSorted((a, b) => (a.memoryId < b.memoryId ? -1 : 1)).slice(0, limit);
  }

  #exists(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM memories WHERE id = ? LIMIT 1", id).toArray().length > 0;
  }
}
