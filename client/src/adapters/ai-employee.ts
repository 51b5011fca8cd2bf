import { KEYED_ENTRIES_OPTIONS, KeyedEntries, type KeyedEntriesOptions } from "./entries/keyed-entries.ts";
import { demandUser } from "./options/demand.ts";

export {
  createMemoryPrepareStep,
  type MemoryPrepareStep,
  type MemoryPrepareStepConfig,
} from "./ai-employee/memory-prepare-step.ts";
export {
  composePrepareStep,
  type ComposedPrepareStep,
  type PrepareStep,
} from "./ai-employee/compose-prepare-step.ts";
export type { Instructions, StepStart, SystemMessage } from "./ai-employee/instructions.ts";

export type CairnMemoryStoreOptions = KeyedEntriesOptions;

/** The SDK's own interface of a store. */
export type MemoryStore = {
  /** The value; null if none exists or it has expired. */
  get<T = unknown>(key: string): Promise<T | null>;
  /** Replaces the value and its expiry. `ttlMs` is in milliseconds; without it the entry never expires. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the SDK declares it
  set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void>;
  /** All keys with this literal prefix, in byte order. */
  list(prefix?: string): Promise<string[]>;
  /** No error if there is none. */
  delete(key: string): Promise<void>;
};

/** A store that reads many entries in one call, as `createMemoryPrepareStep` does. */
export type CairnMemoryStore = MemoryStore & {
  /** The values of the keys that exist, in the order of the keys. */
  getMany<T = unknown>(keys: readonly string[]): Promise<Map<string, T>>;
  /** All entries with this literal prefix, in byte order, in pages of `limit` (1,000 at most) as they are used. */
  listWithValues(prefix: string, limit?: number): AsyncIterable<{ key: string; value: unknown }>;
};

/**
 * A `MemoryStore` of the AI Employee SDK in a user's entries. Calls reject with `CairnError`. An empty key, or a value
 * that is not JSON, is `invalid_request`. A key over 1,024 bytes is `key_too_long`.
 *
 * @example
 * const agent = new EmployeeAgent({ model, memory: { store: cairnMemoryStore({ memory, user: "alice" }) } });
 */
export function cairnMemoryStore(options: CairnMemoryStoreOptions): CairnMemoryStore {
  demandUser("cairnMemoryStore", options, KEYED_ENTRIES_OPTIONS);
  const entries = new KeyedEntries(options);
  return {
    get: (key) => entries.get(key),
    set: (key, value, ttlMs) => {
      // An entry that expires before it is written replaces the old one, so that one is deleted.
      if (ttlMs !== undefined && ttlMs < 0) return entries.delete(key);
      return entries.set(
        key,
        value,
        ttlMs === undefined || ttlMs === Infinity ? undefined : Math.floor(ttlMs),
      );
    },
    list: (prefix) => entries.list(prefix),
    delete: (key) => entries.delete(key),
    getMany: (keys) => entries.getMany(keys),
    listWithValues: (prefix, limit) => entries.entries(prefix, limit),
  };
}
