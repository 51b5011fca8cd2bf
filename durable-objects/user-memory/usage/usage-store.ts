import type { MemoryTable } from "../memories/memory-table.ts";
import type { MemoryUsage } from "../../../src/domain/schema/usage.ts";

/** A recall or a context (`injected`) that showed memories. `id`: a UUID v7. `done`: its outcome is counted. */
export type ServedRecall = {
  id: string;
  at: number;
  memories: string[];
  injected: boolean;
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
  readonly #memories: Pick<MemoryTable, "has" | "living">;

  constructor(sql: SqlStorage, memories: Pick<MemoryTable, "has" | "living">) {
    this.#sql = sql;
    this.#memories = memories;
  }

  /** Grows with each row that the object writes. */
  changes(): number {
    return this.#sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
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

  /** Counts nothing of memories that are gone. */
  count(counts: ReadonlyMap<string, Counts>): void {
    for (const [id, { recalled = 0, injected = 0, used = 0, usedLikely = 0, recalledAt, usedAt }] of counts)
      if (this.#memories.has(id))
        this.#sql.exec(
          `INSERT INTO memory_usage (id, recalled, injected, used, used_likely, recalled_at, used_at)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
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

  /** The counters of memories, in the order of their ids, after one. */
  list({ after, limit }: { after: string; limit: number }): MemoryUsage[] {
    const stored = this.#stored();
    const rows = this.#rows("id > ? ORDER BY id LIMIT ?", after, limit).map((row) => withStored(row, stored));
    const known = new Set(rows.map(({ memoryId }) => memoryId));
    const others = [...stored.keys()]
      .filter((id) => id > after && !known.has(id) && this.#memories.has(id))
      .map((id) => withStored({ ...NONE, memoryId: id }, stored));
    // A memory of the stored recalls that has a row is in a later page.
    const last = rows.length === limit ? (rows.at(-1)?.memoryId ?? "") : null;
    return [...rows, ...others.filter(({ memoryId }) => last === null || memoryId < last)]
      .toSorted((a, b) => (a.memoryId < b.memoryId ? -1 : 1))
      .slice(0, limit);
  }

  /** The counters of live memories from before a time that were not used since, in the order of their ids, after one. */
  unused({
    after,
    limit,
    since,
    now,
  }: {
    after: string;
    limit: number;
    since: number;
    now: number;
  }): MemoryUsage[] {
    const stored = this.#stored();
    const found: MemoryUsage[] = [];
    for (let last = after; found.length < limit;) {
      const ids = this.#memories.living({ after: last, createdUpTo: since, now, limit: SLICE });
      const rows = this.#rows("id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
      const counters = new Map(rows.map((row) => [row.memoryId, row]));
      for (const id of ids) {
        const usage = withStored(counters.get(id) ?? { ...NONE, memoryId: id }, stored);
        if ((usage.lastUsedAt ?? 0) <= since && found.length < limit) found.push(usage);
      }
      last = ids.at(-1) ?? last;
      if (ids.length < SLICE) break;
    }
    return found;
  }

  #rows(where: string, ...bindings: (string | number)[]): MemoryUsage[] {
    type Read = typeof NONE & { memoryId: string; lastRecalledAt: number | null; lastUsedAt: number | null };
    return this.#sql
      .exec<Read>(
        `SELECT id AS "memoryId", recalled, injected, used, used_likely AS "usedLikely",
           recalled_at AS "lastRecalledAt", used_at AS "lastUsedAt" FROM memory_usage WHERE ${where}`,
        ...bindings,
      )
      .toArray()
      .map(({ lastRecalledAt, lastUsedAt, ...row }) => ({
        ...row,
        ...(lastRecalledAt !== null && { lastRecalledAt }),
        ...(lastUsedAt !== null && { lastUsedAt }),
      }));
  }
}

const NONE = { recalled: 0, injected: 0, used: 0, usedLikely: 0 };
/** Memories that one step looks at. */
const SLICE = 500;

/** The counters with the counts of recalls that are not added yet. */
function withStored(row: MemoryUsage, stored: ReadonlyMap<string, Counts>): MemoryUsage {
  const { recalled = 0, injected = 0, recalledAt = 0 } = stored.get(row.memoryId) ?? {};
  const last = Math.max(row.lastRecalledAt ?? 0, recalledAt);
  return {
    ...row,
    recalled: row.recalled + recalled,
    injected: row.injected + injected,
    ...(last > 0 && { lastRecalledAt: last }),
  };
}
