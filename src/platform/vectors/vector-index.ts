import type { UserHash } from "../../domain/ids.ts";

/** What a search can be narrowed by. Whatever the length of a string, it is matched as a whole. */
export type VectorMetadata = { user: UserHash; kind: string; scope?: string; model: string };

/** `id` and `namespace` are 1–64 bytes; `values` are finite, as many as the index has dimensions. */
export type VectorRecord = {
  id: string;
  namespace: string;
  values: Float32Array;
  metadata: VectorMetadata;
};

export type VectorQuery = {
  /** Only vectors in this part of the index. */
  namespace?: string;
  /** Only vectors with all of these; of `kinds`, with any of them (none: nothing is found). */
  filter: { model: string; user?: UserHash; kinds?: readonly string[]; scope?: string };
  /** 1–100 hits at most. */
  topK: number;
  /** After so many milliseconds it rejects with `DeadlineExceeded`. */
  withinMs: number;
};

/** `score` is the cosine, as exact as the index is. */
export type VectorHit = { id: string; score: number };

/**
 * A large index of vectors, eventually consistent: a write shows after seconds, sometimes minutes, and one whose call
 * failed may still be carried out. Writes may be repeated. One contract, tested over every implementation
 * (test/vectors/contract.ts). A failure is a rejected promise; what is past a limit is refused before anything is sent.
 */
export interface VectorIndex {
  /** Puts records, or replaces those of the same id. Any number; an implementation batches by itself. */
  upsert(records: readonly VectorRecord[]): Promise<void>;
  /** Deletes what is there of these ids. Any number. */
  deleteByIds(ids: readonly string[]): Promise<void>;
  /** Which of these ids read back now. Any number. */
  present(ids: readonly string[]): Promise<Set<string>>;
  /** The nearest vectors, best first, each id once. They may be older than what is stored: check them. */
  query(vector: Float32Array, query: VectorQuery): Promise<VectorHit[]>;
  /** What is wrong with the index for vectors of so many dimensions, and what to do about it; null: nothing. */
  check(dimensions: number): Promise<string | null>;
}
