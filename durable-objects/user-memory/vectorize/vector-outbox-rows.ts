import { backOff, FIRST_RETRY_MS, LAST_RETRY_MS } from "../../storage/back-off.ts";
import { MEMORIES, MESSAGES, type PositionRange } from "../core/position.ts";
import { part, raw, type SqlPart, SqlStore } from "../../storage/sql.ts";
import type { VectorName } from "../search-index/vector-rows.ts";

/** A vector whose copy in Vectorize differs from what is wanted, or was changed a moment ago. */
export type OutboxRow = {
  n: number;
  model: string;
  /** 1: present; 0: absent. */
  wanted: 0 | 1;
  /** `send` the change; `check` that it reads back; `done`: kept until no earlier call can take effect any more. */
  state: "send" | "check" | "done";
  /** Start of the last call for what is wanted now; null: there was none. */
  sent_at: number | null;
  /** Until then an earlier call for the opposite may take effect. */
  settles_at: number;
  attempts: number;
  /** Times that it was sent again because an accepted change did not show. */
  resent: number;
};
/** Rows that go into one call. */
export type Group = Pick<OutboxRow, "model" | "wanted" | "state">;

/** A call takes effect within this time, or never. Vectorize documents no bound: it takes seconds, under load minutes. */
export const SETTLE_MS = 5 * 60_000;
/** Sending again too soon makes a lagging index lag longer. */
const FIRST_RESEND_MS = 2 * 60_000;
const LAST_RESEND_MS = 30 * 60_000;
/** Numbers that one statement takes as JSON. */
const CHUNK = 10_000;
/** Unconfirmed vectors that one statement reads. */
const UNCONFIRMED = 500;

/** SQL that selects the numbers of all documents that the outbox has something of. */
export const UNSETTLED = "SELECT n FROM vector_outbox";

const SETTLE = raw(String(SETTLE_MS));

/** A change of what is wanted of vectors. `numbers`: JSON. */
type Change = { model: string; numbers: string; wanted: 0 | 1; mayBeThere: 0 | 1; dueAt: number };

/** Changes what is wanted of vectors. `settles_at` keeps the time until which a call for the opposite may take effect. */
const want = ({ model, numbers, wanted, mayBeThere, dueAt }: Change): SqlPart => part`
  INSERT INTO vector_outbox (model, n, wanted, may_be_there, due_at)
  SELECT ${model}, value, ${wanted}, ${mayBeThere}, ${dueAt} FROM json_each(${numbers}) WHERE TRUE
  ON CONFLICT (model, n) DO UPDATE SET
    settles_at = IIF(wanted = excluded.wanted, settles_at, MAX(settles_at, COALESCE(sent_at + ${SETTLE}, 0))),
    sent_at = IIF(wanted = excluded.wanted, sent_at, NULL),
    may_be_there = IIF(excluded.wanted = 0, may_be_there, MAX(may_be_there, excluded.may_be_there)),
    wanted = excluded.wanted, state = 'send', attempts = 0, resent = 0, due_at = excluded.due_at
  WHERE wanted <> excluded.wanted`;

/** Wait before an accepted change is sent again: 2 min, 4, 8, 16, then 30. */
export const resendAfter = (resent: number): number =>
  Math.min(LAST_RESEND_MS, FIRST_RESEND_MS * 2 ** Math.min(resent, 16));

/**
 * The changes that the outbox has still to send or to check. Owns their SQL. Synchronous, so that each call joins the transaction
 * around it. Without Vectorize no rows are kept, and a later binding adopts every model anew.
 */
export class VectorOutboxRows extends SqlStore {
  /** True if the deployment has Vectorize. */
  readonly bound: boolean;
  protected readonly now: () => number;

  constructor({ sql, bound, now }: { sql: SqlStorage; bound: boolean; now: () => number }) {
    super(sql);
    this.bound = bound;
    this.now = now;
  }

