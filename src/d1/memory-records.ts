import { and, asc, desc, eq, inArray, sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { withDeadline } from "../deadline.ts";
import type { UserHash } from "../ids.ts";
import type { MemoryKind } from "../schema/memory.ts";
import { refusable } from "./refused.ts";
import { memories, type MemoryRow } from "./tables.ts";

export type MemoryPage = {
  kinds?: MemoryKind[];
  /** Only memories that carry every one of these. */
  tags?: string[];
  order: "asc" | "desc";
  /** The (createdAt, id) after which the page begins. */
  after?: readonly [createdAt: number, id: string];
  limit: number;
};

/**
 * The record of memories: the port that the Worker reads and a user's object writes. Every method rejects when
 * D1 does not answer. A write that rejected may still have happened, and is safe to repeat,
 * unless it rejected with `RefusedWrite`.
 */
export interface MemoryRecords {
  put(row: MemoryRow): Promise<void>;
  /** Whether there was such a memory. */
  delete(owner: UserHash, id: string): Promise<boolean>;
  get(owner: UserHash, id: string): Promise<MemoryRow | undefined>;
  list(owner: UserHash, page: MemoryPage): Promise<MemoryRow[]>;
  /** Rejects unless the database is there and its migrations are applied. */
  check(): Promise<void>;
}

/** A write that takes longer counts as failed, and may still happen. */
const WRITE_WITHIN_MS = 10_000;

export class D1MemoryRecords implements MemoryRecords {
  readonly #db: DrizzleD1Database;

  constructor(database: D1Database) {
    this.#db = drizzle(database);
  }

  async put(row: MemoryRow): Promise<void> {
    const { userHash: _owner, id: _id, createdAt: _createdAt, ...changed } = row;
    const upsert = this.#db
      .insert(memories)
      .values(row)
      .onConflictDoUpdate({ target: [memories.userHash, memories.id], set: changed });
    await refusable(() => withDeadline(Promise.resolve(upsert), WRITE_WITHIN_MS));
  }

  async delete(owner: UserHash, id: string): Promise<boolean> {
    const deleted = this.#db.delete(memories).where(one(owner, id)).returning({ id: memories.id });
    return (await withDeadline(Promise.resolve(deleted), WRITE_WITHIN_MS)).length > 0;
  }

  async get(owner: UserHash, id: string): Promise<MemoryRow | undefined> {
    return this.#db.select().from(memories).where(one(owner, id)).get();
  }

  async list(owner: UserHash, { kinds, tags, order, after, limit }: MemoryPage): Promise<MemoryRow[]> {
    const filters: (SQL | undefined)[] = [eq(memories.userHash, owner)];
    if (kinds !== undefined) filters.push(inArray(memories.kind, kinds));
    // One bound parameter however many tags there are: D1 takes 100 a statement.
    if (tags !== undefined)
      filters.push(sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(tags)}) AS wanted
        WHERE wanted.value NOT IN (SELECT value FROM json_each(${memories.tags})))`);
    if (after !== undefined) {
      const compare = order === "asc" ? sql`>` : sql`<`;
      filters.push(sql`(${memories.createdAt}, ${memories.id}) ${compare} (${after[0]}, ${after[1]})`);
    }
    const direction = order === "asc" ? asc : desc;
    return this.#db
      .select()
      .from(memories)
      .where(and(...filters))
      .orderBy(direction(memories.createdAt), direction(memories.id))
      .limit(limit);
  }

  async check(): Promise<void> {
    await this.#db.select({ id: memories.id }).from(memories).limit(1);
  }
}

const one = (owner: UserHash, id: string): SQL | undefined =>
  and(eq(memories.userHash, owner), eq(memories.id, id));
