import { conditionOf } from "./headers.ts";
import type { CairnHttp, Versioned } from "./http.ts";
import type { CallOptions, IfVersion, WriteOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  BatchAnswer,
  BatchOperation,
  DeletedEntries,
  EntryList,
  ListedEntry,
  ListEntriesQuery,
  SetEntryQuery,
  WrittenEntry,
} from "./shapes.ts";

/** Key-value entries of a user, with expiry. */
export class Entries {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the value, or null if there is none. */
  get<T = unknown>(user: string, key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "GET", path: pathOf(user, key) }, options);
  }

  /** Returns the value and its version, for a write with `ifVersion`; null if there is none. */
  getVersioned<T = unknown>(
    user: string,
    key: string,
    options: CallOptions = {},
  ): Promise<Versioned<T> | null> {
    return this.#http.versioned({ method: "GET", path: pathOf(user, key) }, options);
  }

  /** Replaces value and expiry. Without `ttlMs` the entry never expires. A write with `ifVersion` is not retried. */
  set(
    user: string,
    key: string,
    value: unknown,
    { signal, ifVersion, ...query }: SetEntryQuery & IfVersion & CallOptions = {},
  ): Promise<WrittenEntry> {
    const headers = conditionOf({ ifVersion });
    return this.#http.send(
      { method: "PUT", path: pathOf(user, key), query, json: value, headers },
      { signal },
    );
  }

  /** Deletes the entry. A missing key is no error. */
  delete(user: string, key: string, { ifVersion, ...options }: IfVersion & CallOptions = {}): Promise<void> {
    const headers = conditionOf({ ifVersion });
    return this.#http.send({ method: "DELETE", path: pathOf(user, key), headers }, options);
  }

  /** Returns a page of the entries, in byte order of their keys. */
  list(user: string, query: ListEntriesQuery = {}, options: CallOptions = {}): Promise<EntryList> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "kv"], query }, options);
  }

  /** Yields all entries under a prefix, in byte order of their keys. Fetches pages on demand. */
  all(
    user: string,
    query: Omit<ListEntriesQuery, "count"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<ListedEntry, void> {
    return itemsOf((cursor) => this.list(user, { ...query, cursor }, options), query.cursor);
  }

  /** Deletes every entry under the prefix. An empty prefix deletes all entries of the user. */
  deletePrefix(user: string, prefix: string, options: CallOptions = {}): Promise<DeletedEntries> {
    const path = ["v1", "users", user, "kv"];
    return this.#http.send({ method: "DELETE", path, query: { prefix } }, options);
  }

  /**
   * Runs all operations in order, or none. A batch that both reads and writes, or appends to more than one thread, is not
   * retried.
   */
  batch(
    user: string,
    operations: readonly BatchOperation[],
    options: WriteOptions = {},
  ): Promise<BatchAnswer> {
    // The schema refuses what is no list.
    const list = Array.isArray(operations) ? (operations as readonly BatchOperation[]) : [];
    // A key goes with one thread, and with no read.
    const threads = new Set(list.flatMap((one) => (one?.op === "append" ? one.threadId : [])));
    const takesNoKey = list.some(isRead) || threads.size > 1;
    const onlyReads = list.every(isRead);
    const path = ["v1", "users", user, "kv", "batch"];
    const call = { method: "POST", path, json: { operations } } as const;
    const { idempotencyKey, ...rest } = options;
    return takesNoKey && idempotencyKey === undefined
      ? this.#http.send({ ...call, repeatable: onlyReads }, rest)
      : this.#http.write(call, options);
  }
}

const isRead = (one: BatchOperation): boolean => one?.op === "get" || one?.op === "messages";

const pathOf = (user: string, key: string): string[] => ["v1", "users", user, "kv", key];
