import { asc, eq, sql } from "drizzle-orm";
import { byteLength, limits } from "../../domain/limits.ts";
import type { RulesByPredicate } from "../../domain/memory/predicates.ts";
import type { NamedPredicateRule } from "../../domain/schema/predicate.ts";
import { CachedRules, type RuleCache } from "./cached-rules.ts";
import { D1Store } from "./d1-store.ts";
import { predicates } from "./tables.ts";

/** The tenant's rules of predicates. Every method rejects when D1 does not answer. */
export class D1PredicateRules extends D1Store {
  readonly #cached: CachedRules<RulesByPredicate>;

  constructor(database: D1Database, shared: { cache: RuleCache<RulesByPredicate>; now: () => number }) {
    super(database);
    this.#cached = new CachedRules(
      database,
      shared,
      async () => new Map((await this.list()).map(({ predicate, ...rule }) => [predicate, rule])),
    );
  }

  /** The rules by predicate, at most a minute old; up to an hour old while D1 does not answer. */
  rules(): Promise<RulesByPredicate> {
    return this.#cached.current();
  }

  /** All of them, by name. */
  async list(): Promise<NamedPredicateRule[]> {
    const rules = await this.db
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

  /** Writes nothing over a limit. The predicate is normalised. */
  async put({ predicate, cardinality, policy, opposites = [] }: NamedPredicateRule) {
    const named = JSON.stringify(opposites);
    const others = sql`FROM predicates WHERE name <> ${predicate}`;
    const hasRoom = sql`(SELECT COUNT(*) ${others}) < ${limits.predicateRules}`;
    const isShort = sql`${named} = '[]' OR ${byteLength(named)} +
      (SELECT COALESCE(SUM(octet_length(opposites)), 0) ${others} AND opposites <> '[]') <= ${limits.oppositesBytes}`;
    const stored = await this.db.all(sql`
      INSERT INTO predicates (name, cardinality, policy, opposites)
      SELECT ${predicate}, ${cardinality}, ${policy}, ${named} WHERE ${hasRoom} AND (${isShort})
      ON CONFLICT (name) DO UPDATE SET
        cardinality = excluded.cardinality, policy = excluded.policy, opposites = excluded.opposites
      RETURNING name`);
    this.#cached.forget();
    if (stored.length > 0) return "stored";
    const [left] = await this.db.all<{ room: number }>(sql`SELECT ${hasRoom} AS room`);
    return left?.room === 1 ? "too many opposites" : "too many rules";
  }

  async delete(predicate: string): Promise<void> {
    await this.db.delete(predicates).where(eq(predicates.name, predicate));
    this.#cached.forget();
  }
}

export type PredicateRules = Pick<D1PredicateRules, keyof D1PredicateRules>;
