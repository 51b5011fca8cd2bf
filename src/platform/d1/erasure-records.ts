import { withDeadline } from "../deadline.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { Erasure, PublicKey } from "../../domain/schema/erasure.ts";
import { D1Store } from "./d1-store.ts";
import { OLD_MEMORIES, REMOVE_VERSIONS, VERSIONS_OF_SCOPE } from "./memory-records.ts";
import { RAISE_FENCE } from "./memory-writes.ts";
import { FIND_THREAD, OLD_THREADS } from "./thread-catalogue.ts";
import { OLD_USERS } from "./user-catalogue.ts";

/** The fence of a user's erasure: versions up to `upTo`, and rows of epochs before `epoch`, are deleted. */
export type Fence = { user: UserHash; epoch: number; upTo: number };
/** `since`: null where there are none. */
export type Unfinished = { count: number; since: number | null };
export type RunningPage = { before: number; limit: number; turn: number };
export type ErasedTable = keyof typeof OLD;
/** Memories of one scope, up to a version. */
export type ErasedScope = { user: UserHash; scope: string; upTo: number };

const WITHIN_MS = 10_000;

const NOTE = `INSERT INTO erasures (id, revision, state) VALUES (?1, ?2, ?3)
  ON CONFLICT (id) DO UPDATE SET revision = ?2, state = ?3 WHERE revision < ?2`;
const KEY = "INSERT OR IGNORE INTO receipt_keys (kid, jwk) VALUES (?1, ?2)";
const RUNNING = "FROM erasures WHERE state ->> '$.status' = 'running' AND state ->> '$.requestedAt' < ?1";
export const UNFINISHED = `SELECT COUNT(*) AS count, MIN(state ->> '$.requestedAt') AS since
  FROM erasures INDEXED BY erasures_running WHERE state ->> '$.status' = 'running'`;
const SOME_RUNNING = `SELECT id ${RUNNING} ORDER BY state ->> '$.requestedAt', id LIMIT ?2
  OFFSET ?2 * (?3 % MAX(1, ((SELECT COUNT(*) ${RUNNING}) + ?2 - 1) / ?2))`;

const ANY_SINCE = `SELECT 1 FROM erasures WHERE id BETWEEN ?1 || '.' AND ?1 || '/'
  AND state ->> '$.requestedAt' >= ?2 LIMIT 1`;

const OLD = { memories: OLD_MEMORIES, threads: OLD_THREADS, users: OLD_USERS };
const endOf = (table: ErasedTable, { upTo, epoch }: Fence): number => (table === "memories" ? upTo : epoch);

/**
 * D1's records of erasures, and its part of each. Every method rejects when D1 does not answer. All may be repeated,
 * and a write that arrives late does no harm.
 */
export class D1ErasureRecords extends D1Store {
  /** Notes an erasure as it is, unless a later state is known; a user's with the fence that hides all that is old. */
  async note(erasure: Erasure, { revision, fence }: { revision: number; fence?: Fence }): Promise<void> {
    const statements = [this.prepare(NOTE, erasure.id, revision, JSON.stringify(erasure))];
    if (fence !== undefined) statements.push(this.prepare(RAISE_FENCE, fence.user, fence.upTo, fence.epoch));
    await withDeadline(this.database.batch(statements), WITHIN_MS);
  }

  async get(id: string): Promise<Erasure | undefined> {
    const row = await this.row<{ state: string }>("SELECT state FROM erasures WHERE id = ?1", id);
    // It was written by `note`.
    return row === null ? undefined : (JSON.parse(row.state) as Erasure);
  }

  /** Deletes some of an erased user's rows of a table, and answers how many. */
  erase(table: ErasedTable, fence: Fence): Promise<number> {
    return this.#erase(OLD[table].remove, fence.user, endOf(table, fence));
  }

  /** True if such rows are still there. */
  async hasRows(table: ErasedTable, fence: Fence): Promise<boolean> {
    const looked = this.row<{ n: number }>(OLD[table].exist, fence.user, endOf(table, fence));
    return (await withDeadline(looked, WITHIN_MS))?.n !== 0;
  }

  /**
   * At most 1,000 versions of memories of the scope. Versions that name the scope come last: the others are found only
   * through them.
   */
  async versionsOfScope({ user, scope, upTo }: ErasedScope): Promise<number[]> {
    const rows = this.rows<{ version: number }>(VERSIONS_OF_SCOPE, user, upTo, scope);
    return (await withDeadline(rows, WITHIN_MS)).map(({ version }) => version);
  }

  /** Deletes these versions of a user's memories. */
  async eraseVersions(user: UserHash, versions: readonly number[]): Promise<void> {
    await this.#erase(REMOVE_VERSIONS, user, JSON.stringify(versions));
  }

  /** The ids of running erasures that were requested before a time, at most `limit`. `turn` selects the page. */
  async running({ before, limit, turn }: RunningPage): Promise<string[]> {
    const rows = this.rows<{ id: string }>(SOME_RUNNING, before, limit, turn);
    return (await withDeadline(rows, WITHIN_MS)).map(({ id }) => id);
  }

  /** True if an erasure of the user, of a thread or of a scope was requested since a time. */
  async anySince(user: UserHash, time: number): Promise<boolean> {
    return (await withDeadline(this.row(ANY_SINCE, user, time), WITHIN_MS)) !== null;
  }

  /** Counts the running ones, and tells when the oldest was requested. */
  async unfinished(): Promise<Unfinished> {
    const row = this.row<Unfinished>(UNFINISHED);
    return (await withDeadline(row, WITHIN_MS)) ?? { count: 0, since: null };
  }

  async hasThread(id: string): Promise<boolean> {
    return (await this.row(FIND_THREAD, id)) !== null;
  }

  /** Notes a public key that receipts are signed with from now on. */
  async addKey(key: PublicKey): Promise<void> {
    await withDeadline(this.run(KEY, key.kid, JSON.stringify(key)), WITHIN_MS);
  }

  /** The public keys of all receipts that there are. */
  async keys(): Promise<PublicKey[]> {
    const rows = await this.rows<{ jwk: string }>("SELECT jwk FROM receipt_keys ORDER BY kid");
    // They were written by `addKey`.
    return rows.map(({ jwk }) => JSON.parse(jwk) as PublicKey);
  }

  async #erase(texts: [string, string], ...values: (string | number)[]): Promise<number> {
    const batch = this.database.batch(this.prepareAll(texts, ...values));
    const [, deleted] = await withDeadline(batch, WITHIN_MS);
    return deleted?.meta.changes ?? 0;
  }
}

export type ErasureRecords = Pick<D1ErasureRecords, keyof D1ErasureRecords>;
