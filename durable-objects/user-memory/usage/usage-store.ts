import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import type { MemoryUsage } from "../../../src/domain/schema/usage.ts";

/**
 * A recall or a context (`injected`) and the versions of memories that it showed. `id`: a UUID v7. `done`: its outcome is counted.
 */
export type ServedRecall = { id: string; versions: readonly number[]; injected?: true; done?: true };
export type Counts = Omit<MemoryUsage, "memoryId">;
type Counters = Map<string, Counts>;
/** In the order of `Counts`; 0 for no time. */
type StoredCounts = [number, number, number, number, number, number];
type Row = { n: number; folded_at: number; log: string; counters: string };

type UsageStoreDependencies = {
  sql: SqlStorage;
  memories: Pick<MemoryTable, "has" | "idsOf" | "living">;
  threads: Pick<ThreadStore, "recalls" | "setRecalls">;
  transactions: Pick<Transactions, "atomically">;
};

/** The time that an outcome can be told; then the recall is a number in the counters of its memories. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** Characters of a log: a thread's row is read with each of its appends. */
const MOST_OF_THREAD = 32_000;
/** Characters of the log of a row, and as many of its counters, before the last ones are added. A row holds 2 MB. */
const MOST_OF_ROW = 400_000;
/** The pause after a fold that failed. */
const FOLD_AGAIN_MS = 60 * 60 * 1000;
/** Memories that one step looks at. */
const SLICE = 500;
const NONE: Counts = { recalled: 0, injected: 0, used: 0, usedLikely: 0 };

/**
 * The recalls of the last day and the counters of memories, both as JSON. An append takes recalls along in its thread's row, which
 * it writes anyway; other writes add them to the log of `memory_usage`. Once a day the old ones are folded into the counters. Owns
 * the SQL of `memory_usage`, whose last row is written and whose other rows are full.
 */
export class UsageStore {
  readonly #deps: UsageStoreDependencies;
  #foldsFrom = 0;

  constructor(deps: UsageStoreDependencies) {
    this.#deps = deps;
  }

  /** Grows with each row that the object writes. */
  changes(): number {
    return this.#deps.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
  }

