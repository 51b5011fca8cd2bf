import type { Owner } from "../../../src/domain/memory/record.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";

/** The numbers and times of the writes of one owner's memories. Owns the SQL of `memory_clock`. */
export class MemoryClock {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The owner of the memories; null before the first one. */
  owner(): Owner | null {
    const { owner } = this.#sql.exec<{ owner: string | null }>("SELECT owner FROM memory_clock").one();
    return owner === null ? null : (JSON.parse(owner) as Owner);
  }

  /** Forgets the owner's id. Deletions elsewhere still need the hash. */
  forgetOwner(): void {
    const owner = this.owner();
    if (owner === null) return;
    this.#sql.exec(`UPDATE memory_clock SET ${zeroedColumns(["owner"])}`);
    this.#sql.exec("UPDATE memory_clock SET owner = ?", JSON.stringify({ ...owner, id: "" }));
  }

  /** Notes the owner of new versions, the highest number among them, and the time of their write. */
  note(owner: Owner, { version, at }: { version: number; at: number }): void {
    this.reach(version);
    this.#sql.exec(
      `UPDATE memory_clock SET owner = ?1, last_write = MAX(last_write, ?2)
       WHERE owner IS NOT ?1 OR last_write < ?2`,
      JSON.stringify(owner),
      at,
    );
  }

  /** Uses up the next number of a version, for what is no version. */
  nextNumber(): number {
    return this.#sql
      .exec<{ n: number }>(
        "UPDATE memory_clock SET last_version = last_version + 1 RETURNING last_version AS n",
      )
      .one().n;
  }

  /** The highest version number ever used. */
  lastVersion(): number {
    return this.#sql.exec<{ n: number }>("SELECT last_version AS n FROM memory_clock").one().n;
  }

  /** Marks the numbers up to this one as used. */
  reach(version: number): void {
    this.#sql.exec("UPDATE memory_clock SET last_version = ?1 WHERE last_version < ?1", version);
  }

  /** The time, but never before the last write: the clock may have been set back since. */
  latest(now: number): number {
    return this.#sql.exec<{ n: number }>("SELECT MAX(last_write, ?) AS n FROM memory_clock", now).one().n;
  }

  /** The time of a write that is being decided: after the last write. */
  next(now: number): number {
    return this.#sql.exec<{ n: number }>("SELECT MAX(last_write + 1, ?) AS n FROM memory_clock", now).one().n;
  }

  /** The number of a new write: the time, or one more than the last number. Marks the numbers up to `version` as used. */
  tick(now: number, version = 0): number {
    return this.#sql
      .exec<{ n: number }>(
        `UPDATE memory_clock SET last_write = MAX(last_write + 1, ?), last_version = MAX(last_version, ?)
         RETURNING last_write AS n`,
        now,
        version,
      )
      .one().n;
  }
}
