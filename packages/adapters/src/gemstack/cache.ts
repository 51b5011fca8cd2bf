import type { Cairn } from "../../../client/src/cairn.ts";
import type { Versioned } from "../../../client/src/http.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import { LargeCacheValues } from "../entries/large-cache-values.ts";
import { requireMemory } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit, TIMEOUT_MS, withinMethod } from "../limits/time-limit.ts";
import { Flights } from "./flights.ts";
import { BoundedMap } from "./bounded-map.ts";
import { ttlSecondsOf } from "./ttl-seconds.ts";
import type { CacheAdapter } from "./types.ts";

export type CairnCacheOptions = TimeLimit & {
  memory: Cairn;
  /** Separates the keys from other apps with the same token; `gemstack` unless set. */
  namespace?: string;
  /** Prefixes of keys that use single flight; Google's prompt caches unless set. */
  singleFlight?: readonly string[];
  /** The time to `set` a value after a miss, in milliseconds to 600,000; 15,000 unless set. */
  leaseMs?: number;
  /** The longest wait of a `get` while another caller creates the value, in milliseconds; `leaseMs` unless set. */
  waitMs?: number;
};

const OPTIONS: OptionNames<CairnCacheOptions> = {
  memory: true,
  namespace: true,
  singleFlight: true,
  leaseMs: true,
  waitMs: true,
  timeoutMs: true,
};

/** `get` has the limit, too, but for a single flight: each of its calls has it. */
const METHODS = ["getVersioned", "set", "forget", "consume"] as const;

/** Key prefixes of Google's prompt caches, today's and Rudder's former one. */
const GOOGLE_CACHES = ["gemstack:ai:google-cache:", "rudderjs:ai:google-cache:"];
/** Keys whose last seen state is kept. */
const KEYS = 1000;

/** The last seen state of a key: the version of its value, or the lease to create it. */
type Seen = { version: string } | { lease: string };

/** GemStack's CacheAdapter over Cairn's registry, as `cairnCache` creates it. */
export class CairnCache implements CacheAdapter {
  readonly #options: CairnCacheOptions;
  readonly #memory: Cairn;
  readonly #values: LargeCacheValues;
  readonly #namespace: string;
  readonly #singleFlight: readonly string[];
  #flights: Flights;
  #seen = new BoundedMap<Seen>(KEYS);

  constructor(options: CairnCacheOptions) {
    requireMemory("cairnCache", options, OPTIONS);
    const { namespace = "gemstack", singleFlight = GOOGLE_CACHES } = options;
    const memory = limited(options.memory, options);
    const { leaseMs = 15_000, waitMs = leaseMs } = options;
    this.#options = options;
    this.#memory = memory;
    this.#values = new LargeCacheValues(memory);
    this.#namespace = namespace;
    this.#singleFlight = singleFlight;
    const { timeoutMs = TIMEOUT_MS } = options;
    // A call that waits for another caller's value has that time beside the limit.
    const patient = limited(options.memory, { timeoutMs: timeoutMs + waitMs });
    this.#flights = new Flights(memory, { leaseMs, waitMs, patient });
    const copy = (own: Cairn) => {
      const copied = new CairnCache({ ...options, memory: own });
      copied.#seen = this.#seen;
      copied.#flights = this.#flights;
      return copied;
    };
    limitMethods(this, METHODS, options, copy, CairnCache.prototype);
  }

  /**
   * The value, or null. With single flight, the first caller to miss gets null and the lease to create the value. Later
   * callers wait for the value, or else become the next to create it.
   */
  get<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    const name = this.#nameOf(key);
    if (this.#fliesSingle(key)) return this.#flown<T>(name, options);
    return withinMethod(this.#options, (own) => new LargeCacheValues(own).get<T>(name, options));
  }

  /** The value and its version, for a conditional `forget`. Takes no lease. */
  async getVersioned<T = unknown>(key: string, options: CallOptions = {}): Promise<Versioned<T> | null> {
    const name = this.#nameOf(key);
    return this.#values.versioned<T>(name, await this.#memory.cache.getVersioned(name, options), options);
  }

  /** Stores up to 64 MiB of JSON for `ttlSeconds`, rounded up; for ever without, not at all with 0 or less. Answers waiting callers. */
  async set(key: string, value: unknown, ttlSeconds?: number, { signal }: CallOptions = {}): Promise<void> {
    const name = this.#nameOf(key);
    const single = this.#fliesSingle(key);
    const seconds = ttlSecondsOf(ttlSeconds, single ? value : undefined);
    if (seconds === 0) return this.#memory.cache.forget(name, { signal });
    // Omits the lease: a late value is as good, and an unconditional call is retried.
    const { version } = await this.#values.set(name, value, { ttlSeconds: seconds, signal });
    if (!single) return;
    this.#seen.set(name, { version });
    this.#flights.landed(name);
  }

  /**
   * No error if there is none. With single flight, deletes only the version that this cache saw last, or returns its
   * lease for the next caller. `version` names a version of any key.
   */
  forget(
    key: string,
    { version, signal }: CallOptions & { version?: string | undefined } = {},
  ): Promise<void> {
    const { cache } = this.#memory;
    const name = this.#nameOf(key);
    if (version !== undefined) return cache.forget(name, { version, signal });
    const seen = this.#seen.take(name);
    if (seen === undefined) return cache.forget(name, { signal });
    return "lease" in seen
      ? cache.release(name, seen.lease, { signal })
      : cache.forget(name, { version: seen.version, signal });
  }

  /** Returns the value and deletes it; of concurrent callers, one gets it. A lost answer loses it, since the call is not resent. */
  consume<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#values.take<T>(this.#nameOf(key), options);
  }

  async #flown<T>(name: string, options: CallOptions): Promise<T | null> {
    for (let again = true; ; again = false) {
      const answer = await this.#flights.board(name, options);
      if (answer.status === "lease") this.#seen.set(name, { lease: answer.lease.id });
      if (answer.status !== "hit") return null;
      const whole = await this.#values.versioned<T>(name, answer, options);
      // The value was deleted during the read: asks again who creates it.
      if (whole === null && again) continue;
      if (whole !== null) this.#seen.set(name, { version: whole.version });
      return whole?.value ?? null;
    }
  }

  #fliesSingle(key: string): boolean {
    return this.#singleFlight.some((prefix) => key.startsWith(prefix));
  }

  /** Percent-encodes `/`, so that no two namespaces share a name. */
  #nameOf(key: string): string {
    return `${encodeURIComponent(this.#namespace)}/${key}`;
  }
}

/**
 * A cache for GemStack's ai-sdk that all workers share.
 *
 * @example
 * const cache = cairnCache({ memory });
 * const registry = new GoogleCacheRegistry({ store: cache });
 */
export const cairnCache = (options: CairnCacheOptions): CairnCache => new CairnCache(options);
