import type { MemoryRow } from "./table.ts";

/** A status, and the times from which and before which a memory is true. */
export type DraftSpan = { status: MemoryRow["status"]; from: number; to: number };

/** A choice of triples. `thing`: the object of all, as `thingOf` compares it. `has`: by a predicate and an object as they are written. */
export type Triples = {
  thing: string;
  has: (predicate: string, object: string) => boolean;
};

/** The stored memories of one owner with the changes of one write. The rules read and change it. */
export interface Draft {
  /** The time of this write, later than all earlier writes. */
  readonly time: number;
  /** The versions of a memory that are not corrected, in the order of `validFrom`. None if expired. */
  current(id: string): MemoryRow[];
  /** Any version of a memory. */
  version(id: string, version: number): MemoryRow | null;
  /** A memory with this text, kind and scope that is true at some time of the span. */
  withText(dedupeKey: string, span: DraftSpan): MemoryRow | null;
  withExternalId(externalId: string): MemoryRow | null;
  /** The versions, not corrected, of a subject's triples that are among these. */
  ofSubject(subject: string, are: Triples): MemoryRow[];
  /** Adds or replaces a version. */
  put(row: MemoryRow): void;
  /** Deletes a memory with its history. */
  forget(id: string): void;
  nextVersion(): number;
}
