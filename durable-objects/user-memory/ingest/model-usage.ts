import type { Ingest } from "../../../src/domain/schema/ingest.ts";
import { withDeadline } from "../../../src/platform/deadline.ts";
import type { TenantModelUsage } from "../../../src/platform/d1/tenant-model-usage.ts";
import type { ModelQuota } from "../../../src/platform/quotas.ts";

type ModelUsageDependencies = { sql: SqlStorage; quota: ModelQuota; tenant: TenantModelUsage };
/** A call that is not allowed before a time: a quota of the user, of all users or of the account is used up, or D1 does not tell. */
type RefusedCall = { why: "quota" | "tenant_quota" | "model_daily_limit" | "storage"; until: number };

/** The days of which the usage is kept. */
const KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** The pause while calls under way may use up the quota: one that is refused is not counted. */
const UNDER_WAY_MS = 10_000;
/** The time that D1 has to count, and the pause if it does not. */
const [COUNT_MS, STORAGE_MS] = [5_000, 60_000];

/** Counts a user's calls of the language model by day (UTC), and bounds them and those of all users. Owns the SQL of `model_usage`. */
export class ModelUsage {
  readonly #sql: SqlStorage;
  readonly #quota: ModelQuota;
  readonly #tenant: TenantModelUsage;
  #asking = 0;

  constructor({ sql, quota, tenant }: ModelUsageDependencies) {
    this.#sql = sql;
    this.#quota = quota;
    this.#tenant = tenant;
  }

  /**
   * Asks the model and counts its calls, unless a quota of the day is used up. The first call is counted before it is made: one that
   * ends the object counts too. The tokens of questions under way, and the call after a wrong answer, may exceed a quota.
   */
  async count<T extends { usage: Ingest["usage"]; failed?: string }>(
    now: () => number,
    ask: () => Promise<T>,
  ): Promise<T | RefusedCall> {
    const asksAt = now();
    if (!this.#allows(asksAt)) return { why: "quota", until: this.#nextAllowed(asksAt) };
    // The other questions of this user see it while D1 counts.
    this.#add(ONE_CALL, asksAt);
    this.#asking++;
    try {
      const why = await this.#refusedByTenant(dayOf(asksAt));
      if (why !== null) {
        this.#add(NO_CALL, asksAt);
        return { why, until: why === "storage" ? now() + STORAGE_MS : startOfNextDay(asksAt) };
      }
      const reply = await ask();
      // A call that was refused at no cost counts none.
      const more = { ...reply.usage, calls: reply.usage.calls - 1 };
      this.#add(more, asksAt);
      // The answer is there, and counted for the user: it is used though D1 does not count its tokens.
      await inTime(this.#tenant.end(dayOf(asksAt), more));
      if (reply.failed === "model_daily_limit") return { why: reply.failed, until: startOfNextDay(now()) };
      return reply;
    } finally {
      this.#asking--;
    }
  }

  /** Why the tenant's quota allows no call; null if it does, and has counted one. */
  async #refusedByTenant(day: number): Promise<"tenant_quota" | "storage" | null> {
    const begun = this.#tenant.begin(day);
    const isCounted = await inTime(begun);
    if (isCounted === true) return null;
    if (isCounted === false) {
      console.warn({ message: "the tenant's quota of the language model is used up" });
      return "tenant_quota";
    }
    // D1 may count it yet: nobody makes that call.
    begun.then((isLate) => (isLate ? inTime(this.#tenant.end(day, NO_CALL)) : null)).catch(() => {});
    return "storage";
  }

  /** When a call may be allowed: soon if calls under way may use up the rest, else on the next day. */
  #nextAllowed(now: number): number {
    return this.#allows(now, this.#asking) ? now + UNDER_WAY_MS : startOfNextDay(now);
  }

  /** `without`: calls under way, which may turn out to cost nothing. */
  #allows(now: number, without = 0): boolean {
    const { calls, tokens } = this.#quota;
    const used = this.of(now);
    return (
      used.calls - without < (calls ?? Infinity) &&
      used.inputTokens + used.outputTokens < (tokens ?? Infinity)
    );
  }

  #add({ calls, inputTokens, outputTokens }: Ingest["usage"], now: number): void {
    const day = dayOf(now);
    this.#sql.exec("DELETE FROM model_usage WHERE day <= ?", day - KEPT_DAYS);
    this.#sql.exec(
      `INSERT INTO model_usage (day, calls, input_tokens, output_tokens) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (day) DO UPDATE SET calls = calls + ?2, input_tokens = input_tokens + ?3,
         output_tokens = output_tokens + ?4`,
      day,
      calls,
      inputTokens,
      outputTokens,
    );
  }

  /** The usage of the day. */
  of(now: number): Ingest["usage"] {
    const [used] = this.#sql
      .exec<Ingest["usage"]>(
        `SELECT calls, input_tokens AS "inputTokens", output_tokens AS "outputTokens" FROM model_usage WHERE day = ?`,
        dayOf(now),
      )
      .toArray();
    return used ?? NO_USAGE;
  }
}

export const NO_USAGE: Ingest["usage"] = { calls: 0, inputTokens: 0, outputTokens: 0 };

export const addedUsage = (sum: Ingest["usage"], more: Ingest["usage"] = NO_USAGE): Ingest["usage"] => ({
  calls: sum.calls + more.calls,
  inputTokens: sum.inputTokens + more.inputTokens,
  outputTokens: sum.outputTokens + more.outputTokens,
});

const ONE_CALL = { ...NO_USAGE, calls: 1 };
/** Takes a call back. */
const NO_CALL = { ...NO_USAGE, calls: -1 };

/** The answer of D1 to a count; undefined if it fails or is late. */
async function inTime<T>(count: Promise<T>): Promise<T | undefined> {
  try {
    return await withDeadline(count, COUNT_MS);
  } catch (error) {
    console.error({ message: "D1 did not count a call of the language model", error: String(error) });
    return undefined;
  }
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS);
const startOfNextDay = (now: number): number => (dayOf(now) + 1) * DAY_MS;