  /** For a document's first vector of the model. Vectorize never had it: removed before it is sent, it needs no call. */
  put(n: number, model: string): void {
    if (!this.#keeps()) return;
    const numbers = JSON.stringify([n]);
    this.sql.run`${want({ model, numbers, wanted: 1, mayBeThere: 0, dueAt: this.now() })}`;
  }

  /** Sends these vectors, whether they were sent before or not. */
  putAgain(model: string, ns: Iterable<number>): void {
    if (!this.#keeps()) return;
    for (const numbers of inChunks(ns))
      this.sql.run`${want({ model, numbers, wanted: 1, mayBeThere: 1, dueAt: this.now() })} OR TRUE`;
  }

  /** Sends all vectors of a model once: they may be older than the binding. Returns whether it did. */
  adopt(model: string, all: () => Iterable<number>): boolean {
    if (!this.#keeps()) return false;
    const isNew = this.sql.has`
      INSERT OR IGNORE INTO vector_outbox_models (model) VALUES (${model}) RETURNING model`;
    if (!isNew) return false;
    this.putAgain(model, all());
    return true;
  }

  /** Deletes vectors that the object no longer has. */
  remove(vectors: Iterable<VectorName>): void {
    if (!this.#keeps()) return;
    for (const [model, names] of Map.groupBy(vectors, (one) => one.model))
      for (const numbers of inChunks(names.map(({ n }) => n))) {
        this.sql.run`${want({ model, numbers, wanted: 0, mayBeThere: 1, dueAt: this.now() })}`;
        this.sql.run`
          DELETE FROM vector_outbox WHERE model = ${model}
            AND n IN (SELECT value FROM json_each(${numbers})) AND wanted = 0 AND may_be_there = 0`;
      }
  }

  /** Deletes vectors of these documents that are still to be sent. */
  removeRange([from, to]: PositionRange): void {
    if (!this.#keeps()) return;
    this.remove(this.sql.rows<VectorName>`
      SELECT n, model FROM vector_outbox WHERE wanted = 1 AND n BETWEEN ${from} AND ${to}`);
  }

  /** True if Vectorize is known to have these documents' vectors as wanted, for good. */
  isSettled([from, to]: PositionRange): boolean {
    return (
      !this.bound || !this.sql.has`SELECT 1 FROM vector_outbox WHERE n BETWEEN ${from} AND ${to} LIMIT 1`
    );
  }

  protected due(limit: number): OutboxRow[] {
    return this.sql.rows`
      SELECT * FROM vector_outbox WHERE due_at <= ${this.now()} AND state <> 'done'
      ORDER BY due_at LIMIT ${limit}`;
  }

  /** Records a call as failed before it begins, so that a crash in it leaves a retry. Returns which rows still want it. */
  protected begin({ model, wanted }: Group, ns: readonly number[], now: number): number[] {
    return this.sql.column`
      UPDATE vector_outbox SET may_be_there = 1, sent_at = ${now}, attempts = attempts + 1,
        due_at = ${now} + MIN(${LAST_RETRY_MS}, ${FIRST_RETRY_MS} * (1 << MIN(attempts, 16)))
      WHERE model = ${model} AND n IN (SELECT value FROM json_each(${JSON.stringify(ns)}))
        AND wanted = ${wanted} AND state = 'send' RETURNING n`;
  }

  /** The call was accepted. Rows that changed meanwhile stay in `send`. */
  protected accepted({ model, wanted }: Group, ns: readonly number[], sentAt: number): void {
    this.sql.run`
      UPDATE vector_outbox SET state = 'check', attempts = 0, due_at = ${this.now() + FIRST_RETRY_MS}
      WHERE model = ${model} AND n IN (SELECT value FROM json_each(${JSON.stringify(ns)}))
        AND wanted = ${wanted} AND state = 'send' AND sent_at = ${sentAt}`;
  }

  /** Updates a row unless it has changed since it was read. */
  protected move(
    row: OutboxRow,
    to: Pick<OutboxRow, "state" | "attempts"> & { resent?: number; dueAt: number },
  ): void {
    const { model, n, wanted, state, sent_at } = row;
    this.sql.run`
      UPDATE vector_outbox SET state = ${to.state}, attempts = ${to.attempts},
        resent = ${to.resent ?? row.resent}, due_at = ${to.dueAt}
      WHERE model = ${model} AND n = ${n} AND wanted = ${wanted} AND state = ${state} AND sent_at IS ${sent_at}`;
  }

  /** Delays the whole group, or each slice of it would try for itself. */
  protected putOff({ model, wanted, state }: Group, attempts: number): void {
    const dueAt = this.now() + backOff(attempts);
    this.sql.run`
      UPDATE vector_outbox SET attempts = MAX(attempts, ${attempts}), due_at = ${dueAt}
      WHERE due_at <= ${dueAt} AND model = ${model} AND wanted = ${wanted} AND state = ${state}`;
  }

  protected sweep(): void {
    this.sql.run`DELETE FROM vector_outbox WHERE due_at <= ${this.now()} AND state = 'done'`;
  }

  nextDue(): number | null {
    return this.bound ? this.sql.value<number | null>`SELECT MIN(due_at) FROM vector_outbox` : null;
  }

  /** The vectors of a model that a query of Vectorize may miss: memories first, the greatest number of each first. */
  *unconfirmed(model: string): Generator<number> {
    for (const [from, to] of [MEMORIES, MESSAGES])
      for (let last = to; ;) {
        const numbers = this.sql.column<number>`
          SELECT n FROM vector_outbox WHERE model = ${model} AND n BETWEEN ${from} AND ${last}
            AND wanted = 1 AND state <> 'done'
          ORDER BY n DESC LIMIT ${UNCONFIRMED}`;
        yield* numbers;
        last = (numbers.at(-1) ?? 0) - 1;
        if (numbers.length < UNCONFIRMED) break;
      }
  }

  /** Vectors not known to be in Vectorize yet, and not known to be gone from it. */
  pending(): { put: number; remove: number } {
    if (!this.bound) return { put: 0, remove: 0 };
    return this.sql.one`
      SELECT COUNT(*) FILTER (WHERE wanted = 1) AS put, COUNT(*) FILTER (WHERE wanted = 0) AS remove
      FROM vector_outbox WHERE state <> 'done'`;
  }

  /** The models whose vectors Vectorize may have of memories. */
  models(): string[] {
    return this.sql.column`SELECT model FROM vector_outbox_models`;
  }

  #keeps(): boolean {
    if (!this.bound) this.sql.run`DELETE FROM vector_outbox_models`;
    return this.bound;
  }
}

/** Numbers as JSON, in parts that one statement takes. */
export function* inChunks(ns: Iterable<number>): Generator<string> {
  const all = [...ns];
  for (let start = 0; start < all.length; start += CHUNK)
    yield JSON.stringify(all.slice(start, start + CHUNK));
}
