import type { Owner } from "../../../src/domain/memory/record.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import { raw, SqlStore } from "../../storage/sql.ts";

/** The numbers and times of the writes of one owner's memories. Owns the SQL of `memory_clock`. */
export class MemoryClock extends SqlStore {
  /** The owner of the memories; null before the first one. */
  owner(): Owner | null {
    const owner = this.sql.value<string | null>`SELECT owner FROM memory_clock`;
    return owner === null ? null : (JSON.parse(owner) as Owner);
  }

  /** Forgets the owner's id. Deletions elsewhere still need the hash. */
  forgetOwner(): void {
    const owner = this.owner();
    if (owner === null) return;
    this.sql.run`UPDATE memory_clock SET ${raw(zeroedColumns(["owner"]))}`;
    this.sql.run`UPDATE memory_clock SET owner = ${JSON.stringify({ ...owner, id: "" })}`;
  }

  /** Notes the owner of new versions, the highest number among them, and the time of their write. */
  note(owner: Owner, { version, at }: { version: number; at: number }): void {
    this.reach(version);
    const json = JSON.stringify(owner);
    this.sql.run`
      UPDATE memory_clock SET owner = ${json}, last_write = MAX(last_write, ${at})
      WHERE owner IS NOT ${json} OR last_write < ${at}`;
  }

  /** Uses up the next number of a version, for what is no version. */
  nextNumber(): number {
    return this.sql.value`UPDATE memory_clock SET last_version = last_version + 1 RETURNING last_version`;
  }

  /** The highest version number ever used. */
  lastVersion(): number {
    return this.sql.value`SELECT last_version FROM memory_clock`;
  }

  /** Marks the numbers up to this one as used. */
  reach(version: number): void {
    this.sql.run`UPDATE memory_clock SET last_version = ${version} WHERE last_version < ${version}`;
  }

  /** The time, but never before the last write: the clock may have been set back since. */
  latest(now: number): number {
    return this.sql.value`SELECT MAX(last_write, ${now}) FROM memory_clock`;
  }

  /** The time of a write that is being decided: after the last write. */
  next(now: number): number {
    return this.sql.value`SELECT MAX(last_write + 1, ${now}) FROM memory_clock`;
  }

  /** The number of a new write: the time, or one more than the last number. Marks the numbers up to `version` as used. */
  tick(now: number, version = 0): number {
    return this.sql.value`
      UPDATE memory_clock SET
        last_write = MAX(last_write + 1, ${now}), last_version = MAX(last_version, ${version})
      RETURNING last_write`;
  }
}
