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
  /** The value, or null: of none, and of one that has expired. */
  get<T = unknown>(key: string): Promise<T | null>;
  /** Replaces the value and the expiry: `ttlMs` is milliseconds, and without it the entry lives for ever. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the SDK declares it
  set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void>;
  /** All keys with this literal prefix, in byte order. */
  list(prefix?: string): Promise<string[]>;
  /** No error if there is none. */
  delete(key: string): Promise<void>;
};

/** A store that reads many entries at once, which `createMemoryPrepareStep` makes use of. */
export type CairnMemoryStore = MemoryStore & {
  /** The values of those keys that are there, in their order. */
  getMany<T = unknown>(keys: readonly string[]): Promise<Map<string, T>>;
  /** All entries with this literal prefix, in byte order, in pages of `limit` (1,000 at most) as they are used. */
  listWithValues(prefix: string, limit?: number): AsyncIterable<{ key: string; value: unknown }>;
};

/**
 * A `MemoryStore` of the AI Employee SDK in a user's entries. Calls reject with `CairnError`: of an empty key or a value
 * that is no JSON with `invalid_request`, of a key of more than 1,024 bytes with `key_too_long`.
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
      // What has expired before it is written is not there afterwards, nor is what it takes the place of.
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
