import type { Cairn } from "../../client/src/cairn.ts";
import { inBatches } from "./entries/in-batches.ts";
import { ENTRY_BYTES, LargeEntries } from "./entries/large-entries.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";

export type CairnKeyvOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the entries. */
  user: string;
  /** Prepended to the keys of the entries; `keyv/` unless set. */
  prefix?: string;
};

const OPTIONS: OptionNames<CairnKeyvOptions> = { memory: true, user: true, prefix: true, timeoutMs: true };

/** `iterator` is read lazily: each of its calls has the limit. */
const METHODS = [
  "get",
  "getMany",
  "set",
  "setMany",
  "delete",
  "deleteMany",
  "clear",
  "has",
  "hasMany",
] as const;

type Entry = { key: string; value: unknown; ttl?: number };
type ErrorListener = (error: unknown) => void;

/** Cairn's longest finite lifetime, in milliseconds. */
const LONGEST_TTL = 10 * 365 * 24 * 60 * 60 * 1000;

/** Keyv's storage in a user's entries, as `cairnKeyv` creates it. */
export class CairnKeyvStore {
  /** Set by Keyv. Namespaces never share keys. */
  namespace: string | undefined = undefined;
  /** Keyv 5 iterates only over dialects that it knows; Cairn stores entries in SQLite. */
  readonly opts: Record<string, unknown>;
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #prefix: string;
  readonly #values: LargeEntries;
  #listeners = new Set<ErrorListener>();

  constructor(options: CairnKeyvOptions) {
    requireUser("cairnKeyv", options, OPTIONS);
    const { user, prefix = "keyv/" } = options;
    const memory = limited(options.memory, options);
    this.#memory = memory;
    this.#user = user;
    this.#prefix = prefix;
    this.#values = new LargeEntries(memory, user, { inline: ENTRY_BYTES });
    this.opts = { dialect: "sqlite", url: "cairn", user, prefix };
    const copy = (own: Cairn) => {
      const copied = new CairnKeyvStore({ ...options, memory: own });
      copied.namespace = this.namespace;
      copied.#listeners = this.#listeners;
      return copied;
    };
    limitMethods(this, METHODS, options, copy, CairnKeyvStore.prototype);
  }

  /** The value, or undefined. Emits a failure too, since Keyv 5 hides it behind undefined. */
  async get<Value>(key: string): Promise<Value | undefined> {
    try {
      const entry = this.#entry(key);
      const value = await this.#memory.kv.get(this.#user, entry);
      return (await this.#values.whole<Value>(entry, value)) ?? undefined;
    } catch (error) {
      for (const listener of this.#listeners) listener(error);
      throw error;
    }
  }

  /** The values in the order of the keys, undefined where missing. */
  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    const values: (Value | undefined)[] = [];
    for (const { key = "", value } of await this.#get(keys))
      values.push((await this.#values.whole<Value>(key, value)) ?? undefined);
    return values;
  }

  /** Replaces the value and its expiry. `ttl` is in milliseconds; 0, none, or over ten years is for ever. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    await this.#values.write([{ key: this.#entry(key), value, ttlMs: ttlMsOf(ttl) }]);
    return true;
  }

  /** Sets many entries; atomic up to 1,000 entries and 5 million characters. */
  async setMany(entries: Entry[]): Promise<void> {
    const sets = entries.map(({ key, value, ttl }) => ({
      key: this.#entry(key),
      value,
      ttlMs: ttlMsOf(ttl),
    }));
    await this.#values.write(sets);
    // Keyv 5 declares void but passes the result on: one boolean an entry.
    return entries.map(() => true) as unknown as void;
  }

  /** Returns true if the key existed. */
  async delete(key: string): Promise<boolean> {
    return this.deleteMany([key]);
  }

  /** Returns true if every key existed. */
  async deleteMany(keys: string[]): Promise<boolean> {
    const deletes = keys.map((key) => ({ op: "delete" as const, key: this.#entry(key) }));
    const results = await inBatches(this.#memory, this.#user, deletes);
    return results.every(({ deleted }) => deleted === true);
  }

  /** Deletes all entries of the namespace. */
  async clear(): Promise<void> {
    await this.#memory.kv.deletePrefix(this.#user, this.#prefixOf(this.namespace));
  }

  /** Reads only the key, never the value. */
  async has(key: string): Promise<boolean> {
    const entry = this.#entry(key);
    // The key itself is the first of its prefix in byte order.
    const { items } = await this.#memory.kv.list(this.#user, { prefix: entry, limit: 1 });
    return items[0]?.key === entry;
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    return (await this.#get(keys)).map(({ found }) => found === true);
  }

  /** All keys and values of a namespace, in byte order of the keys. */
  async *iterator<Value>(
    namespace: string | undefined = this.namespace,
  ): AsyncGenerator<[key: string, value: Awaited<Value> | undefined], void> {
    const prefix = this.#prefixOf(namespace);
    const entries = this.#memory.kv.all(this.#user, { prefix, values: true, limit: 1000 });
    for await (const { key, value } of entries) {
      const whole = await this.#values.whole<Awaited<Value>>(key, value);
      if (whole !== null || value === null) yield [key.slice(prefix.length), whole ?? undefined];
    }
  }

  /** There is no connection to close. */
  async disconnect(): Promise<void> {}

  /** `error` is the only event. */
  on(event: string, listener: (...given: never[]) => void): this {
    // An `error` listener takes one argument.
    if (event === "error") this.#listeners.add(listener as ErrorListener);
    return this;
  }

  #get(keys: string[]) {
    const gets = keys.map((key) => ({ op: "get" as const, key: this.#entry(key) }));
    return inBatches(this.#memory, this.#user, gets);
  }

  #entry(key: string): string {
    return this.#prefixOf(this.namespace) + key;
  }

  /** Encodes `:`, else namespace `a` would contain `a:b`. */
  #prefixOf(namespace = ""): string {
    return `${this.#prefix}${namespace.replaceAll("%", "%25").replaceAll(":", "%3A")}:`;
  }
}

/**
 * A store for Keyv 5 and 6 in a user's entries; use one for each Keyv. Calls reject with `CairnError`.
 *
 * @example
 * const cache = new Keyv({ store: cairnKeyv({ memory, user: "alice" }), namespace: "weather" });
 */
export const cairnKeyv = (options: CairnKeyvOptions): CairnKeyvStore => new CairnKeyvStore(options);

/** Keyv also stores the expiry in the value and checks it, so a longer-lived entry is not returned. */
function ttlMsOf(ttl: number | undefined): number | undefined {
  if (ttl === undefined || ttl === 0 || !(ttl <= LONGEST_TTL)) return undefined;
  return Math.max(0, Math.ceil(ttl));
}
