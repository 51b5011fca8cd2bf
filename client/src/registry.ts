import { conditionOf, onceOf } from "./headers.ts";
import type { CairnHttp, Versioned } from "./http.ts";
import type { CallOptions, IfVersion, WriteOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  AnyLeaseAnswer,
  DeleteCacheQuery,
  LeaseBody,
  ReportBody,
  ResolveAnswer,
  ResolveBody,
  SetCacheQuery,
  Stats,
  StatsQuery,
  WrittenEntry,
} from "./shapes.ts";

/** A value, the lease to create it, or word that another creates it and your wait ran out. Times are milliseconds. */
export type LeaseAnswer<T = unknown> =
  | (Omit<Extract<AnyLeaseAnswer, { status: "hit" }>, "value"> & { value: T })
  | Exclude<AnyLeaseAnswer, { status: "hit" }>;

/** The registry's entries, which all workers of an app share. */
export class Registry {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  get<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "GET", path: pathOf(key), ...options });
  }

  /** The value and its version, for a write `ifVersion`, or to forget that one. */
  getVersioned<T = unknown>(key: string, options: CallOptions = {}): Promise<Versioned<T> | null> {
    return this.#http.versioned({ method: "GET", path: pathOf(key), ...options });
  }

  /** Under a lease or a condition it is not sent again by itself: its first try may be what makes the second one fail. */
  set(
    key: string,
    value: unknown,
    { signal, ifVersion, ...query }: SetCacheQuery & IfVersion & CallOptions = {},
  ): Promise<WrittenEntry> {
    const call = { method: "PUT", path: pathOf(key), query, json: value, signal } as const;
    const headers = conditionOf({ ifVersion });
    return this.#http.send({ ...call, headers, ...(query.lease !== undefined && { repeatable: false }) });
  }

  /** The value, which is then gone: of callers at once, one gets it. */
  take<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#http.find({ method: "POST", path: pathOf(key, "take"), ...options });
  }

  /** With `lease` you are the one to create the value: `set` it with `lease: lease.id`, or `release` it. */
  lease<T = unknown>(key: string, request: LeaseBody, options: CallOptions = {}): Promise<LeaseAnswer<T>> {
    return this.#http.send({ method: "POST", path: pathOf(key, "lease"), json: request, ...options });
  }

  release(key: string, id: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf(key, "lease"), query: { id }, ...options });
  }

  /** With `version`, forgets that one only, and never a newer one. */
  forget(
    key: string,
    { signal, ifVersion, ...query }: DeleteCacheQuery & IfVersion & CallOptions = {},
  ): Promise<void> {
    const headers = conditionOf({ ifVersion });
    return this.#http.send({ method: "DELETE", path: pathOf(key), query, headers, signal });
  }
}

const pathOf = (key: string, ...rest: string[]): string[] => ["v1", "cache", key, ...rest];

/** What the providers' prompt caches hold, and what they saved. */
export class PromptCaches {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** What to do to have these regions cached by their provider: see `status`. */
  resolve(request: ResolveBody, options: CallOptions = {}): Promise<ResolveAnswer> {
    const path = ["v1", "prompt-cache", "resolve"];
    return this.#http.send({ method: "POST", path, json: request, ...options });
  }

  /** Counts what the provider said of one call. */
  report(usage: ReportBody, options: WriteOptions = {}): Promise<void> {
    const call = { method: "POST", path: ["v1", "prompt-cache", "report"], json: usage } as const;
    return this.#http.send({ ...call, headers: onceOf(options), signal: options.signal });
  }

  stats(query: StatsQuery = {}, options: CallOptions = {}): Promise<Stats> {
    return this.#http.send({ method: "GET", path: ["v1", "prompt-cache", "stats"], query, ...options });
  }

  /** What was saved hour by hour, page by page. */
  hours(query: StatsQuery = {}, options: CallOptions = {}): AsyncGenerator<Stats["items"][number], void> {
    return itemsOf((cursor) => this.stats({ ...query, cursor }, options), query.cursor);
  }
}
