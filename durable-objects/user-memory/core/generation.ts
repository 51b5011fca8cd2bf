/**
 * The epoch of what the user has, and which versions of memories the last erasure took. The first epoch is the time at which the
 * storage was new: one that was lost begins behind all erasures before. Owns the SQL of `generation`.
 */
export class Generation {
  readonly #sql: SqlStorage;
  #raised: () => void = () => {};
  #raisedBy = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Sets what is called when the object has learned of a later epoch: D1 shows no row of the former one. */
  onRaised(raised: () => void): void {
    this.#raised = raised;
  }

  /** Grows with each erasure of the user: what is of an earlier one is not to be written any more. */
  get epoch(): number {
    return this.#sql.exec<{ epoch: number }>("SELECT epoch FROM generation").one().epoch;
  }

  /**
   * Tells whether the user was erased between two moments of one start of the object. Unlike the epoch, it stays when the object
   * learns of an erasure that its storage has forgotten.
   */
  get lastErasure(): number {
    return this.epoch - this.#raisedBy;
  }

  /** Versions of memories up to this one are erased, wherever they may still be. */
  get erasedUpTo(): number {
    return this.#sql.exec<{ n: number }>("SELECT erased_up_to AS n FROM generation").one().n;
  }

  /** Begins the first epoch, of a storage that is new. */
  begin(now: number): void {
    this.#sql.exec("UPDATE generation SET epoch = ?", now);
  }

  /** Takes over where the last erasure ends, which D1 knows better than a storage that was set back. */
  reach({ epoch, upTo }: { epoch: number; upTo: number }): void {
    const before = this.epoch;
    this.#sql.exec(
      "UPDATE generation SET epoch = MAX(epoch, ?), erased_up_to = MAX(erased_up_to, ?)",
      epoch,
      upTo,
    );
    if (epoch <= before) return;
    this.#raisedBy += epoch - before;
    this.#raised();
  }

  /** Begins the next one, behind this version. Answers its epoch. */
  next(upTo: number): number {
    return this.#sql
      .exec<{ epoch: number }>(
        "UPDATE generation SET epoch = epoch + 1, erased_up_to = ? RETURNING epoch",
        upTo,
      )
      .one().epoch;
  }
}
