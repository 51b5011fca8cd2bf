import { backOff, FIRST_RETRY_MS, LAST_RETRY_MS } from "../../storage/back-off.ts";
import { MEMORIES, MESSAGES, type PositionRange } from "../core/position.ts";
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

/** Changes what is wanted of a vector. `settles_at` keeps the time until which a call for the opposite may take effect. */
const WANT = `
  INSERT INTO vector_outbox (model, n, wanted, may_be_there, due_at) SELECT ?1, value, ?3, ?4, ?5 FROM json_each(?2) WHERE TRUE
  ON CONFLICT (model, n) DO UPDATE SET
    settles_at = IIF(wanted = excluded.wanted, settles_at, MAX(settles_at, COALESCE(sent_at + ${SETTLE_MS}, 0))),
    sent_at = IIF(wanted = excluded.wanted, sent_at, NULL),
    may_be_there = IIF(excluded.wanted = 0, may_be_there, MAX(may_be_there, excluded.may_be_there)),
    wanted = excluded.wanted, state = 'send', attempts = 0, resent = 0, due_at = excluded.due_at
  WHERE wanted <> excluded.wanted`;

/** Wait before an accepted change is sent again: 2 min, 4, 8, 16, then 30. */
export const resendAfter = (resent: number): number =>
  Math.min(LAST_RESEND_MS, FIRST_RESEND_MS * 2 ** Math.min(resent, 16));

