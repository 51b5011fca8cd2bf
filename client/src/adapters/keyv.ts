import type { Cairn } from "../cairn.ts";
import { inBatches } from "./entries/in-batches.ts";
import { ENTRY_BYTES, LargeEntries } from "./entries/large-entries.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../known-options.ts";

export type CairnKeyvOptions = {
  memory: Cairn;
  /** Whose entries they are. */
  user: string;
  /** What the keys of the entries begin with; `keyv/` unless set. */
  prefix?: string;
};

const OPTIONS: OptionNames<CairnKeyvOptions> = { memory: true, user: true, prefix: true };

type Entry = { key: string; value: unknown; ttl?: number };
type ErrorListener = (error: unknown) => void;

/** Cairn keeps an entry for so many milliseconds at most, or for ever. */
const LONGEST_TTL = 10 * 365 * 24 * 60 * 60 * 1000;

/** Keyv's storage in a user's entries: what `cairnKeyv` makes. */
export class CairnKeyvStore {
  /** Keyv sets it. Keys of one namespace are never those of another. */
  namespace: string | undefined = undefined;
  /** Keyv 5 iterates only over dialects that it knows; an entry of Cairn is a row of SQLite. */
  readonly opts: Record<string, unknown>;
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #prefix: string;
  readonly #values: LargeEntries;
  readonly #listeners = new Set<ErrorListener>();

  constructor(options: CairnKeyvOptions) {
    requireUser("cairnKeyv", options, OPTIONS);
    const { memory, user, prefix = "keyv/" } = options;
    this.#memory = memory;
    this.#user = user;
    this.#prefix = prefix;
    this.#values = new LargeEntries(memory, user, { inline: ENTRY_BYTES });
    this.opts = { dialect: "sqlite", url: "cairn", user, prefix };
  }

  /** The value, or undefined. A failure is emitted as well: Keyv 5 gives undefined for one, and says nothing. */
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

  /** The values in the order of their keys, each undefined or there. */
  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    const values: (Value | undefined)[] = [];
    for (const { key, value } of await this.#get(keys))
      values.push((await this.#values.whole<Value>(key, value)) ?? undefined);
    return values;
  }

  /** Replaces the value and the expiry. `ttl` is milliseconds; 0, none, or more than ten years is for ever. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    await this.#values.write([{ key: this.#entry(key), value, ttlMs: ttlMsOf(ttl) }]);
    return true;
  }

  /** The same for many: of up to 1,000 entries and 5 million characters all are set, or none. */
  async setMany(entries: Entry[]): Promise<void> {
    const sets = entries.map(({ key, value, ttl }) => ({
      key: this.#entry(key),
      value,
      ttlMs: ttlMsOf(ttl),
    }));
    await this.#values.write(sets);
    // Keyv 5 declares void, and answers its own caller with what comes: whether each one was set.
    return entries.map(() => true) as unknown as void;
  }

  /** Whether there was one. */
  async delete(key: string): Promise<boolean> {
    return this.deleteMany([key]);
  }

  /** Whether there was one of every key. */
  async deleteMany(keys: string[]): Promise<boolean> {
    const deletes = keys.map((key) => ({ op: "delete" as const, key: this.#entry(key) }));
    const results = await inBatches(this.#memory, this.#user, deletes);
    return results.every(({ deleted }) => deleted === true);
  }

  /** Deletes what is in the namespace. */
  async clear(): Promise<void> {
    await this.#memory.kv.deletePrefix(this.#user, this.#prefixOf(this.namespace));
  }

  /** Asks for the key alone, however large the value. */
  async has(key: string): Promise<boolean> {
    const entry = this.#entry(key);
    // Of all keys that begin with this one, it is the first in byte order.
    const { items } = await this.#memory.kv.list(this.#user, { prefix: entry, limit: 1 });
    return items[0]?.key === entry;
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    return (await this.#get(keys)).map(({ found }) => found === true);
  }

  /** All keys and values of a namespace, as they were set, in byte order of the keys. */
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

  /** There is no connection to end. */
  async disconnect(): Promise<void> {}

  /** `error` is the only event. */
  on(event: string, listener: (...given: never[]) => void): this {
    // Of `error` it is called with one.
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

  /** A namespace holds no `:` here, else `a` would hold all of `a:b`. */
  #prefixOf(namespace = ""): string {
    return `${this.#prefix}${namespace.replaceAll("%", "%25").replaceAll(":", "%3A")}:`;
  }
}

/**
 * A store for Keyv 5 and 6 in a user's entries, one for each Keyv. Calls reject with `CairnError`.
 *
 * @example
 * const cache = new Keyv({ store: cairnKeyv({ memory, user: "alice" }), namespace: "weather" });
 */
export const cairnKeyv = (options: CairnKeyvOptions): CairnKeyvStore => new CairnKeyvStore(options);

/** Keyv has the time of expiry in the value too, and goes by it: an entry that lives longer is not read. */
function ttlMsOf(ttl: number | undefined): number | undefined {
  if (ttl === undefined || ttl === 0 || !(ttl <= LONGEST_TTL)) return undefined;
  return Math.max(0, Math.ceil(ttl));
}
