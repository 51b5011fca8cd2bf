import { conditionOf, onceOf } from "./headers.ts";
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

/** A user's key-value entries, with expiry. */
export class Entries {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  get<T = unknown>(user: string, key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "GET", path: pathOf(user, key), ...options });
  }

  /** The value and its version, for a write `ifVersion`. */
  getVersioned<T = unknown>(
    user: string,
    key: string,
    options: CallOptions = {},
  ): Promise<Versioned<T> | null> {
    return this.#http.versioned({ method: "GET", path: pathOf(user, key), ...options });
  }

  /** Replaces the value and the expiry; without `ttlMs` it lives for ever. A write `ifVersion` is not sent again by itself. */
  set(
    user: string,
    key: string,
    value: unknown,
    { signal, ifVersion, ...query }: SetEntryQuery & IfVersion & CallOptions = {},
  ): Promise<WrittenEntry> {
    const headers = conditionOf({ ifVersion });
    return this.#http.send({ method: "PUT", path: pathOf(user, key), query, json: value, headers, signal });
  }

  /** No error if there is none. */
  delete(user: string, key: string, { signal, ...condition }: IfVersion & CallOptions = {}): Promise<void> {
    const headers = conditionOf(condition);
    return this.#http.send({ method: "DELETE", path: pathOf(user, key), headers, signal });
  }

  /** A page, in byte order of the keys. */
  list(user: string, query: ListEntriesQuery = {}, options: CallOptions = {}): Promise<EntryList> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "kv"], query, ...options });
  }

  /** All entries under a prefix, page by page, in byte order of their keys. */
  all(
    user: string,
    query: Omit<ListEntriesQuery, "count"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<ListedEntry, void> {
    return itemsOf((cursor) => this.list(user, { ...query, cursor }, options), query.cursor);
  }

  /** Deletes every entry under the prefix; the empty one is all of the user's. */
  deletePrefix(user: string, prefix: string, options: CallOptions = {}): Promise<DeletedEntries> {
    const path = ["v1", "users", user, "kv"];
    return this.#http.send({ method: "DELETE", path, query: { prefix }, ...options });
  }

  /** All operations in order, or none of them. One that both reads and writes is not sent again by itself. */
  batch(
    user: string,
    operations: readonly BatchOperation[],
    options: WriteOptions = {},
  ): Promise<BatchAnswer> {
    const { signal, idempotencyKey } = options;
    // A key goes with a batch that only writes.
    const reads = operations.some(({ op }) => op === "get");
    const onlyReads = operations.every(({ op }) => op === "get");
    return this.#http.send({
      method: "POST",
      path: ["v1", "users", user, "kv", "batch"],
      json: { operations },
      signal,
      ...(reads && idempotencyKey === undefined ? { repeatable: onlyReads } : { headers: onceOf(options) }),
    });
  }
}

const pathOf = (user: string, key: string): string[] => ["v1", "users", user, "kv", key];
