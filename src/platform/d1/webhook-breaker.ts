import { D1Store } from "./d1-store.ts";

/** Failures of the tenant in a row, after which its receiver counts as away. */
const OPENS_AT = 10;
/** Less than the hour between two runs of the cron. */
const PROBE_EACH_MS = 55 * 60_000;
/** After this time without a success nothing is sent until a call resumes it. */
export const PAUSED_AFTER_MS = 7 * 24 * 60 * 60_000;

/** Since when the receiver fails, and whether probes have ended. */
export type BrokenWebhook = { since: number; paused: boolean };

/** `n`: the place in the line. No two places are the same, now or later. */
export type WaitingUser = { n: number; userHash: string };
type Row = { failures: number; since: number };

const CLAIM = "UPDATE webhook_breaker SET probe_at = ?2 WHERE probe_at <= ?1 RETURNING failures";
const COUNT_FAILURE = `INSERT INTO webhook_breaker (one, failures, since, probe_at) VALUES (1, 1, ?1, 0)
  ON CONFLICT (one) DO UPDATE SET failures = failures + 1, probe_at = ?2 RETURNING failures, since`;
const WAIT = `INSERT OR REPLACE INTO webhook_waiting (n, user_hash)
  VALUES (MAX(?1, COALESCE((SELECT MAX(n) FROM webhook_waiting), 0) + 1), ?2)`;
const LEAVE = "DELETE FROM webhook_waiting WHERE n IN (SELECT value FROM json_each(?))";

/** Owns the SQL of `webhook_breaker` and `webhook_waiting`. A tenant whose receiver answers has no row. */
export class D1WebhookBreaker extends D1Store {
  /** Asks before an attempt. `send`: false while the receiver is away; the user then waits for `waiting`. `failing`: it failed last. */
  async ask(userHash: string, now: number): Promise<{ send: boolean; failing: boolean }> {
    const row = await this.#row();
    if (row === null || row.failures < OPENS_AT) return { send: true, failing: row !== null };
    if (!isPaused(row, now)) {
      if ((await this.row(CLAIM, now, now + PROBE_EACH_MS)) !== null) return { send: true, failing: true };
    }
    await this.wait(userHash, now);
    return { send: false, failing: true };
  }

  async succeeded(): Promise<void> {
    await this.run("DELETE FROM webhook_breaker");
  }

  /** Returns true if the receiver counts as away now; the user then waits. */
  async failed(userHash: string, now: number): Promise<boolean> {
    const row = await this.row<Row>(COUNT_FAILURE, now, now + PROBE_EACH_MS);
    if (row === null || row.failures < OPENS_AT) return false;
    // The last one in the line: the next probe is another user's, as a message of one may be what fails.
    await this.wait(userHash, now);
    return true;
  }

  /** Null while messages go out. */
  async broken(now: number): Promise<BrokenWebhook | null> {
    const row = await this.#row();
    return row === null || row.failures < OPENS_AT ? null : { since: row.since, paused: isPaused(row, now) };
  }

  /** Users who wait, the one that waits longest first. */
  async waiting(limit: number): Promise<WaitingUser[]> {
    return this.rows("SELECT n, user_hash AS userHash FROM webhook_waiting ORDER BY n LIMIT ?", limit);
  }

  /** Takes places out of the line: a user who joined it again since has another one. */
  async leave(places: readonly number[]): Promise<void> {
    await this.run(LEAVE, JSON.stringify(places));
  }

  /** Puts a user at the end of the line. */
  async wait(userHash: string, now: number): Promise<void> {
    await this.run(WAIT, now, userHash);
  }

  /** Sends again as if nothing had failed. Returns the number of users who wait. */
  async resume(): Promise<number> {
    await this.succeeded();
    return this.countWaiting();
  }

  /** Counts those. */
  async countWaiting(): Promise<number> {
    return (await this.row<{ n: number }>("SELECT COUNT(*) AS n FROM webhook_waiting"))?.n ?? 0;
  }

  #row(): Promise<Row | null> {
    return this.row("SELECT failures, since FROM webhook_breaker");
  }
}

/**
 * The state of the tenant's receiver, for all users' objects: a receiver that hangs would otherwise cost each of them 15 seconds for
 * each attempt. Every method rejects when D1 does not answer.
 */
export type WebhookBreaker = Pick<D1WebhookBreaker, keyof D1WebhookBreaker>;

const isPaused = ({ since }: Row, now: number): boolean => now - since >= PAUSED_AFTER_MS;
