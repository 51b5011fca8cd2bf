import { conditionOf } from "./headers.ts";
import type { CairnHttp, Versioned } from "./http.ts";
import type { CallOptions, IfVersion, WriteOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  AnyLeaseAnswer,
  DeleteCacheQuery,
  LeaseBody,
  ListKeysQuery,
  RegistryKeys,
  ReportBody,
  ResolveAnswer,
  ResolveBody,
  SetCacheQuery,
  Stats,
  StatsQuery,
  WrittenEntry,
} from "./shapes.ts";

/**
 * The value, the lease to create it, or the end of a wait while another caller creates it; see `status`. Times are in
 * milliseconds.
 */
export type LeaseAnswer<T = unknown> =
  | (Omit<Extract<AnyLeaseAnswer, { status: "hit" }>, "value"> & { value: T })
  | Exclude<AnyLeaseAnswer, { status: "hit" }>;

/** Registry entries, shared by all workers of an app. */
export class Registry {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the value, or null if there is none. */
  get<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "GET", path: pathOf(key) }, options);
  }

  /** Returns the value and its version, for `set` or `forget` with a condition; null if there is none. */
  getVersioned<T = unknown>(key: string, options: CallOptions = {}): Promise<Versioned<T> | null> {
    return this.#http.versioned({ method: "GET", path: pathOf(key) }, options);
  }

  /** Replaces the value. A write under a lease or a condition is not retried: the first attempt may make the second fail. */
  set(
    key: string,
    value: unknown,
    { signal, ifVersion, ...query }: SetCacheQuery & IfVersion & CallOptions = {},
  ): Promise<WrittenEntry> {
    const call = { method: "PUT", path: pathOf(key), query, json: value } as const;
    const headers = conditionOf({ ifVersion });
    return this.#http.send(
      { ...call, headers, ...(query.lease !== undefined && { repeatable: false }) },
      { signal },
    );
  }

  /** Returns a page of the keys, in byte order, with their leases. It asks 64 objects: for a look, not for each request. */
  keys(query: ListKeysQuery = {}, options: CallOptions = {}): Promise<RegistryKeys> {
    return this.#http.send({ method: "GET", path: ["v1", "cache"], query }, options);
  }

  /** Returns the value and deletes it; null if there is none. Only one of several concurrent callers gets it. */
  take<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "POST", path: pathOf(key, "take") }, options);
  }

  /** Returns the value or a lease. The holder of a lease creates the value: `set` with `lease: lease.id`, or `release`. */
  lease<T = unknown>(key: string, request: LeaseBody, options: CallOptions = {}): Promise<LeaseAnswer<T>> {
    const path = pathOf(key, "lease");
    return this.#http.send({ method: "POST", path, json: request, long: request?.waitMs }, options);
  }

  /** Gives a lease back without a value. */
  release(key: string, id: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf(key, "lease"), query: { id } }, options);
  }

  /** Deletes the value. With `version`, only that version and never a newer one. */
  forget(
    key: string,
    { signal, ifVersion, ...query }: DeleteCacheQuery & IfVersion & CallOptions = {},
  ): Promise<void> {
    const headers = conditionOf({ ifVersion });
    return this.#http.send({ method: "DELETE", path: pathOf(key), query, headers }, { signal });
  }
}

const pathOf = (key: string, ...rest: string[]): string[] => ["v1", "cache", key, ...rest];

/** Records of the providers' prompt caches and of their savings. */
export class PromptCaches {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Tells how to have these regions cached by their provider; see `status` of the answer. */
  resolve(request: ResolveBody, options: CallOptions = {}): Promise<ResolveAnswer> {
    const path = ["v1", "prompt-cache", "resolve"];
    return this.#http.send({ method: "POST", path, json: request, long: request?.waitMs }, options);
  }

  /** Adds the usage that the provider reported for one call. */
  report(usage: ReportBody, options: WriteOptions = {}): Promise<void> {
    const path = ["v1", "prompt-cache", "report"];
    return this.#http.write({ method: "POST", path, json: usage }, options);
  }

  /** Returns a page of the savings, hour by hour. */
  stats(query: StatsQuery = {}, options: CallOptions = {}): Promise<Stats> {
    return this.#http.send({ method: "GET", path: ["v1", "prompt-cache", "stats"], query }, options);
  }

  /** Yields the savings hour by hour. Fetches pages on demand. */
  hours(query: StatsQuery = {}, options: CallOptions = {}): AsyncGenerator<Stats["items"][number], void> {
    return itemsOf((cursor) => this.stats({ ...query, cursor }, options), query.cursor);
  }
}
