import type { Erasable, ErasedData } from "./erasable.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { SqlStore } from "../../storage/sql.ts";

/** Delay of a new user's row in the catalogue, unless a write of a thread or of memories brings it before. */
export const CATALOGUE_WITHIN_MS = { entry: 60_000, memory: 24 * 3600_000, thread: 0 } as const;

/**
 * The user's id, which the object's name has only a hash of. Written with the first write, for the views of threads and the
 * catalogue of users in D1. Owns the SQL of `owner`; `due_at` is null once the catalogue has the user.
 */
export class OwnerRecord extends SqlStore implements Erasable {
  /** True if it is stored for sure: every write asks, and only the first two look. */
  #known = false;

  /** Returns when the catalogue is due, or null if it has the user. */
  note({ hash, id }: Owner, dueAt: number): number | null {
    if (this.#known) return null;
    // A transaction may roll back a write, so only a read row is certain.
    this.#known = this.get()?.hash === hash;
    if (this.#known) return null;
    this.sql.run`DELETE FROM owner`;
    this.sql.run`INSERT INTO owner (id, hash, due_at) VALUES (${id}, ${hash}, ${dueAt})`;
    return dueAt;
  }

  id(): string | null {
    return this.get()?.id ?? null;
  }

  /** The user; null before the first write. */
  get(): Owner | null {
    return this.sql.rows<Owner>`SELECT hash, id FROM owner`[0] ?? null;
  }

  /** The user, if the row in the catalogue is due by this time. */
  uncatalogued(by: number): Owner | null {
    return this.sql.rows<Owner>`SELECT hash, id FROM owner WHERE due_at <= ${by}`[0] ?? null;
  }

  catalogued(): void {
    this.sql.run`UPDATE owner SET due_at = NULL`;
  }

  /** Writes the user's row again, which D1 may have lost. */
  catalogueAgain(dueAt: number): void {
    this.sql.run`UPDATE owner SET due_at = ${dueAt}`;
  }

  putOff(until: number): void {
    this.sql.run`UPDATE owner SET due_at = ${until} WHERE due_at IS NOT NULL`;
  }

  nextDue(): number | null {
    return this.sql.value<number | null>`SELECT MIN(due_at) FROM owner`;
  }

  /** An erasure of the user has removed the row. */
  erase({ what }: ErasedData): void {
    if (what === "user") this.#known = false;
  }
}
