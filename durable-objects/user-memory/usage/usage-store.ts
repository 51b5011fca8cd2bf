import { Sql } from "../../storage/sql.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import type { MemoryUsage } from "../../../src/domain/schema/usage.ts";

/**
 * A recall or a context (`injected`) and the versions of memories that it showed. `id`: a UUID v7. `done`: its outcome is counted.
 */
export type ServedRecall = { id: string; versions: readonly number[]; injected?: true; done?: true };
/** The counters of a memory, as they are stored; 0 for no time. */
export type Counts = readonly [
  recalled: number,
  injected: number,
  used: number,
  usedLikely: number,
  lastRecalledAt: number,
  lastUsedAt: number,
];
type Counters = Map<string, Counts>;
type Row = { n: number; folded_at: number; log: string; counters: string };

type UsageStoreDependencies = {
  sql: SqlStorage;
  memories: Pick<MemoryTable, "has" | "idsOf" | "living">;
  threads: Pick<ThreadStore, "recalls" | "setRecalls">;
  transactions: Pick<Transactions, "atomically">;
};

/** The time that an outcome can be told; then the recall is a number in the counters of its memories. */
export const OUTCOME_MS = 24 * 60 * 60 * 1000;
/** Characters of a log: a thread's row is read with each of its appends. */
const MOST_OF_THREAD = 32_000;
/** Characters of the log of a row, and as many of its counters, before the last ones are added. A row holds 2 MB. */
const MOST_OF_ROW = 400_000;
/** The pause after a fold that failed. */
const FOLD_AGAIN_MS = 60 * 60 * 1000;
/** Memories that one step looks at. */
const SLICE = 500;
const NONE: Counts = [0, 0, 0, 0, 0, 0];

/**
 * The recalls of the last day and the counters of memories, both as JSON. An append takes recalls along in its thread's row, which
 * it writes anyway; other writes add them to the log of `memory_usage`. Once a day the old ones are folded into the counters. Owns
 * the SQL of `memory_usage`, whose last row is written and whose other rows are full.
 */
export class UsageStore {
  readonly #deps: UsageStoreDependencies;
  readonly #sql: Sql;
  #foldsFrom = 0;

  constructor(deps: UsageStoreDependencies) {
    this.#deps = deps;
    this.#sql = new Sql(deps.sql);
  }

  /** Grows with each row that the object writes. */
  changes(): number {
    return this.#sql.value`SELECT total_changes()`;
  }

