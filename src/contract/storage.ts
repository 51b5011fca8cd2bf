import type { Precondition } from "../domain/conditions.ts";

/**
 * The methods of an object that serves an interface of its callers: a caller always waits, the object may answer at once.
 */
export type Served<Rpc> = {
  [Name in keyof Rpc]: Rpc[Name] extends (...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer | Promise<Answer>
    : never;
};

/** An entry as it leaves the object. `value` is JSON in UTF-8, byte for byte as it came in. */
export type Entry = {
  key: string;
  value: Uint8Array;
  version: string;
  updatedAt: number;
  expiresAt: number | null;
};

export type Expiry = {
  /** Null: it never expires. */
  ttlMs: number | null;
  /** Every read begins the time to live anew. */
  refreshOnRead: boolean;
};

export type EntryWrite = { key: string; value: Uint8Array; condition: Precondition } & Expiry;

export type EntryPage = { prefix: string; after?: string; limit: number; values: boolean };

export type ListedEntry = Omit<Entry, "value"> & { value?: Uint8Array };

/** The caller's idempotency key, and a hash of its request. */
export type IdempotencyKey = {
  key: string;
  request: string;
  /** The id of the thread that the answer is deleted with. */
  about?: string;
};
