import type { CairnMemoryStore } from "./ai-employee/memory-store.ts";
import { KEYED_ENTRIES_OPTIONS, KeyedEntries, type KeyedEntriesOptions } from "./entries/keyed-entries.ts";
import { requireUser } from "./options/require-options.ts";

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
export type { CairnMemoryStore, MemoryStore } from "./ai-employee/memory-store.ts";
export type { Instructions, StepStart, SystemMessage } from "./ai-employee/instructions.ts";

export type CairnMemoryStoreOptions = KeyedEntriesOptions;

/**
 * A `MemoryStore` of the AI Employee SDK over a user's entries. Throws a `TypeError` for missing or unknown options. Calls
 * reject with `CairnError`: `invalid_request` for an empty key or a value that is not JSON, `limit_exceeded` for a key of
 * more than 1,024 bytes.
 *
 * @example
 * const agent = new EmployeeAgent({ model, memory: { store: cairnMemoryStore({ memory, user: "alice" }) } });
 */
export function cairnMemoryStore(options: CairnMemoryStoreOptions): CairnMemoryStore {
  requireUser("cairnMemoryStore", options, KEYED_ENTRIES_OPTIONS);
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
