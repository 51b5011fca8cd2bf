import { env } from "cloudflare:workers";
import { ofUser } from "../src/platform/d1/shards.ts";
import { userHash } from "../src/domain/ids.ts";

// The project `shards` binds these, and no other one does.
const bound = env as unknown as Record<string, D1Database | undefined>;

/** The databases that users are spread over: `DB` alone, or three. */
export const shards: readonly D1Database[] = [bound.FACTS_0, bound.FACTS_1, bound.FACTS_2].flatMap(
  (database) => database ?? [],
);
const facts = shards.length === 0 ? [env.DB] : shards;

/** The database that keeps what D1 has of a user. */
export const databaseOf = async (user: string): Promise<D1Database> => ofUser(facts, await userHash(user));

/** Takes away what other files left: a tenant of more than some thousand rows is counted in another way. */
export const emptyTenant = () =>
  env.DB.batch(
    ["memories", "threads", "users", "jobs"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
