import { v7 as uuidv7 } from "uuid";
import { type RetentionPlan, planOf } from "../../../src/domain/retention.ts";
import type { Retention, RetentionCounts, UserRetention } from "../../../src/domain/schema/retention.ts";
import { SqlStore } from "../../storage/sql.ts";

/** The data that one event of the audit log counts. */
export const RETAINED = ["threads", "messages", "memories"] as const satisfies (keyof RetentionCounts)[];
export type Retained = (typeof RETAINED)[number];
/** Deletions that the audit log lacks. `id`: of their event, so that it is one, however often it is written. */
export type Noted = { [What in Retained]?: { id: string; at: number; count: number } };

/** `tenant`: null until D1 was asked for it. `dueAt`: null if no rule holds. */
type State = {
  tenant: Retention | null;
  own: Retention;
  dueAt: number | null;
  noted: Noted;
  last: NonNullable<UserRetention["last"]> | null;
};
type Row = { tenant: string | null; own: string; due_at: number | null; noted: string; last: string | null };

/** A new rule deletes nothing for so long: who sees that it takes too much can take it back. */
export const GRACE_MS = 60 * 60 * 1000;

const NEW: State = { tenant: null, own: {}, dueAt: null, noted: {}, last: null };

/** The rules of retention of this user, and how far they are applied. Owns the SQL of `retention`. */
export class RetentionStore extends SqlStore {
  get(): State | null {
    const [row] = this.sql.rows<Row>`SELECT * FROM retention`;
    if (row === undefined) return null;
    return {
      // Stored as they are written below.
      tenant: row.tenant === null ? null : (JSON.parse(row.tenant) as Retention),
      own: JSON.parse(row.own) as Retention,
      dueAt: row.due_at,
      noted: JSON.parse(row.noted) as Noted,
      last: row.last === null ? null : (JSON.parse(row.last) as State["last"]),
    };
  }

  plan(): RetentionPlan {
    const { tenant, own } = this.get() ?? NEW;
    return planOf(tenant ?? {}, own);
  }

  set(change: Partial<State>): void {
    const state = this.get();
    if (state === null) this.sql.run`INSERT INTO retention (own, noted) VALUES ('{}', '{}')`;
    const { tenant, own, dueAt, noted, last } = { ...(state ?? NEW), ...change };
    this.sql.run`
      UPDATE retention SET tenant = ${tenant && JSON.stringify(tenant)}, own = ${JSON.stringify(own)},
        due_at = ${dueAt}, noted = ${JSON.stringify(noted)}, last = ${last && JSON.stringify(last)}`;
  }

  /** A rule is new or changed. Returns when it is applied. */
  changed(now: number): number {
    const dueAt = Math.min(this.get()?.dueAt ?? Infinity, now + GRACE_MS);
    this.set({ dueAt });
    return dueAt;
  }

  /** Notes deletions of the round that is due, in their transaction: one event counts them. */
  note(counts: Partial<RetentionCounts>, now: number): void {
    const { noted, last, dueAt } = this.get() ?? NEW;
    const at = dueAt ?? now;
    const sum = { threads: 0, messages: 0, memories: 0, ...(last?.at === at && last), at };
    for (const what of RETAINED) {
      const count = counts[what] ?? 0;
      if (count === 0) continue;
      sum[what] += count;
      noted[what] = {
        id: uuidv7({ msecs: at }),
        at,
        ...noted[what],
        count: (noted[what]?.count ?? 0) + count,
      };
    }
    this.set({ noted, last: sum });
  }
}
