import type { Cairn } from "../../client/src/cairn.ts";
import type { CallOptions } from "../../client/src/options.ts";
import { inBatches } from "./entries/in-batches.ts";
import { ENTRY_BYTES, LargeEntries, type LargeEntry } from "./entries/large-entries.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";
import { bytesOf, entryOfBytes, entryOfText, textOf } from "./unstorage/entry-value.ts";

export type CairnDriverOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the entries. */
  user: string;
  /** Prepended to the keys of the entries, with a `:`; `unstorage` unless set. */
  base?: string;
  /** The default lifetime of an item in seconds; for ever unless set. */
  ttl?: number;
};

const OPTIONS: OptionNames<CairnDriverOptions> = {
  memory: true,
  user: true,
  base: true,
  ttl: true,
  timeoutMs: true,
};

/** The options of one call: lifetime in seconds (0 is for ever), and its abort signal. */
type Transaction = { ttl?: number; signal?: AbortSignal; [option: string]: unknown };
type Item = { key: string; options?: Transaction };
type Meta = { mtime: Date; version: string; ttl?: number };

/** An unstorage `Driver` without `watch`, since Cairn does not report changes. */
export type CairnDriver = {
  name: "cairn";
  flags: { ttl: true };
  options: CairnDriverOptions;
  getInstance(): Cairn;
  hasItem(key: string, options?: Transaction): Promise<boolean>;
  /** The text; for bytes, `base64:` and their Base64. */
  getItem(key: string, options?: Transaction): Promise<string | null>;
  getItems(items: Item[], common?: Transaction): Promise<{ key: string; value: string | null }[]>;
  /** The bytes, or else the text. */
  getItemRaw(key: string, options?: Transaction): Promise<Uint8Array | string | null>;
  setItem(key: string, value: string, options?: Transaction): Promise<void>;
  /** Atomic up to 1,000 items and 5 million characters. */
  setItems(items: (Item & { value: string })[], common?: Transaction): Promise<void>;
  /** Stores a string, bytes in any buffer or view, or a Blob. */
  setItemRaw(key: string, value: unknown, options?: Transaction): Promise<void>;
  removeItem(key: string, options?: Transaction): Promise<void>;
  /** The time of the write, the version, and the remaining lifetime in seconds; null if there is no item. */
  getMeta(key: string, options?: Transaction): Promise<Meta | null>;
  /** All keys in byte order; `maxDepth` limits the number of `:` in a key. */
  getKeys(base?: string, options?: Transaction & { maxDepth?: number }): Promise<string[]>;
  clear(base?: string, options?: Transaction): Promise<void>;
  /** There is nothing to dispose of. */
  dispose(): void;
};

const METHODS = [
  "hasItem",
  "getItem",
  "getItems",
  "getItemRaw",
  "setItem",
  "setItems",
  "setItemRaw",
  "removeItem",
  "getMeta",
  "getKeys",
  "clear",
] as const;

/**
 * A driver of unstorage over a user's entries. Calls reject with `CairnError`.
 *
 * @example
 * const storage = createStorage({ driver: cairnDriver({ memory, user: "alice" }) });
 */
export function cairnDriver(options: CairnDriverOptions): CairnDriver {
  requireUser("cairnDriver", options, OPTIONS);
  const copy = (memory: Cairn) => driverOf(memory, options);
  return limitMethods(copy(limited(options.memory, options)), METHODS, options, copy);
}

