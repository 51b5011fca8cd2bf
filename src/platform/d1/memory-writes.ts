import { sql, type SQL } from "drizzle-orm";
import type { UserHash } from "../../domain/ids.ts";

// The SQL of `memory_writes`: the number of each user's last write, and the fence of an erased user. ?1 is the user.

/** Sets ?2 as the last write, unless D1 has a later one. */
export const ANNOUNCE = `INSERT INTO memory_writes (user_hash, seq) VALUES (?1, ?2)
  ON CONFLICT (user_hash) DO UPDATE SET seq = ?2 WHERE seq < ?2`;

/** Hides versions up to ?2, and rows of epochs before ?3. */
export const RAISE_FENCE = `INSERT INTO memory_writes (user_hash, seq, erased_up_to, epoch) VALUES (?1, 0, ?2, ?3)
  ON CONFLICT (user_hash) DO UPDATE SET erased_up_to = MAX(erased_up_to, ?2), epoch = MAX(epoch, ?3)`;

export const WRITE_STATE = "SELECT seq, erased_up_to AS upTo, epoch FROM memory_writes WHERE user_hash = ?1";

export const LAST_WRITE = "(SELECT seq FROM memory_writes WHERE user_hash = ?1)";
export const ERASED_UP_TO = "(SELECT erased_up_to FROM memory_writes WHERE user_hash = ?1)";

/** Selects as `owner` the users after ?1. */
export const WRITERS = "SELECT user_hash AS owner FROM memory_writes WHERE user_hash > ?1";

/** SQL: true if the row's epoch is not before the user's last erasure. Both arguments are SQL expressions. */
export const current = (user: string, epoch: string): string =>
  `${epoch} >= COALESCE((SELECT epoch FROM memory_writes WHERE memory_writes.user_hash = ${user}), 0)`;

/** The owner's last erased version. D1 may still have rows up to it. */
export const erasedUpTo = (owner: UserHash): SQL =>
  sql`COALESCE((SELECT erased_up_to FROM memory_writes WHERE user_hash = ${owner}), 0)`;

/** A time, but never before the owner's last write: the reader's clock may be behind. */
export const notBeforeLastWrite = (owner: UserHash, time: number | SQL): SQL =>
  sql`(SELECT MAX(${time}, COALESCE((SELECT seq FROM memory_writes WHERE user_hash = ${owner}), 0)))`;
