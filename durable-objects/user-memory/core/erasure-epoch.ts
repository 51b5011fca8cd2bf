import { SqlStore } from "../../storage/sql.ts";

/**
 * Counts the erasures of the user, and keeps the last version that they took. The first epoch is the time at which the storage was
 * new: so it is later than each erasure before, if the storage was lost. Owns the SQL of `erasure_epoch`.
 */
export class ErasureEpoch extends SqlStore {
  #raised: () => void = () => {};
  #raisedBy = 0;

  /** Sets what is called when the object learns of a later epoch: D1 then shows no row of the former one. */
  onRaised(raised: () => void): void {
    this.#raised = raised;
  }

  /** Grows with each erasure of the user. Nothing of an earlier epoch may be written. */
  get current(): number {
    return this.sql.value`SELECT epoch FROM erasure_epoch`;
  }

  /**
   * Changes with each erasure since the object is awake. Unlike the epoch, it stays the same when the object learns of an erasure
   * that its storage has lost.
   */
  get lastErasure(): number {
    return this.current - this.#raisedBy;
  }

  /** Versions of memories up to this one are erased, in every store. */
  get erasedUpTo(): number {
    return this.sql.value`SELECT erased_up_to FROM erasure_epoch`;
  }

  /** Begins the first epoch of a new storage. */
  begin(now: number): void {
    this.sql.run`UPDATE erasure_epoch SET epoch = ${now}`;
  }

  /** Takes over the end of the last erasure from D1, as this storage may have been set back. */
  reach({ epoch, upTo }: { epoch: number; upTo: number }): void {
    const before = this.current;
    this.sql.run`
      UPDATE erasure_epoch SET epoch = MAX(epoch, ${epoch}), erased_up_to = MAX(erased_up_to, ${upTo})`;
    if (epoch <= before) return;
    this.#raisedBy += epoch - before;
    this.#raised();
  }

  /** Begins the next epoch, after this version. Returns it. */
  next(upTo: number): number {
    return this.sql.value`UPDATE erasure_epoch SET epoch = epoch + 1, erased_up_to = ${upTo} RETURNING epoch`;
  }
}
