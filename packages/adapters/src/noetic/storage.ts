import { KEYED_ENTRIES_OPTIONS, KeyedEntries, type KeyedEntriesOptions } from "../entries/keyed-entries.ts";
import { requireUser } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { byCodePoints } from "./code-points.ts";
import { isGlobal, mayHoldGlobal } from "./global-keys.ts";
import type { StorageAdapter } from "./interfaces.ts";

export type CairnStorageOptions = KeyedEntriesOptions & {
  /**
   * The shared owner (`shared:…`) of the state of `global` layers; the user's unless set. Writes to it need a token of
   * all users.
   */
  shared?: string | undefined;
};

const OPTIONS: OptionNames<CairnStorageOptions> = { ...KEYED_ENTRIES_OPTIONS, shared: true };

/**
 * A `StorageAdapter` of Noetic in a user's entries: state of layers, snapshots and ledgers. Keys have one character to
 * 1,024 bytes, values up to 64 MiB of JSON. Calls reject with `CairnError`.
 *
 * @example // core 3.x; in 5.x `environment: { storage: { adapter: cairnStorage(…) } }`
 * const harness = new AgentHarness({ name: "agent", storage: cairnStorage({ memory, user: "alice" }) });
 */
export function cairnStorage(given: CairnStorageOptions): StorageAdapter {
  requireUser("cairnStorage", given, OPTIONS);
  const { shared, ...options } = given;
  const own = storageOf(new KeyedEntries(options));
  if (shared === undefined) return own;
  const global = storageOf(new KeyedEntries({ ...options, user: shared }));
  const of = (key: string): StorageAdapter => (isGlobal(key) ? global : own);
  return {
    get: (key) => of(key).get(key),
    set: (key, value) => of(key).set(key, value),
    delete: (key) => of(key).delete(key),
    list: async (prefix) => {
      if (isGlobal(prefix)) return global.list(prefix);
      if (!mayHoldGlobal(prefix)) return own.list(prefix);
      const [owned, common] = await Promise.all([own.list(prefix), global.list(prefix)]);
      // Drops keys stored under the wrong owner, which `get` cannot read.
      const keys = [...owned.filter((key) => !isGlobal(key)), ...common.filter(isGlobal)];
      return keys.toSorted(byCodePoints);
    },
    getMany: async <T>(keys: string[]) => {
      const [owned, common] = await Promise.all([
        own.getMany<T>(keys.filter((key) => !isGlobal(key))),
        global.getMany<T>(keys.filter(isGlobal)),
      ]);
      const found = new Map([...owned, ...common]);
      // Keeps the order of the keys, as with one owner. The keys in `found` have values.
      const inOrder = [...new Set(keys)].filter((key) => found.has(key));
      return new Map(inOrder.map((key) => [key, found.get(key) as T]));
    },
  };
}

/** Entries as Noetic's storage: undefined deletes, and `getMany` omits null. */
export const storageOf = (entries: KeyedEntries): StorageAdapter => ({
  get: (key) => entries.get(key),
  set: (key, value) => (value === undefined ? entries.delete(key) : entries.set(key, value)),
  delete: (key) => entries.delete(key),
  list: (prefix) => entries.list(prefix),
  getMany: async <T>(keys: string[]) => {
    const found = await entries.getMany<T | null>(keys);
    // Noetic's own loop over `get` cannot tell null from a missing value either.
    return new Map([...found].filter((entry): entry is [string, T] => entry[1] !== null));
  },
});
