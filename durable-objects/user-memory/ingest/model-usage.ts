import type { Ingest } from "../../../src/domain/schema/ingest.ts";
import type { ModelQuota } from "../../../src/platform/quotas.ts";

/** The days of which the usage is kept. */
const KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** The pause while calls under way may use up the quota: one that is refused is not counted. */
const UNDER_WAY_MS = 10_000;

/** Counts a user's calls of the language model by day (UTC), and bounds them. Owns the SQL of `model_usage`. */
export class ModelUsage {
  readonly #sql: SqlStorage;
  readonly #quota: ModelQuota;
  #asking = 0;

  constructor(sql: SqlStorage, quota: ModelQuota) {
    this.#sql = sql;
    this.#quota = quota;
  }

  /**
   * Asks the model and counts its calls; null if the quota of the day is used up. The first call is counted before it is made: one
   * that ends the object counts too. The tokens of questions under way, and the call after a wrong answer, may exceed the quota.
   */
  async count<T extends { usage: Ingest["usage"] }>(
    now: () => number,
    ask: () => Promise<T>,
  ): Promise<T | null> {
    if (!this.#allows(now())) return null;
    const asksAt = now();
    this.#add({ calls: 1, inputTokens: 0, outputTokens: 0 }, asksAt);
    this.#asking++;
    try {
      const asked = await ask();
      // A call that was refused at no cost counts none.
      this.#add({ ...asked.usage, calls: asked.usage.calls - 1 }, asksAt);
      return asked;
    } finally {
      this.#asking--;
    }
  }

  /** When a call may be allowed: soon if calls under way may use up the rest, else on the next day. */
  nextAllowed(now: number): number {
    return this.#allows(now, this.#asking) ? now + UNDER_WAY_MS : (dayOf(now) + 1) * DAY_MS;
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
    return used ?? { calls: 0, inputTokens: 0, outputTokens: 0 };
  }
}

export const addedUsage = (sum: Ingest["usage"], more: Ingest["usage"]): Ingest["usage"] => ({
  calls: sum.calls + more.calls,
  inputTokens: sum.inputTokens + more.inputTokens,
  outputTokens: sum.outputTokens + more.outputTokens,
});

const dayOf = (now: number): number => Math.floor(now / DAY_MS);
