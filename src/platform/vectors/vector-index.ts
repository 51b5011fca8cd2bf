import type { UserHash } from "../../domain/ids.ts";

/** The filters of a search. A string of any length matches as a whole. */
export type VectorMetadata = { user: UserHash; kind: string; scope?: string; model: string };

/** `id` and `namespace`: 1–64 bytes. `values`: finite, one for each dimension of the index. */
export type VectorRecord = {
  id: string;
  namespace: string;
  values: Float32Array;
  metadata: VectorMetadata;
};

export type VectorQuery = {
  /** Only vectors in this part of the index. */
  namespace?: string;
  /** Only vectors with all of these. Of `kinds`, any one matches; an empty list matches nothing. */
  filter: { model: string; user?: UserHash; kinds?: readonly string[]; scope?: string };
  /** 1–100 hits at most. */
  topK: number;
  /** Rejects with `DeadlineExceeded` after so many milliseconds. */
  withinMs: number;
};

/** `score` is the cosine, as exact as the index is. */
export type VectorHit = { id: string; score: number };

/**
 * A large, eventually consistent index of vectors. A write shows after seconds or minutes. A failed call may still be
 * applied. Writes may be repeated. All implementations pass one contract (test/platform/vectors/contract.ts). A failure rejects;
 * a value beyond a limit is refused before anything is sent.
 */
export interface VectorIndex {
  /** Puts or replaces any number of records. The implementation batches. */
  upsert(records: readonly VectorRecord[]): Promise<void>;
  /** Deletes any number of ids; unknown ones are ignored. */
  deleteByIds(ids: readonly string[]): Promise<void>;
  /** Returns those of any number of ids that the index has now. */
  present(ids: readonly string[]): Promise<Set<string>>;
  /** The nearest vectors, best first, each id once. They may be older than the store: check them. */
  query(vector: Float32Array, query: VectorQuery): Promise<VectorHit[]>;
  /** The problem of the index for vectors of so many dimensions, and its remedy; null if there is none. */
  check(dimensions: number): Promise<string | null>;
}