  /** The log of a thread with these recalls, for its row. Null if that is too long. Folds first, if a day has passed. */
  withinThread(thread: number, recalls: readonly ServedRecall[], now: number): string | null {
    const [own] = this.#deps.threads.recalls(thread);
    let log = own === undefined ? [] : logOf(own.recalls);
    if (this.#foldIfDue(now, thread)) log = log.filter(isLaterThan(now - OUTCOME_MS));
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
    const counters = new Map(countersOf(last.counters));
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

  /**
   * The counters of memories, in the order of their ids, after one. `unused`: those of live memories from before a time that were
   * not used since. `more`: recalls that are not stored yet.
   */
  list(
    { after, limit, unused }: { after: string; limit: number; unused?: { since: number; now: number } },
    more: readonly ServedRecall[],
  ): MemoryUsage[] {
    const counters = this.#all(more);
    const ids =
      unused === undefined
        ? Iterator.from([...counters.keys()].toSorted()).filter(
            (id) => id > after && this.#deps.memories.has(id),
          )
        : this.#living(after, unused).filter((id) => (counters.get(id) ?? NONE)[5] <= unused.since);
    return ids
      .take(limit)
      .map((id) => usageOf(id, counters))
      .toArray();
  }

  /** The ids of live memories that were created up to a time, read a slice at a time. */
  *#living(after: string, { since, now }: { since: number; now: number }): Generator<string> {
    for (let last = after; ;) {
      const ids = this.#deps.memories.living(last, { createdUpTo: since, now }, SLICE);
      yield* ids;
      if (ids.length < SLICE) return;
      last = ids.at(-1) ?? last;
    }
  }

  /** Returns true if it folded. A fold that fails fails no write: the recalls stay, and are counted from the log. */
  #foldIfDue(now: number, written?: number): boolean {
    if (now < this.#foldsFrom) return false;
    const [last] = this.#sql.column<number>`SELECT folded_at FROM memory_usage ORDER BY n DESC LIMIT 1`;
    if (last !== undefined && last > now - OUTCOME_MS) return false;
    try {
      this.#deps.transactions.atomically(() => this.#fold(now, written));
      return true;
    } catch (error) {
      console.error({ message: "the recalls of a day were not folded", error: String(error) });
      this.#foldsFrom = now + FOLD_AGAIN_MS;
      return false;
    }
  }

  /** Makes numbers of recalls from a day ago, and drops the counters of memories that are gone. `written`: a thread's row that is written next. */
  #fold(now: number, written?: number): void {
    const { memories, threads } = this.#deps;
    const isLater = isLaterThan(now - OUTCOME_MS);
    const [rows, inThreads] = [this.#rows(), threads.recalls()];
    const log = rows.flatMap((row) => logOf(row.log));
    const ofThreads = inThreads.map(({ n, recalls }) => ({ n, recalls: logOf(recalls) }));
    const old = [...log, ...ofThreads.flatMap(({ recalls }) => recalls)].filter((one) => !isLater(one));
    const counters = this.#counters(rows, old);
    for (const { n, recalls } of ofThreads) {
      const left = recalls.filter(isLater);
      if (n !== written && left.length < recalls.length)
        threads.setRecalls(n, left.length === 0 ? null : JSON.stringify(left));
    }
    const entries = [...counters].filter(([id]) => memories.has(id));
    const logs = dealt(log.filter(isLater), (one) => JSON.stringify(one));
    const counts = dealt(entries, (one) => textOf([one]));
    const last = Math.max(logs.length, counts.length, 1) - 1;
    for (let n = 0; n <= last; n++)
      this.#put({
        n,
        folded_at: now,
        log: JSON.stringify(logs[n] ?? []),
        counters: textOf(counts[n] ?? []),
      });
    this.#sql.run`DELETE FROM memory_usage WHERE n > ${last}`;
  }

  #all(more: readonly ServedRecall[]): Counters {
    const rows = this.#rows();
    return this.#counters(rows, [...this.#logs(rows), ...more]);
  }

  /** The counters of these rows, with these recalls, which count for the memories that their versions are of. */
  #counters(rows: readonly Row[], recalls: readonly ServedRecall[]): Counters {
    const ids = this.#deps.memories.idsOf([...new Set(recalls.flatMap(({ versions }) => versions))]);
    const counters: Counters = new Map();
    for (const row of rows) addAll(counters, countersOf(row.counters));
    for (const { id: recall, versions, injected } of recalls) {
      const shown = new Set(versions.flatMap((version) => ids.get(version) ?? []));
      const one: Counts = [injected ? 0 : 1, injected ? 1 : 0, 0, 0, timeOf(recall), 0];
      addAll(
        counters,
        Array.from(shown, (id) => [id, one]),
      );
    }
    return counters;
  }

  #logs(
    rows: readonly Pick<Row, "log">[] = this.#sql.rows<
      Pick<Row, "log">
    >`SELECT log FROM memory_usage ORDER BY n`,
  ): ServedRecall[] {
    return [...rows, ...this.#deps.threads.recalls().map(({ recalls }) => ({ log: recalls }))].flatMap(
      ({ log }) => logOf(log),
    );
  }

  #rows(): Row[] {
    return this.#sql.rows`SELECT * FROM memory_usage ORDER BY n`;
  }

  #last(): Row {
    const [row] = this.#sql.rows<Row>`SELECT * FROM memory_usage ORDER BY n DESC LIMIT 1`;
    return row ?? { n: 0, folded_at: 0, log: "[]", counters: "{}" };
  }

  #put({ n, folded_at, log, counters }: Row): void {
    this.#sql.run`
      INSERT INTO memory_usage (n, folded_at, log, counters) VALUES (${n}, ${folded_at}, ${log}, ${counters})
      ON CONFLICT (n) DO UPDATE SET
        folded_at = excluded.folded_at, log = excluded.log, counters = excluded.counters`;
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

function addAll(counters: Counters, more: Iterable<readonly [string, Counts]>): void {
  for (const [id, counts] of more) {
    const [recalled, injected, used, usedLikely, recalledAt, usedAt] = counters.get(id) ?? NONE;
    counters.set(id, [
      recalled + counts[0],
      injected + counts[1],
      used + counts[2],
      usedLikely + counts[3],
      Math.max(recalledAt, counts[4]),
      Math.max(usedAt, counts[5]),
    ]);
  }
}

const textOf = (counters: Iterable<readonly [string, Counts]>): string =>
  JSON.stringify(Object.fromEntries(counters));

const countersOf = (text: string): [string, Counts][] =>
  Object.entries(JSON.parse(text) as Record<string, Counts>);

function usageOf(memoryId: string, counters: Counters): MemoryUsage {
  const [recalled, injected, used, usedLikely, lastRecalledAt, lastUsedAt] = counters.get(memoryId) ?? NONE;
  return {
    memoryId,
    recalled,
    injected,
    used,
    usedLikely,
    ...(lastRecalledAt > 0 && { lastRecalledAt }),
    ...(lastUsedAt > 0 && { lastUsedAt }),
  };
}
