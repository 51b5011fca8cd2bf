import type { UserHash } from "../../domain/ids.ts";
import { D1Store } from "./d1-store.ts";
import { current } from "./memory-writes.ts";
import { oldRows } from "./zeroed-columns.ts";

/** Puts the user ?1, with the id ?2, into the catalogue in the epoch ?3, unless a later erasure hides it. */
export const PUT_USER = `INSERT INTO users (user_hash, user_id, epoch) SELECT ?1, ?2, ?3 WHERE ${current("?1", "?3")}
  ON CONFLICT (user_hash) DO UPDATE SET user_id = ?2, epoch = ?3 WHERE epoch < ?3`;

/** The row of an erased user: ?1 is the user, ?2 the epoch of the fence. */
export const OLD_USERS = oldRows("users", "user_hash = ?1 AND epoch < ?2");

export type CataloguedUser = { hash: UserHash; id: string };

const LIST = `SELECT user_hash AS hash, user_id AS id FROM users
  WHERE user_hash > ?1 AND ${current("users.user_hash", "users.epoch")} ORDER BY user_hash LIMIT ?2`;

/** The users with data. A user who has only entries is listed after a minute. Rejects when D1 does not answer. */
export class D1UserCatalogue extends D1Store {
  async count(): Promise<number> {
    return (await this.row<{ n: number }>("SELECT COUNT(*) AS n FROM users"))?.n ?? 0;
  }

  /** In the order of their hashes. No write moves a row. */
  async list({ after = "", limit }: { after?: UserHash; limit: number }): Promise<CataloguedUser[]> {
    return this.rows(LIST, after, limit);
  }
}

export type UserCatalogue = Pick<D1UserCatalogue, keyof D1UserCatalogue>;
