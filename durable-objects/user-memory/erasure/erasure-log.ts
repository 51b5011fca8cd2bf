import type { Erasure, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import {
  FIRST_POSITION,
  LAST_SEQ,
  positionOf,
  type PositionRange,
  threadNumberOf,
} from "../core/position.ts";
import { inChunks, UNSETTLED } from "../vectorize/vector-outbox-rows.ts";

/** The target of an erasure: all data of the user up to here, a thread, or the memories of a scope up to a version. */
export type Erased =
  | { what: "user"; epoch: number; upTo: number; lastThread: number }
  | { what: "thread"; threadId: string; gone: PositionRange[] }
  | { what: "scope"; scope: string; upTo: number };

/** An erasure under way. `fenced`: D1 knows of it, and shows nothing of it any more. */
export type OpenErasure = {
  erased: Erased;
  state: Erasure;
  fenced: boolean;
  revision: number;
  attempts: number;
  dueAt: number;
  /** The round of merging that leaves none of its words; null until all of them are deleted. */
  mergedIn: number | null;
  /** The round that overwrites all that it left in free pages; null until none is freed any more. */
  overwrittenIn: number | null;
};

/** D1 stores an erasure as revision 1 when it begins, 2 when all stores of the user are empty, 3 with the receipt. */
const EMPTIED = 2;

type Row = {
  erased: string;
  state: string;
  fenced: number;
  revision: number;
  attempts: number;
  due_at: number;
  merged_in: number | null;
  overwritten_in: number | null;
};

/**
 * The erasures that are under way: what drives each store until it was read back empty, whatever happens meanwhile. Owns
 * the SQL of `erasures` and `erasing_versions`. An erasure that is done is in D1 only.
 */
export class ErasureLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ erased, state, dueAt }: Pick<OpenErasure, "erased" | "state" | "dueAt">): void {
    this.#sql.exec(
      "INSERT INTO erasures (id, erased, state, due_at) VALUES (?, ?, ?, ?)",
      state.id,
      JSON.stringify(erased),
      JSON.stringify(state),
      dueAt,
    );
  }

  /** Adds a user's that D1 has as emptied: no step of it is left, and so no fence is needed. */
  takeOver(state: Erasure, dueAt: number): void {
    this.add({ erased: { what: "user", epoch: 0, upTo: 0, lastThread: 0 }, state, dueAt });
    this.update(state.id, (open) => ({ ...open, fenced: true, revision: EMPTIED }));
  }

  get(id: string): OpenErasure | null {
    const [row] = this.#sql.exec<Row>("SELECT * FROM erasures WHERE id = ?", id).toArray();
    return row === undefined ? null : openOf(row);
  }

  /** All of them, the oldest first: by when they were noted, as ids of one millisecond have no order. */
  all(): OpenErasure[] {
    return this.#sql.exec<Row>("SELECT * FROM erasures ORDER BY rowid").toArray().map(openOf);
  }

  /** Changes what is stored now: another call may have changed it while the caller waited. */
  update(id: string, change: (open: OpenErasure) => OpenErasure): void {
    const open = this.get(id);
    if (open !== null) this.save(change(open));
  }

  save({ state, fenced, revision, attempts, dueAt, mergedIn, overwrittenIn }: OpenErasure): void {
    this.#sql.exec(
      "UPDATE erasures SET state = ?, fenced = ?, revision = ?, attempts = ?, due_at = ?, merged_in = ?, overwritten_in = ? WHERE id = ?",
      JSON.stringify(state),
      fenced ? 1 : 0,
      revision,
      attempts,
      dueAt,
      mergedIn,
      overwrittenIn,
      state.id,
    );
  }

  /**
   * Counts what a step removed. What the object removes is counted in the same transaction, so that nothing that happens after
   * it changes the count; what D1 removes, once its answer is here.
   */
  count(id: string, store: ErasureStore, removed: Readonly<Record<string, number>>): void {
    const open = this.get(id);
    if (open === null) return;
    for (const step of open.state.steps)
      if (step.store === store)
        for (const [what, n] of Object.entries(removed)) step.erased[what] = (step.erased[what] ?? 0) + n;
    this.save(open);
  }

  /** Says that all stores of a user's are empty. Answers the revision in which D1 hears of it. */
  emptied(id: string): number {
    this.#sql.exec("UPDATE erasures SET revision = ? WHERE id = ?", EMPTIED, id);
    return EMPTIED;
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM erasures WHERE id = ?", id);
    this.#sql.exec("DELETE FROM erasing_versions WHERE erasure = ?", id);
  }

  /** Notes versions whose vectors are to go too. */
  addVersions(id: string, versions: readonly number[]): void {
    for (const numbers of inChunks(versions))
      this.#sql.exec(
        "INSERT OR IGNORE INTO erasing_versions (erasure, n) SELECT ?, value FROM json_each(?)",
        id,
        numbers,
      );
  }

  /** The number of noted versions, and of those whose vectors may still be in Vectorize. */
  versions(id: string): { all: number; open: number } {
    return this.#sql
      .exec<{ all: number; open: number }>(
        `SELECT COUNT(*) AS "all", COUNT(*) FILTER (WHERE n IN (${UNSETTLED})) AS open
         FROM erasing_versions WHERE erasure = ?`,
        id,
      )
      .one();
  }

  nextDue(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM erasures").one().due;
  }
}

function openOf({
  erased,
  state,
  fenced,
  revision,
  attempts,
  due_at: dueAt,
  merged_in: mergedIn,
  overwritten_in: overwrittenIn,
}: Row): OpenErasure {
  return {
    // Both were written here.
    erased: JSON.parse(erased) as Erased,
    state: JSON.parse(state) as Erasure,
    fenced: fenced === 1,
    revision,
    attempts,
    dueAt,
    mergedIn,
    overwrittenIn,
  };
}

/** The documents of the search index that an erasure takes: versions of memories, and messages. */
export const rangesOf = (erased: Erased & { what: "user" | "thread" }): PositionRange[] =>
  erased.what === "thread"
    ? erased.gone
    : [
        [0, erased.upTo],
        [FIRST_POSITION, positionOf(erased.lastThread, LAST_SEQ)],
      ];

/** One range for each thread that holds all of its ranges, as there may be one for every message. */
export function hulls(ranges: readonly PositionRange[]): PositionRange[] {
  const byThread = Map.groupBy(ranges, ([from]) => threadNumberOf(from));
  return Array.from(byThread.values(), (some) =>
    some.reduce(([from, to], [first, last]) => [Math.min(from, first), Math.max(to, last)]),
  );
}
