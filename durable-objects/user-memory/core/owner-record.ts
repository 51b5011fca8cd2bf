import type { Owner } from "../../../src/domain/memory/record.ts";

/** How soon the catalogue hears of a new user, unless a write of a thread or of memories brings it before. */
export const CATALOGUE_WITHIN_MS = { entry: 60_000, memory: 24 * 3600_000, thread: 0 } as const;

/**
 * Who the user is: the object's name is only a hash. Noted with the first write, for the views of threads and the
 * catalogue of users in D1. Owns the SQL of `owner`; `due_at` is null once the catalogue has it.
 */
export class OwnerRecord {
  readonly #sql: SqlStorage;
  /** Whether it is stored for sure: every write asks, and only the first two look. */
  #known = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Answers when the catalogue is to be told, or null if it was. */
  note({ hash, id }: Owner, dueAt: number): number | null {
    if (this.#known) return null;
    const [row] = this.#sql.exec<{ hash: string | null }>("SELECT hash FROM owner").toArray();
    // What is written in a transaction may be undone: only what is read is sure.
    this.#known = row?.hash === hash;
    if (this.#known) return null;
    this.#sql.exec("DELETE FROM owner");
    this.#sql.exec("INSERT INTO owner (id, hash, due_at) VALUES (?, ?, ?)", id, hash, dueAt);
    return dueAt;
  }

  id(): string | null {
    return this.#sql.exec<{ id: string }>("SELECT id FROM owner").toArray()[0]?.id ?? null;
  }

  /** Who is to be put into the catalogue by a time; null if nobody is. */
  uncatalogued(by: number): Owner | null {
    const [row] = this.#sql
      .exec<{ hash: string; id: string }>("SELECT hash, id FROM owner WHERE due_at <= ?", by)
      .toArray();
    return row ?? null;
  }

  catalogued(): void {
    this.#sql.exec("UPDATE owner SET due_at = NULL");
  }

  /** The catalogue may have lost the user: it is told once more. */
  catalogueAgain(dueAt: number): void {
    this.#sql.exec("UPDATE owner SET due_at = ?", dueAt);
  }

  putOff(until: number): void {
    this.#sql.exec("UPDATE owner SET due_at = ? WHERE due_at IS NOT NULL", until);
  }

  nextDue(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM owner").one().due;
  }

  /** Says that it was taken away. */
  erased(): void {
    this.#known = false;
  }
}
