import { and, desc, eq, inArray, sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import type { UserHash } from "../ids.ts";
import { type ThreadRow, threads } from "./tables.ts";

export type CataloguePage = {
  /** Only this user's. */
  owner?: UserHash;
  agent?: string;
  /** The (createdAt, id) after which the page begins. */
  after?: readonly [createdAt: number, id: string];
  limit: number;
};

/** The catalogue of the tenant's threads. Every method rejects when D1 does not answer; writes are safe to repeat. */
export interface ThreadCatalogue {
  /** Puts and removes in one batch. */
  apply(changes: { put: readonly ThreadRow[]; remove: readonly string[] }): Promise<void>;
  /** Newest first by their beginning: an order that no change disturbs, so that pages are complete. */
  list(page: CataloguePage): Promise<ThreadRow[]>;
}

export class D1ThreadCatalogue implements ThreadCatalogue {
  readonly #db: DrizzleD1Database;

  constructor(database: D1Database) {
    this.#db = drizzle(database);
  }

  async apply({ put, remove }: { put: readonly ThreadRow[]; remove: readonly string[] }): Promise<void> {
    const puts = put.map((row) => {
      const { id: _id, createdAt: _createdAt, ...changed } = row;
      return this.#db.insert(threads).values(row).onConflictDoUpdate({ target: threads.id, set: changed });
    });
    // A list of ids is bound as one parameter: D1 takes 100 a statement.
    const ids = sql`(SELECT value FROM json_each(${JSON.stringify(remove)}))`;
    const removal = this.#db.delete(threads).where(inArray(threads.id, ids));
    await this.#db.batch([removal, ...puts]);
  }

  async list({ owner, agent, after, limit }: CataloguePage): Promise<ThreadRow[]> {
    const filters: SQL[] = [];
    if (owner !== undefined) filters.push(eq(threads.userHash, owner));
    if (agent !== undefined) filters.push(eq(threads.agent, agent));
    if (after !== undefined)
      filters.push(sql`(${threads.createdAt}, ${threads.id}) < (${after[0]}, ${after[1]})`);
    return this.#db
      .select()
      .from(threads)
      .where(and(...filters))
      .orderBy(desc(threads.createdAt), desc(threads.id))
      .limit(limit);
  }
}