function driverOf(memory: Cairn, options: CairnDriverOptions): CairnDriver {
  const { user, base: root = "unstorage", ttl: usualTtl } = options;
  const { kv } = memory;
  const entry = (key: string): string => `${root}:${key}`;
  const prefixOf = (base = ""): string => entry(base === "" || base.endsWith(":") ? base : `${base}:`);

  const ttlMsOf = (ttl = usualTtl): number | undefined =>
    ttl === undefined || ttl === 0 || ttl === Infinity ? undefined : Math.max(0, Math.ceil(ttl * 1000));

  const valuesOf = (call: CallOptions) =>
    new LargeEntries(memory, user, { inline: ENTRY_BYTES, call: signalOf(call) });

  const put = (key: string, value: unknown, { ttl, signal }: Transaction): Promise<void> =>
    valuesOf({ signal }).write([{ key: entry(key), value, ttlMs: ttlMsOf(ttl) }]);

  /** The value in an object, as it may be null; null if there is no item. */
  const found = async (key: string, call: CallOptions): Promise<{ value: unknown } | null> => {
    const there = await kv.getVersioned(user, entry(key), signalOf(call));
    return there && boxed(there.value, await valuesOf(call).whole(entry(key), there.value));
  };

  /** An item's metadata without its value. The key itself is the first of its prefix in byte order. */
  const about = async (key: string, call: CallOptions) => {
    const { items } = await kv.list(user, { prefix: entry(key), limit: 1 }, signalOf(call));
    return items[0]?.key === entry(key) ? items[0] : null;
  };

  return {
    name: "cairn",
    flags: { ttl: true },
    options,
    getInstance: () => options.memory,
    hasItem: async (key, call = {}) => (await about(key, call)) !== null,
    getItem: async (key, call = {}) => textOf(await found(key, call)),
    getItems: async (items, common = {}) => {
      const gets = items.map(({ key }) => ({ op: "get" as const, key: entry(key) }));
      const results = await inBatches(memory, user, gets, signalOf(common));
      const values = valuesOf(common);
      const texts: { key: string; value: string | null }[] = [];
      for (const [i, { key }] of items.entries()) {
        const { found: there = false, value } = results[i] ?? {};
        const box = there ? boxed(value, await values.whole(entry(key), value)) : null;
        texts.push({ key, value: textOf(box) });
      }
      return texts;
    },
    getItemRaw: async (key, call = {}) => {
      const there = await found(key, call);
      return bytesOf(there?.value) ?? textOf(there);
    },
    setItem: (key, value, call = {}) => put(key, entryOfText(value), call),
    setItems: async (items, common = {}) => {
      const sets = items.map(({ key, value, options: own }): LargeEntry => {
        const ttlMs = ttlMsOf(own?.ttl ?? common.ttl);
        return { key: entry(key), value: entryOfText(value), ttlMs };
      });
      await valuesOf(common).write(sets);
    },
    setItemRaw: async (key, value, call = {}) =>
      put(key, typeof value === "string" ? entryOfText(value) : await entryOfBytes(value), call),
    removeItem: (key, call = {}) => kv.delete(user, entry(key), signalOf(call)),
    getMeta: async (key, call = {}) => {
      const there = await about(key, call);
      if (there === null) return null;
      const { updatedAt, version, expiresAt } = there;
      const ttl = expiresAt === undefined ? undefined : Math.max(0, (expiresAt - Date.now()) / 1000);
      return { mtime: new Date(updatedAt), version, ...(ttl !== undefined && { ttl: Math.ceil(ttl) }) };
    },
    getKeys: async (base, { maxDepth = Infinity, ...call } = {}) => {
      const keys: string[] = [];
      for await (const { key } of kv.all(user, { prefix: prefixOf(base), limit: 1000 }, signalOf(call)))
        keys.push(key.slice(root.length + 1));
      return keys.filter((key) => key.split(":").length - 1 <= maxDepth);
    },
    clear: async (base, call = {}) => {
      await kv.deletePrefix(user, prefixOf(base), signalOf(call));
    },
    dispose: () => undefined,
  };
}

/** A value in an object; null if the value's parts were deleted. */
const boxed = (entry: unknown, value: unknown): { value: unknown } | null =>
  value === null && entry !== null ? null : { value };

/** Passes only the signal to the client; other options are the caller's own. */
const signalOf = ({ signal }: CallOptions): CallOptions => ({ signal });
