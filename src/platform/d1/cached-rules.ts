import { withDeadline } from "../deadline.ts";

/** The rules of a database as an isolate read them. */
type Cached<Rules> = { rules: Rules; readAt: number; failedAt?: number };
/** Shared by all objects of the isolate. */
export type RuleCache<Rules> = WeakMap<D1Database, Cached<Rules>>;

const CURRENT_MS = 60_000;
const USABLE_MS = 60 * 60_000;
/** The time that D1 has to answer, and the pause after it did not while the rules are usable: each call asks for them. */
const [READ_MS, RETRY_MS] = [5_000, 5_000];

/** Rules that each call needs: at most a minute old; up to an hour old while D1 does not answer. */
export class CachedRules<Rules> {
  readonly #db: D1Database;
  readonly #cache: RuleCache<Rules>;
  readonly #now: () => number;
  readonly #read: () => Promise<Rules>;

  constructor(
    db: D1Database,
    { cache, now }: { cache: RuleCache<Rules>; now: () => number },
    read: () => Promise<Rules>,
  ) {
    this.#db = db;
    this.#cache = cache;
    this.#now = now;
    this.#read = read;
  }

  /** Rejects when D1 does not answer, and no usable rules are known. */
  async current(): Promise<Rules> {
    const cached = this.#cache.get(this.#db);
    // A negative age: the clock was put back.
    const ageOf = (time = -Infinity) => Math.abs(this.#now() - time);
    const age = ageOf(cached?.readAt);
    const isPaused = ageOf(cached?.failedAt) < RETRY_MS;
    if (cached !== undefined && (age < CURRENT_MS || (isPaused && age < USABLE_MS))) return cached.rules;
    try {
      const rules = await withDeadline(this.#read(), READ_MS);
      this.#cache.set(this.#db, { rules, readAt: this.#now() });
      return rules;
    } catch (error) {
      if (cached === undefined || age >= USABLE_MS) throw error;
      this.#cache.set(this.#db, { ...cached, failedAt: this.#now() });
      return cached.rules;
    }
  }

  /** For the isolate that changes them. */
  forget(): void {
    this.#cache.delete(this.#db);
  }
}
