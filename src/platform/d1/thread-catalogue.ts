import { and, desc, eq, sql, type SQL } from "drizzle-orm";
import { withDeadline } from "../deadline.ts";
import { hash32 } from "../../domain/hash.ts";
import type { UserHash } from "../../domain/ids.ts";
import { threadOwner } from "../../domain/thread-id.ts";
import { countedByDay, type CreatedOnDay } from "./by-day.ts";
import { D1Store } from "./d1-store.ts";
import { current, WRITE_STATE } from "./memory-writes.ts";
import { type ThreadRow, threads } from "./tables.ts";
import { PUT_USER } from "./user-catalogue.ts";
import { ErasedWrite } from "./write-errors.ts";
import { oldRows, removal } from "./zeroed-columns.ts";

export type CataloguePage = {
  /** Only this user's. */
  owner?: UserHash;
  agent?: string;
  /** The (createdAt, id) after which the page begins. */
  after?: readonly [createdAt: number, id: string];
  limit: number;
};

/** Changes of one user's rows. */
export type CatalogueChanges = {
  put: readonly ThreadRow[];
  remove: readonly string[];
  /** The user's erasure epoch of the removed row. */
  epoch: number;
  /** Notes who the user is, unless that is known. */
  user?: { hash: UserHash; id: string };
};

const WRITE_WITHIN_MS = 10_000;

// Plain text, since Drizzle's insert takes no condition. An update of an indexed column writes a row of its index, also if
// the value stays: a column of an index is set only if it changes. The id contains the user's hash.
const PUT = `INSERT INTO threads (id, user_hash, user_id, title, agent, agent_hash, resource_slug, record_id, metadata,
    created_at, updated_at, epoch)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 WHERE ${current("?2", "?12")}
  ON CONFLICT (id) DO UPDATE SET user_id = ?3, title = ?4, agent = ?5, resource_slug = ?7, record_id = ?8,
    metadata = ?9, updated_at = ?11, epoch = ?12`;
const BY_DAY = { table: "threads", index: "threads_by_user", where: "TRUE", count: "COUNT(*)" };
const SET_AGENT_HASH = `UPDATE threads SET agent_hash = ?3
  WHERE id = ?1 AND agent IS ?2 AND agent_hash IS NOT ?3`;
const FENCE = `${WRITE_STATE} AND epoch > ?2`;
const REMOVE = removal("threads", "id IN (SELECT value FROM json_each(?1)) AND epoch <= ?2");

/** An erased user's rows: ?1 is the user, ?2 the epoch of the fence. */
export const OLD_THREADS = oldRows("threads", "user_hash = ?1 AND epoch < ?2");
export const FIND_THREAD = "SELECT 1 FROM threads WHERE id = ?1";
/** Selects the owners of threads after the user ?1. */
export const THREAD_OWNERS = "SELECT user_hash FROM threads WHERE user_hash > ?1";

/**
 * The catalogue of the tenant's threads. Every method rejects when D1 does not answer; writes are safe to repeat, unless they
 * reject with `ErasedWrite`.
 */
export class D1ThreadCatalogue extends D1Store {
  /** Counts the tenant's threads by the day on which they began, from a time on. */
  async createdByDay(from: number): Promise<CreatedOnDay[]> {
    return countedByDay(this.database, BY_DAY, from);
  }

  /**
   * Puts and removes in one batch. It rejects with `ErasedWrite`, and changes nothing, where the user was erased in a later
   * epoch. A row of a later epoch is not removed.
   */
  async apply(changes: CatalogueChanges): Promise<void> {
    const { put, remove, epoch, user } = changes;
    const oldest = Math.min(epoch, ...put.map((row) => row.epoch));
    const statements = [this.prepare(FENCE, ownerOf(changes), oldest)];
    for (const row of put) {
      const agentHash = row.agent === null ? null : hash32(row.agent);
      statements.push(
        this.prepare(
          PUT,
          row.id,
          row.userHash,
          row.userId,
          row.title,
          row.agent,
          agentHash,
          row.resourceSlug,
          row.recordId,
          row.metadata && JSON.stringify(row.metadata),
          row.createdAt,
          row.updatedAt,
          row.epoch,
        ),
        this.prepare(SET_AGENT_HASH, row.id, row.agent, agentHash),
      );
    }
    // A list of ids is bound as one parameter: D1 takes 100 a statement.
    if (remove.length > 0) statements.push(...this.prepareAll(REMOVE, JSON.stringify(remove), epoch));
    if (user !== undefined) statements.push(this.prepare(PUT_USER, user.hash, user.id, epoch));
    const batch = this.database.batch<{ upTo: number; epoch: number }>(statements);
    const [fence] = (await withDeadline(batch, WRITE_WITHIN_MS))[0]?.results ?? [];
    if (fence !== undefined) throw new ErasedWrite(fence);
  }

  /** Newest first by their beginning: an order that no change disturbs, so that pages are complete. */
  async list({ owner, agent, after, limit }: CataloguePage): Promise<ThreadRow[]> {
    const filters: SQL[] = [sql.raw(current("threads.user_hash", "threads.epoch"))];
    if (owner !== undefined) filters.push(eq(threads.userHash, owner));
    if (agent !== undefined) filters.push(sql`agent_hash = ${hash32(agent)}`, eq(threads.agent, agent));
    if (after !== undefined)
      filters.push(sql`(${threads.createdAt}, ${threads.id}) < (${after[0]}, ${after[1]})`);
    return this.db
      .select()
      .from(threads)
      .where(and(...filters))
      .orderBy(desc(threads.createdAt), desc(threads.id))
      .limit(limit);
  }
}

export type ThreadCatalogue = Pick<D1ThreadCatalogue, keyof D1ThreadCatalogue>;

/** The user whose rows change. */
export function ownerOf({ put, remove, user }: CatalogueChanges): UserHash {
  const owner = user?.hash ?? put[0]?.userHash ?? threadOwner(remove[0] ?? "");
  if (owner === null) throw new Error("a change of the catalogue must name a user or a thread");
  return owner;
}
