import type { Ingest } from "../../domain/schema/ingest.ts";
import type { ModelQuota } from "../quotas.ts";
import { D1Store } from "./d1-store.ts";

/** The days of which the usage is kept. */
const KEPT_DAYS = 30;
const OF_DAY = "SELECT calls, tokens FROM tenant_model_usage WHERE day = ?";
const ADD = "UPDATE tenant_model_usage SET calls = calls + ?2, tokens = tokens + ?3 WHERE day = ?1";

/** One row of D1 a day: no call of one user passes while others have used up the day. */
export class D1TenantModelUsage extends D1Store {
  readonly #quota: ModelQuota;

  constructor(database: D1Database, quota: ModelQuota) {
    super(database);
    this.#quota = quota;
  }

  /** Counts a call before it is made. False, without a write, if the quota of the day is used up. */
  async begin(day: number): Promise<boolean> {
    const { calls, tokens } = this.#quota;
    if (calls === null && tokens === null) return true;
    const counted = await this.row<{ calls: number }>(
      `INSERT INTO tenant_model_usage (day, calls, tokens) SELECT ?1, 1, 0 WHERE ?2 > 0 AND ?3 > 0
       ON CONFLICT (day) DO UPDATE SET calls = calls + 1 WHERE calls < ?2 AND tokens < ?3
       RETURNING calls`,
      day,
      calls ?? Number.MAX_SAFE_INTEGER,
      tokens ?? Number.MAX_SAFE_INTEGER,
    );
    if (counted?.calls === 1) await this.#deleteOld(day);
    return counted !== null;
  }

  /** The call is counted: it is made though old rows stay until the next day. */
  async #deleteOld(day: number): Promise<void> {
    try {
      await this.run("DELETE FROM tenant_model_usage WHERE day <= ?", day - KEPT_DAYS);
    } catch (error) {
      console.error({ message: "old counts of the language model stay", error: String(error) });
    }
  }

  /** The calls and tokens of a day, as far as a quota has them counted. */
  async of(day: number): Promise<{ calls: number; tokens: number }> {
    const row = await this.row<{ calls: number; tokens: number }>(OF_DAY, day);
    return row ?? { calls: 0, tokens: 0 };
  }

  /** Adds the tokens of a call that `begin` has counted, and its further calls: a negative number takes some back. */
  async end(day: number, { calls, inputTokens, outputTokens }: Ingest["usage"]): Promise<void> {
    const quota = this.#quota;
    const tokens = quota.tokens === null ? 0 : inputTokens + outputTokens;
    const more = quota.calls === null && quota.tokens === null ? 0 : calls;
    // One write suffices for a call if nobody bounds its tokens.
    if (more === 0 && tokens === 0) return;
    await this.run(ADD, day, more, tokens);
  }
}

/** The tenant's calls of the language model by day (UTC), which all users share. Every method rejects when D1 does not answer. */
export type TenantModelUsage = Pick<D1TenantModelUsage, keyof D1TenantModelUsage>;
