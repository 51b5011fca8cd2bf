import { asc, eq, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { byteLength, limits } from "../../domain/limits.ts";
import type { RulesByPredicate } from "../../domain/memory/predicates.ts";
import type { NamedPredicateRule } from "../../domain/schema/predicate.ts";
import { predicates } from "./tables.ts";

/** The tenant's rules of predicates. Every method rejects when D1 does not answer. */
export interface PredicateRules {
  /** The rules by predicate, at most a minute old; up to an hour old while D1 does not answer. */
  rules(): Promise<RulesByPredicate>;
  /** All of them, by name. */
  list(): Promise<NamedPredicateRule[]>;
  /** Writes nothing over a limit. The predicate is normalised. */
  put(rule: NamedPredicateRule): Promise<"stored" | "too many rules" | "too many opposites">;
  delete(predicate: string): Promise<void>;
}

/** The rules of a database as an isolate read them. */
export type CachedRules = { rules: RulesByPredicate; readAt: number };

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

  async rules(): Promise<RulesByPredicate> {
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

  async put({ predicate, cardinality, policy, opposites = [] }: NamedPredicateRule) {
    const named = JSON.stringify(opposites);
    const others = sql`FROM predicates WHERE name <> ${predicate}`;
    const hasRoom = sql`(SELECT COUNT(*) ${others}) < ${limits.predicateRules}`;
    const isShort = sql`${named} = '[]' OR ${byteLength(named)} +
      (SELECT COALESCE(SUM(octet_length(opposites)), 0) ${others} AND opposites <> '[]') <= ${limits.oppositesBytes}`;
    const stored = await this.#db.all(sql`
      INSERT INTO predicates (name, cardinality, policy, opposites)
      SELECT ${predicate}, ${cardinality}, ${policy}, ${named} WHERE ${hasRoom} AND (${isShort})
      ON CONFLICT (name) DO UPDATE SET
        cardinality = excluded.cardinality, policy = excluded.policy, opposites = excluded.opposites
      RETURNING name`);
    this.#cache.delete(this.#database);
    if (stored.length > 0) return "stored";
    const [left] = await this.#db.all<{ room: number }>(sql`SELECT ${hasRoom} AS room`);
    return left?.room === 1 ? "too many opposites" : "too many rules";
  }

  async delete(predicate: string): Promise<void> {
    await this.#db.delete(predicates).where(eq(predicates.name, predicate));
    this.#cache.delete(this.#database);
  }
}