  /** The log of a thread with these recalls, for its row. Null if that is too long. Folds first, if a day has passed. */
  withinThread(thread: number, recalls: readonly ServedRecall[], now: number): string | null {
    const [own] = this.#deps.threads.recalls(thread);
    let log = own === undefined ? [] : logOf(own.recalls);
    if (this.#foldIfDue(now, thread)) log = log.filter(isLaterThan(now - KEPT_MS));
    const all = JSON.stringify([...log, ...recalls]);
    if (all.length <= MOST_OF_THREAD) return all;
    // A fold has counted what it leaves out.
    if (own !== undefined) this.#deps.threads.setRecalls(thread, JSON.stringify(log));
    return null;
  }

  /** Adds recalls and counts in one row. Folds first, if a day has passed. */
  add(
    {
      recalls,
      counts = new Map(),
    }: { recalls: readonly ServedRecall[]; counts?: ReadonlyMap<string, Counts> },
    now: number,
  ): void {
    this.#foldIfDue(now);
    const last = this.#last();
    const counters = countersOf(last.counters);
    addAll(counters, counts);
    const row = {
      ...last,
      counters: textOf(counters),
      log: JSON.stringify([...logOf(last.log), ...recalls]),
    };
    this.#put(row);
    if (row.log.length > MOST_OF_ROW || row.counters.length > MOST_OF_ROW)
      this.#put({ n: last.n + 1, folded_at: last.folded_at, log: "[]", counters: "{}" });
  }

  /** True if a recall is stored; "done" if its outcome is. */
  has(id: string): boolean | "done" {
    const found = this.#logs().filter((one) => one.id === id);
    return found.some(({ done }) => done === true) ? "done" : found.length > 0;
  }

  /** The counters of memories, in the order of their ids, after one. `more`: recalls that are not stored yet. */
  list(page: { after: string; limit: number }, more: readonly ServedRecall[]): MemoryUsage[] {
    const counters = this.#all(more);
    const found: MemoryUsage[] = [];
    for (const id of [...counters.keys()].filter((one) => one > page.after).toSorted()) {
      if (found.length === page.limit) break;
      if (this.#deps.memories.has(id)) found.push({ memoryId: id, ...(counters.get(id) ?? NONE) });
    }
    return found;
  }

  /** The counters of live memories from before a time that were not used since, in the order of their ids, after one. */
  unused(
    { after, limit, since, now }: { after: string; limit: number; since: number; now: number },
    more: readonly ServedRecall[],
  ): MemoryUsage[] {
    const counters = this.#all(more);
    const found: MemoryUsage[] = [];
    for (let last = after; found.length < limit;) {
      const ids = this.#deps.memories.living(last, { createdUpTo: since, now }, SLICE);
      for (const id of ids) {
        const counts = counters.get(id) ?? NONE;
        if ((counts.lastUsedAt ?? 0) <= since && found.length < limit)
          found.push({ memoryId: id, ...counts });
      }
      last = ids.at(-1) ?? last;
      if (ids.length < SLICE) break;
    }
    return found;
  }

  /** Returns true if it folded. A fold that fails fails no write: the recalls stay, and are counted from the log. */
  #foldIfDue(now: number, written?: number): boolean {
    if (now < this.#foldsFrom || !this.#isDue(now)) return false;
    try {
      this.#deps.transactions.atomically(() => this.#fold(now, written));
      return true;
    } catch (error) {
      console.error({ message: "the recalls of a day were not folded", error: String(error) });
      this.#foldsFrom = now + FOLD_AGAIN_MS;
      return false;
    }
  }

  #isDue(now: number): boolean {
    const { sql } = this.#deps;
    const [row] = sql
      .exec<Pick<Row, "folded_at">>("SELECT folded_at FROM memory_usage ORDER BY n DESC LIMIT 1")
      .toArray();
    return row === undefined || row.folded_at <= now - KEPT_MS;
  }

  /** Makes numbers of recalls from a day ago, and drops the counters of memories that are gone. `written`: a thread's row that is written next. */
  #fold(now: number, written?: number): void {
    const { sql, memories, threads } = this.#deps;
    const isLater = isLaterThan(now - KEPT_MS);
    const [rows, inThreads] = [this.#rows(), threads.recalls()];
    const log = rows.flatMap((row) => logOf(row.log));
    const counters: Counters = new Map();
    for (const row of rows) addAll(counters, countersOf(row.counters));
    const old = [...log, ...inThreads.flatMap(({ recalls }) => logOf(recalls))].filter(
      (one) => !isLater(one),
    );
    addAll(counters, this.#counted(old));
    for (const { n, recalls } of inThreads) {
      const kept = logOf(recalls).filter(isLater);
      if (n !== written && kept.length < logOf(recalls).length)
        threads.setRecalls(n, kept.length === 0 ? null : JSON.stringify(kept));
    }
    const entries = [...counters].filter(([id]) => memories.has(id));
    const logs = dealt(log.filter(isLater), (one) => JSON.stringify(one));
    const counts = dealt(entries, (one) => textOf(new Map([one])));
    const last = Math.max(logs.length, counts.length, 1) - 1;
    for (let n = 0; n <= last; n++)
      this.#put({
        n,
        folded_at: now,
        log: JSON.stringify(logs[n] ?? []),
        counters: textOf(new Map(counts[n])),
      });
    sql.exec("DELETE FROM memory_usage WHERE n > ?", last);
  }

  #all(more: readonly ServedRecall[]): Counters {
    const counters: Counters = new Map();
    for (const row of this.#rows()) addAll(counters, countersOf(row.counters));
    addAll(counters, this.#counted([...this.#logs(), ...more]));
    return counters;
  }

  /** The counts of recalls, by the memories that their versions are of. */
  #counted(recalls: readonly ServedRecall[]): Counters {
    const ids = this.#deps.memories.idsOf([...new Set(recalls.flatMap(({ versions }) => versions))]);
    const counters: Counters = new Map();
    for (const { id: recall, versions, injected } of recalls) {
      const shown = new Set(versions.flatMap((version) => ids.get(version) ?? []));
      const one = { ...NONE, [injected ? "injected" : "recalled"]: 1, lastRecalledAt: timeOf(recall) };
      addAll(counters, new Map(Array.from(shown, (id) => [id, one])));
    }
    return counters;
  }

