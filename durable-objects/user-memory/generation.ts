/** How often the user was erased, and which versions of memories went with the last time. Owns the SQL of `generation`. */
export class Generation {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Grows with each erasure of the user: what is of an earlier one is not to be written any more. */
  get epoch(): number {
    return this.#sql.exec<{ epoch: number }>("SELECT epoch FROM generation").one().epoch;
  }

  /** Versions of memories up to this one are erased, wherever they may still be. */
  get erasedUpTo(): number {
    return this.#sql.exec<{ n: number }>("SELECT erased_up_to AS n FROM generation").one().n;
  }

  /** An erasure that begins with the next start of the object; null if there is none. */
  get wanted(): string | null {
    return this.#sql.exec<{ wanted: string | null }>("SELECT wanted FROM generation").one().wanted;
  }

  want(erasure: string): void {
    this.#sql.exec("UPDATE generation SET wanted = ?", erasure);
  }

  /** Begins the next one, behind this version. Answers its epoch. */
  next(upTo: number): number {
    return this.#sql
      .exec<{ epoch: number }>(
        "UPDATE generation SET epoch = epoch + 1, erased_up_to = ?, wanted = NULL RETURNING epoch",
        upTo,
      )
      .one().epoch;
  }
}
