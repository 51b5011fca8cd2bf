import { asc, eq, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { limits } from "../../domain/limits.ts";
import type { Rules } from "../../domain/memory/predicates.ts";
import type { NamedPredicateRule } from "../../domain/schema/predicate.ts";
import { predicates } from "./tables.ts";

/** The tenant's rules of predicates. Every method rejects when D1 does not answer. */
export interface PredicateRules {
  /** The rules by predicate, at most a minute old; up to an hour old while D1 does not answer. */
  rules(): Promise<Rules>;
  /** All of them, by name. */
  list(): Promise<NamedPredicateRule[]>;
  /** False, without a write, at the limit. The predicate is normalised. */
  put(rule: NamedPredicateRule): Promise<boolean>;
  delete(predicate: string): Promise<void>;
}

/** The rules of a database as an isolate read them. */
export type CachedRules = { rules: Rules; readAt: number };

const CURRENT_MS = 60_000;
const USABLE_MS = 60 * 60_000;

export class D1PredicateRules implements PredicateRules {
  readonly #database: D1Database;
  readonly #db: DrizzleD1Database;
  readonly #cache: WeakMap<D1Database, CachedRules>;
  readonly #now: () => number;

  /** `cache`: shared by all objects of the isolate. */
  constructor(
    database: D1Database,
    { cache, now }: { cache: WeakMap<D1Database, CachedRules>; now: () => number },
  ) {
    this.#database = database;
    this.#db = drizzle(database);
    this.#cache = cache;
    this.#now = now;
  }

  async rules(): Promise<Rules> {
    const cached = this.#cache.get(this.#database);
    // A negative age: the clock was put back.
    const age = cached === undefined ? Infinity : Math.abs(this.#now() - cached.readAt);
    if (cached !== undefined && age < CURRENT_MS) return cached.rules;
    try {
      const rules = new Map((await this.list()).map(({ predicate, ...rule }) => [predicate, rule]));
      this.#cache.set(this.#database, { rules, readAt: this.#now() });
      return rules;
    } catch (error) {
      if (cached === undefined || age >= USABLE_MS) throw error;
      return cached.rules;
    }
  }

  async list(): Promise<NamedPredicateRule[]> {
    const rules = await this.#db
      .select({
        predicate: predicates.name,
        cardinality: predicates.cardinality,
        policy: predicates.policy,
        opposites: predicates.opposites,
      })
      .from(predicates)
      .orderBy(asc(predicates.name));
    return rules.map(({ opposites, ...rule }) => ({ ...rule, ...(opposites.length > 0 && { opposites }) }));
  }

  async put({ predicate, cardinality, policy, opposites = [] }: NamedPredicateRule): Promise<boolean> {
    const named = JSON.stringify(opposites);
    const stored = await this.#db.all(sql`
      INSERT INTO predicates (name, cardinality, policy, opposites)
      SELECT ${predicate}, ${cardinality}, ${policy}, ${named}
      WHERE (SELECT COUNT(*) FROM predicates WHERE name <> ${predicate}) < ${limits.predicateRules}
      ON CONFLICT (name) DO UPDATE SET
        cardinality = excluded.cardinality, policy = excluded.policy, opposites = excluded.opposites
      RETURNING name`);
    this.#cache.delete(this.#database);
    return stored.length > 0;
  }

  async delete(predicate: string): Promise<void> {
    await this.#db.delete(predicates).where(eq(predicates.name, predicate));
    this.#cache.delete(this.#database);
  }
}