/** Owns the SQL of the outbox. Synchronous, so that each call joins the transaction around it. */
export class VectorOutboxRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** For a vector that Vectorize never had: removed before it is sent, it needs no call. */
  putNew(model: string, n: number, now: number): void {
    this.#sql.exec(WANT, model, JSON.stringify([n]), 1, 0, now);
  }

  putAgain(model: string, ns: Iterable<number>, now: number): void {
    for (const numbers of inChunks(ns)) this.#sql.exec(`${WANT} OR TRUE`, model, numbers, 1, 1, now);
  }

  remove(vectors: Iterable<VectorName>, now: number): void {
    for (const [model, names] of Map.groupBy(vectors, (one) => one.model))
      for (const numbers of inChunks(names.map(({ n }) => n))) {
        this.#sql.exec(WANT, model, numbers, 0, 1, now);
        this.#sql.exec(
          `DELETE FROM vector_outbox WHERE model = ? AND n IN (SELECT value FROM json_each(?))
             AND wanted = 0 AND may_be_there = 0`,
          model,
          numbers,
        );
      }
  }

  removeRange([from, to]: PositionRange, now: number): void {
    const wanted = this.#sql
      .exec<VectorName>("SELECT n, model FROM vector_outbox WHERE wanted = 1 AND n BETWEEN ? AND ?", from, to)
      .toArray();
    this.remove(wanted, now);
  }

  /** True if no change of these documents is open. */
  isSettled([from, to]: PositionRange): boolean {
    const open = "SELECT 1 FROM vector_outbox WHERE n BETWEEN ? AND ? LIMIT 1";
    return this.#sql.exec(open, from, to).toArray().length === 0;
  }

  due(now: number, limit: number): OutboxRow[] {
    return this.#sql
      .exec<OutboxRow>(
        "SELECT * FROM vector_outbox WHERE due_at <= ? AND state <> 'done' ORDER BY due_at LIMIT ?",
        now,
        limit,
      )
      .toArray();
  }

  /** Records a call as failed before it begins, so that a crash in it leaves a retry. Returns which rows still want it. */
  begin({ model, wanted }: Group, ns: readonly number[], now: number): number[] {
    const sending = this.#sql.exec<{ n: number }>(
      `UPDATE vector_outbox SET may_be_there = 1, sent_at = ?4, attempts = attempts + 1,
         due_at = ?4 + MIN(${LAST_RETRY_MS}, ${FIRST_RETRY_MS} * (1 << MIN(attempts, 16)))
       WHERE model = ?1 AND n IN (SELECT value FROM json_each(?2)) AND wanted = ?3 AND state = 'send' RETURNING n`,
      model,
      JSON.stringify(ns),
      wanted,
      now,
    );
    return Array.from(sending, ({ n }) => n);
  }

  /** The call was accepted. Rows that changed meanwhile stay in `send`. */
  accepted({ model, wanted }: Group, ns: readonly number[], times: { sentAt: number; now: number }): void {
    this.#sql.exec(
      `UPDATE vector_outbox SET state = 'check', attempts = 0, due_at = ?4
       WHERE model = ?1 AND n IN (SELECT value FROM json_each(?2)) AND wanted = ?3 AND state = 'send' AND sent_at = ?5`,
      model,
      JSON.stringify(ns),
      wanted,
      times.now + FIRST_RETRY_MS,
      times.sentAt,
    );
  }

  /** Updates a row unless it has changed since it was read. */
  move(row: OutboxRow, to: Pick<OutboxRow, "state" | "attempts"> & { resent?: number; dueAt: number }): void {
    this.#sql.exec(
      `UPDATE vector_outbox SET state = ?, attempts = ?, resent = ?, due_at = ?
       WHERE model = ? AND n = ? AND wanted = ? AND state = ? AND sent_at IS ?`,
      to.state,
      to.attempts,
      to.resent ?? row.resent,
      to.dueAt,
      row.model,
      row.n,
      row.wanted,
      row.state,
      row.sent_at,
    );
  }

  /** Delays the whole group, or each slice of it would try for itself. */
  putOff({ model, wanted, state }: Group, attempts: number, now: number): void {
    this.#sql.exec(
      `UPDATE vector_outbox SET attempts = MAX(attempts, ?5), due_at = ?4
       WHERE due_at <= ?4 AND model = ?1 AND wanted = ?2 AND state = ?3`,
      model,
      wanted,
      state,
      now + backOff(attempts),
      attempts,
    );
  }

  sweep(now: number): void {
    this.#sql.exec("DELETE FROM vector_outbox WHERE due_at <= ? AND state = 'done'", now);
  }

  nextDue(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM vector_outbox").one().due;
  }

  /** The vectors of a model that are not known to be there: memories first, the greatest number of each first. */
  *unconfirmed(model: string): Generator<number> {
    for (const [from, to] of [MEMORIES, MESSAGES])
      for (let last = to; ;) {
        const rows = this.#sql
          .exec<{ n: number }>(
            `SELECT n FROM vector_outbox WHERE model = ? AND n BETWEEN ? AND ? AND wanted = 1 AND state <> 'done'
             ORDER BY n DESC LIMIT ${UNCONFIRMED}`,
            model,
            from,
            last,
          )
          .toArray();
        yield* rows.map(({ n }) => n);
        last = (rows.at(-1)?.n ?? 0) - 1;
        if (rows.length < UNCONFIRMED) break;
      }
  }

  pending(): { put: number; remove: number } {
    return this.#sql
      .exec<{ put: number; remove: number }>(
        `SELECT COUNT(*) FILTER (WHERE wanted = 1) AS put, COUNT(*) FILTER (WHERE wanted = 0) AS remove
         FROM vector_outbox WHERE state <> 'done'`,
      )
      .one();
  }

  /** True the first time. */
  adopt(model: string): boolean {
    const adopted = "INSERT OR IGNORE INTO vector_outbox_models (model) VALUES (?) RETURNING model";
    return this.#sql.exec(adopted, model).toArray().length > 0;
  }

  models(): string[] {
    const models = this.#sql.exec<{ model: string }>("SELECT model FROM vector_outbox_models");
    return Array.from(models, ({ model }) => model);
  }

  disown(): void {
    this.#sql.exec("DELETE FROM vector_outbox_models");
  }
}

/** Numbers as JSON, in parts that one statement takes. */
export function* inChunks(ns: Iterable<number>): Generator<string> {
  const all = [...ns];
  for (let start = 0; start < all.length; start += CHUNK)
    yield JSON.stringify(all.slice(start, start + CHUNK));
}