  #logs(): ServedRecall[] {
    const rows = this.#deps.sql.exec<Pick<Row, "log">>("SELECT log FROM memory_usage").toArray();
    return [
      ...rows.flatMap(({ log }) => logOf(log)),
      ...this.#deps.threads.recalls().flatMap(({ recalls }) => logOf(recalls)),
    ];
  }

  #rows(): Row[] {
    return this.#deps.sql.exec<Row>("SELECT * FROM memory_usage ORDER BY n").toArray();
  }

  #last(): Row {
    const [row] = this.#deps.sql.exec<Row>("SELECT * FROM memory_usage ORDER BY n DESC LIMIT 1").toArray();
    return row ?? { n: 0, folded_at: 0, log: "[]", counters: "{}" };
  }

  #put({ n, folded_at, log, counters }: Row): void {
    this.#deps.sql.exec(
      `INSERT INTO memory_usage (n, folded_at, log, counters) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (n) DO UPDATE SET folded_at = ?2, log = ?3, counters = ?4`,
      n,
      folded_at,
      log,
      counters,
    );
  }
}

/** The time in a UUID v7: its first 48 bits are the milliseconds since the epoch. */
export const timeOf = (uuid: string): number => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);

const isLaterThan =
  (time: number) =>
  ({ id }: ServedRecall): boolean =>
    timeOf(id) > time;

const logOf = (text: string): ServedRecall[] => JSON.parse(text) as ServedRecall[];

/** Deals items out over rows, by the length of their texts. */
function dealt<T>(items: readonly T[], textFor: (item: T) => string): T[][] {
  const rows: T[][] = [];
  let room = 0;
  for (const item of items) {
    const { length } = textFor(item);
    if (room < length) {
      rows.push([]);
      room = MOST_OF_ROW;
    }
    room -= length;
    rows.at(-1)?.push(item);
  }
  return rows;
}

function addAll(counters: Counters, more: ReadonlyMap<string, Counts>): void {
  for (const [id, counts] of more) {
    const before = counters.get(id) ?? NONE;
    const [recalledAt, usedAt] = (["lastRecalledAt", "lastUsedAt"] as const).map((time) =>
      Math.max(before[time] ?? 0, counts[time] ?? 0),
    ) as [number, number];
    counters.set(id, {
      recalled: before.recalled + counts.recalled,
      injected: before.injected + counts.injected,
      used: before.used + counts.used,
      usedLikely: before.usedLikely + counts.usedLikely,
      ...(recalledAt > 0 && { lastRecalledAt: recalledAt }),
      ...(usedAt > 0 && { lastUsedAt: usedAt }),
    });
  }
}

const textOf = (counters: Counters): string =>
  JSON.stringify(
    Object.fromEntries(
      Array.from(
        counters,
        ([id, { recalled, injected, used, usedLikely, lastRecalledAt = 0, lastUsedAt = 0 }]) => [
          id,
          [recalled, injected, used, usedLikely, lastRecalledAt, lastUsedAt] satisfies StoredCounts,
        ],
      ),
    ),
  );

function countersOf(text: string): Counters {
  const stored = Object.entries(JSON.parse(text) as Record<string, StoredCounts>);
  return new Map(
    stored.map(([id, [recalled, injected, used, usedLikely, recalledAt, usedAt]]) => [
      id,
      {
        recalled,
        injected,
        used,
        usedLikely,
        ...(recalledAt > 0 && { lastRecalledAt: recalledAt }),
        ...(usedAt > 0 && { lastUsedAt: usedAt }),
      },
    ]),
  );
}
