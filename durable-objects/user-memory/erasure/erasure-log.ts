import type { UserHash } from "../../../src/domain/ids.ts";
import type { Erasure, ErasureStep, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import {
  FIRST_POSITION,
  LAST_SEQ,
  positionOf,
  type PositionRange,
  threadNumberOf,
} from "../core/position.ts";
import { raw, SqlStore } from "../../storage/sql.ts";
import { inChunks, UNSETTLED } from "../vectorize/vector-outbox-rows.ts";

/** The target of an erasure: all data of the user up to here, a thread, or the memories of a scope up to a version. */
export type Erased =
  | { what: "user"; epoch: number; upTo: number; lastThread: number }
  | { what: "thread"; threadId: string; gone: PositionRange[] }
  | { what: "scope"; scope: string; upTo: number };

/** The part that changes. `fenced`: D1 knows of it, and shows nothing of it any more. */
type Progress = {
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

/** An erasure under way. */
export type OpenErasure = Erased & Progress & { id: string; user: UserHash };
export type OpenErasureOf<What extends Erased["what"]> = OpenErasure & { what: What };

/** D1 stores an erasure as revision 1 when it begins, 2 when all stores of the user are empty, 3 with the receipt. */
const EMPTIED = 2;

type Row = Omit<Progress, "state" | "fenced"> & {
  id: string;
  erased: string;
  state: string;
  fenced: number;
};
const SELECT =
  raw(`SELECT id, erased, state, fenced, revision, attempts, due_at AS dueAt, merged_in AS mergedIn,
  overwritten_in AS overwrittenIn FROM erasures`);

/**
 * The erasures that are under way: what drives each store until it was read back empty, whatever happens meanwhile. Owns
 * the SQL of `erasures` and `erasing_versions`. An erasure that is done is in D1 only.
 */
export class ErasureLog extends SqlStore {
  readonly #alarms: Pick<AlarmScheduler, "scheduleBy">;

  constructor(sql: SqlStorage, alarms: Pick<AlarmScheduler, "scheduleBy">) {
    super(sql);
    this.#alarms = alarms;
  }

  add(erased: Erased, state: Erasure, dueAt: number): void {
    this.sql.run`INSERT INTO erasures (id, erased, state, due_at)
      VALUES (${state.id}, ${JSON.stringify(erased)}, ${JSON.stringify(state)}, ${dueAt})`;
  }

  /** Adds a user's that D1 has as emptied: no step of it is left, and so no fence is needed. */
  takeOver(state: Erasure, dueAt: number): void {
    this.add({ what: "user", epoch: 0, upTo: 0, lastThread: 0 }, state, dueAt);
    this.#change(state.id, () => ({ fenced: true, revision: EMPTIED }));
  }

  get(id: string): OpenErasure | null {
    const [row] = this.sql.rows<Row>`${SELECT} WHERE id = ${id}`;
    return row === undefined ? null : openOf(row);
  }

  /** All of them, the oldest first: by when they were noted, as ids of one millisecond have no order. */
  all(): OpenErasure[] {
    return this.sql.rows<Row>`${SELECT} ORDER BY rowid`.map(openOf);
  }

  /** Changes what is stored now: another call may have changed it while the caller waited. */
  update(id: string, change: (open: OpenErasure) => Partial<Progress>): void {
    this.#change(id, change);
    this.schedule();
  }

  /** Notes in the steps of these stores. */
  updateSteps(id: string, stores: readonly ErasureStore[], change: (step: ErasureStep) => void): void {
    this.update(id, (open) => withSteps(open, stores, change));
  }

  /** Counts a failed attempt at these stores. */
  failed(id: string, stores: readonly ErasureStore[], error: unknown): void {
    this.updateSteps(id, stores, (step) => {
      step.attempts++;
      step.lastError = error instanceof Error ? error.message : "failed";
    });
  }

  /**
   * Counts what a step removed. What the object removes is counted in the same transaction, so that nothing that happens after
   * it changes the count; what D1 removes, once its answer is here.
   */
  count(id: string, store: ErasureStore, removed: Readonly<Record<string, number>>): void {
    this.#change(id, (open) =>
      withSteps(open, [store], ({ erased }) => {
        for (const [what, n] of Object.entries(removed)) erased[what] = (erased[what] ?? 0) + n;
      }),
    );
  }

  #change(id: string, change: (open: OpenErasure) => Partial<Progress>): void {
    const open = this.get(id);
    if (open === null) return;
    const { state, fenced, revision, attempts, dueAt, mergedIn, overwrittenIn } = {
      ...open,
      ...change(open),
    };
    this.sql.run`UPDATE erasures SET state = ${JSON.stringify(state)}, fenced = ${fenced ? 1 : 0},
      revision = ${revision}, attempts = ${attempts}, due_at = ${dueAt}, merged_in = ${mergedIn},
      overwritten_in = ${overwrittenIn} WHERE id = ${id}`;
  }

  /** Says that all stores of a user's are empty. Answers the revision in which D1 hears of it. */
  emptied(id: string): number {
    this.sql.run`UPDATE erasures SET revision = ${EMPTIED} WHERE id = ${id}`;
    return EMPTIED;
  }

  remove(id: string): void {
    this.sql.run`DELETE FROM erasures WHERE id = ${id}`;
    this.sql.run`DELETE FROM erasing_versions WHERE erasure = ${id}`;
  }

  /** Notes versions whose vectors are to go too. */
  addVersions(id: string, versions: readonly number[]): void {
    for (const numbers of inChunks(versions))
      this.sql.run`INSERT OR IGNORE INTO erasing_versions (erasure, n)
        SELECT ${id}, value FROM json_each(${numbers})`;
  }

  /** The number of noted versions, and of those whose vectors may still be in Vectorize. */
  versions(id: string): { all: number; open: number } {
    return this.sql.one<{ all: number; open: number }>`
      SELECT COUNT(*) AS "all", COUNT(*) FILTER (WHERE n IN (${raw(UNSETTLED)})) AS open
      FROM erasing_versions WHERE erasure = ${id}`;
  }

  nextDue(): number | null {
    return this.sql.value<number | null>`SELECT MIN(due_at) FROM erasures`;
  }

  /** Sets the alarm, which drives the erasures. */
  schedule(): void {
    this.#alarms.scheduleBy(this.nextDue());
  }
}

const openOf = ({ id, erased, state, fenced, ...row }: Row): OpenErasure => ({
  // Both were written here.
  ...(JSON.parse(erased) as Erased),
  ...row,
  id,
  user: userOf(id),
  state: JSON.parse(state) as Erasure,
  fenced: fenced === 1,
});

function withSteps(
  { state }: OpenErasure,
  stores: readonly ErasureStore[],
  change: (step: ErasureStep) => void,
): Pick<Progress, "state"> {
  for (const step of state.steps) if (stores.includes(step.store)) change(step);
  return { state };
}

/** An erasure's id begins like a thread's with the hash of its user. */
function userOf(id: string): UserHash {
  const user = threadOwner(id);
  if (user === null) throw new Error("an erasure of nobody");
  return user;
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
