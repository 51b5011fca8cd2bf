import type { MemoryRow } from "./table.ts";

/** Memories of a status that are true from a time on until before another. */
export type Span = { status: MemoryRow["status"]; from: number; to: number };

/** The memories of one owner as the rules below see and change them: what is stored, with the changes of one write. */
export interface Draft {
  /** The time of this write: later than every write before it. */
  readonly time: number;
  /** The versions of a memory that are held (not corrected), in the order of `validFrom`; none if they have expired. */
  held(id: string): MemoryRow[];
  /** Any version of a memory. */
  version(id: string, version: number): MemoryRow | null;
  /** A memory of this text, kind and scope that is true at some time of this span. */
  withText(dedupeKey: string, span: Span): MemoryRow | null;
  withExternalId(externalId: string): MemoryRow | null;
  /** Puts a version, or what has become of one. */
  put(row: MemoryRow): void;
  /** Forgets a memory with its history. */
  forget(id: string): void;
  nextVersion(): number;
}
