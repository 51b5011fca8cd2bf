/** The AI Employee SDK's interface of a store. */
export type MemoryStore = {
  /** Returns the value, or null if the key has none or it has expired. */
  get<T = unknown>(key: string): Promise<T | null>;
  /** Replaces the value and the expiry. `ttlMs` is in milliseconds; without it the entry never expires. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the SDK declares it
  set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void>;
  /** Returns all keys with this literal prefix, in byte order. */
  list(prefix?: string): Promise<string[]>;
  /** Deletes the entry. A missing key is no error. */
  delete(key: string): Promise<void>;
};

/** A store that also reads many entries in one call. `createMemoryPrepareStep` uses this. */
export type CairnMemoryStore = MemoryStore & {
  /** Returns the values of the keys that exist, in the order of `keys`. */
  getMany<T = unknown>(keys: readonly string[]): Promise<Map<string, T>>;
  /** Yields all entries with this literal prefix, in byte order. Fetches pages of `limit`, 1,000 at most, on demand. */
  listWithValues(prefix: string, limit?: number): AsyncIterable<{ key: string; value: unknown }>;
};
