import type { Cairn } from "../../../client/src/cairn.ts";
import { CairnError } from "../../../client/src/error.ts";
import type { BatchOperation } from "../../../client/src/shapes.ts";
import { partsIn } from "../../../../src/domain/entry-parts.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { ENTRY_BYTES, LargeEntries } from "./large-entries.ts";
import { type EntryResult, inBatches } from "./in-batches.ts";

export type KeyedEntriesOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the entries. */
  user: string;
  /** Prepended to the keys of the entries; nothing unless set. */
  prefix?: string | undefined;
};

export const KEYED_ENTRIES_OPTIONS: OptionNames<KeyedEntriesOptions> = {
  memory: true,
  user: true,
  prefix: true,
  timeoutMs: true,
};

/** `entries` is read lazily: each of its calls has the limit. */
const METHODS = ["get", "set", "delete", "list", "getMany"] as const;

type Keyed = { key: string; value: unknown };

/** The most entries of a page (src/domain/limits.ts). */
const MOST = 1000;
/** The most bytes of a key. A key has at least as many bytes as characters. */
const LONGEST_KEY = 1024;

/**
 * One owner's entries under a prefix, for interfaces with arbitrary keys. A key has one character to 1,024 bytes of
 * UTF-8, with the prefix. Keys go in bodies: a URL cannot carry `..`. Values are JSON, to 64 MiB each.
 */
export class KeyedEntries {
  readonly #options: KeyedEntriesOptions;
  readonly #prefix: string;

  constructor(options: KeyedEntriesOptions) {
    this.#options = { ...options, memory: limited(options.memory, options) };
    this.#prefix = options.prefix ?? "";
    const copy = (memory: Cairn) => new KeyedEntries({ ...options, memory });
    limitMethods(this, METHODS, options, copy, KeyedEntries.prototype);
  }

  /** The value; null if there is none. */
  async get<T>(key: string): Promise<T | null> {
    return (await this.getMany<T>([key])).get(key) ?? null;
  }

  /** Replaces the value and its expiry; without `ttlMs` it never expires. */
  async set(key: string, value: unknown, ttlMs?: number): Promise<void> {
    await this.#values().write([{ key: this.#entry(key), value, ...(ttlMs !== undefined && { ttlMs }) }]);
  }

  /** No error if there is none. */
  async delete(key: string): Promise<void> {
    await this.#batch([{ op: "delete", key: this.#entry(key) }]);
  }

  /** All keys with this beginning, in byte order. */
  async list(start = ""): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.#all(start, { limit: MOST })) keys.push(key);
    return keys;
  }

  /** The keys with their values, read lazily in pages of `limit`: 1,000 at most. */
  entries(start: string, limit: number = MOST): AsyncGenerator<Keyed, void> {
    return this.#all(start, { values: true, limit: Math.max(1, Math.min(MOST, Math.ceil(limit))) });
  }

  /**
   * The values of existing keys, in the order of the keys, in as few calls as possible. One batch returns 1,000 values,
   * or 16 MiB. Only each call is consistent.
   */
  async getMany<T>(keys: readonly string[]): Promise<Map<string, T>> {
    const wanted = [...new Set(keys)];
    const results = await this.#batch(wanted.map((key) => ({ op: "get", key: this.#entry(key) })));
    const values = this.#values();
    const found = new Map<string, T>();
    for (const [i, key] of wanted.entries()) {
      const { found: there, value } = results[i] ?? {};
      if (there !== true) continue;
      const whole = await values.whole<T>(this.#entry(key), value);
      // A stored value may be null; a value whose parts are deleted is missing.
      if (whole !== null || value === null) found.set(key, whole as T);
    }
    return found;
  }

  async *#all(start: string, query: { values?: true; limit: number }): AsyncGenerator<Keyed, void> {
    const { memory, user } = this.#options;
    const sent = sendable(this.#prefix + start);
    if (sent === null) return;
    const values = this.#values();
    const listed = memory.kv.all(user, { ...query, prefix: sent });
    for await (const { key, value } of listed) {
      const own = key.slice(this.#prefix.length);
      if (own === "" || !own.startsWith(start)) continue;
      const whole = await values.whole(key, value);
      if (whole !== null || partsIn(value) === null) yield { key: own, value: query.values && whole };
    }
  }

  #batch(operations: readonly BatchOperation[]): Promise<EntryResult[]> {
    const { memory, user } = this.#options;
    return inBatches(memory, user, operations);
  }

  #values(): LargeEntries {
    const { memory, user } = this.#options;
    return new LargeEntries(memory, user, { inline: ENTRY_BYTES });
  }

  /** The server would accept the prefix alone as a key. */
  #entry(key: string): string {
    if (key !== "") return this.#prefix + key;
    const message = "is empty";
    throw new CairnError(
      {
        code: "invalid_request",
        message: `not sent: the key ${message}`,
        details: [{ path: "key", message }],
      },
      { status: 400 },
    );
  }
}

/**
 * The start to send for a list that covers every key with `start`; null if no key can match. No key holds half of a
 * surrogate pair, but `start` may end within one.
 */
function sendable(start: string): string | null {
  if (start.length > LONGEST_KEY) return null;
  if (start.isWellFormed()) return start;
  const whole = start.slice(0, -1);
  return whole.isWellFormed() ? whole : null;
}
