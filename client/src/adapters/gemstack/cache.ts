import type { Cairn } from "../../cairn.ts";
import type { Versioned } from "../../http.ts";
import type { CallOptions } from "../../options.ts";
import { LargeCacheValues } from "../entries/large-cache-values.ts";
import { requireMemory } from "../options/require-options.ts";
import type { OptionNames } from "../../known-options.ts";
import { Flights } from "./flights.ts";
import { BoundedMap } from "./bounded-map.ts";
import { ttlSecondsOf } from "./ttl-seconds.ts";
import type { CacheAdapter } from "./types.ts";

export type CairnCacheOptions = {
  memory: Cairn;
  /** Keeps the keys apart from those of other apps with the same token; `gemstack` unless set. */
  namespace?: string;
  /** Which keys fly single: those that begin with one of these. Google's prompt caches unless set. */
  singleFlight?: readonly string[];
  /** How long whoever misses has to `set` the value, in milliseconds to 600,000; 15,000 unless set. */
  leaseMs?: number;
  /** How long a `get` is held while another creates the value, in milliseconds; `leaseMs` unless set. */
  waitMs?: number;
};

const OPTIONS: OptionNames<CairnCacheOptions> = {
  memory: true,
  namespace: true,
  singleFlight: true,
  leaseMs: true,
  waitMs: true,
};

/** The registry's keys of Google's prompt caches, and those that it had while it was Rudder's. */
const GOOGLE_CACHES = ["gemstack:ai:google-cache:", "rudderjs:ai:google-cache:"];
/** The keys of which it is known what was seen. */
const KEYS = 1000;

/** What this cache was last told of a key: the version of its value, or the lease to create it. */
type Seen = { version: string } | { lease: string };

/** GemStack's CacheAdapter over Cairn's registry: what `cairnCache` makes. */
export class CairnCache implements CacheAdapter {
  readonly #memory: Cairn;
  readonly #values: LargeCacheValues;
  readonly #namespace: string;
  readonly #singleFlight: readonly string[];
  readonly #flights: Flights;
  readonly #seen = new BoundedMap<Seen>(KEYS);

  constructor(options: CairnCacheOptions) {
    requireMemory("cairnCache", options, OPTIONS);
    const { memory, namespace = "gemstack", singleFlight = GOOGLE_CACHES } = options;
    const { leaseMs = 15_000, waitMs = leaseMs } = options;
    this.#memory = memory;
    this.#values = new LargeCacheValues(memory);
    this.#namespace = namespace;
    this.#singleFlight = singleFlight;
    this.#flights = new Flights(memory, { leaseMs, waitMs });
  }

  /**
   * The value, or null. Of a key that flies single, the first who misses gets null and the lease to create the value;
   * whoever misses after that is held until it is there, or else becomes the next to create it.
   */
  get<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    const name = this.#nameOf(key);
    return this.#fliesSingle(key) ? this.#flown<T>(name, options) : this.#values.get<T>(name, options);
  }

  /** The value and its version, for a `forget` that means this one. Takes no lease. */
  async getVersioned<T = unknown>(key: string, options: CallOptions = {}): Promise<Versioned<T> | null> {
    const name = this.#nameOf(key);
    return this.#values.versioned<T>(name, await this.#memory.cache.getVersioned(name, options), options);
  }

  /** To 64 MiB of JSON. Lives for `ttlSeconds`, rounded up; for ever without, and not at all with 0 or less. Whoever is held for it has it. */
  async set(key: string, value: unknown, ttlSeconds?: number, { signal }: CallOptions = {}): Promise<void> {
    const name = this.#nameOf(key);
    const single = this.#fliesSingle(key);
    const seconds = ttlSecondsOf(ttlSeconds, single ? value : undefined);
    if (seconds === 0) return this.#memory.cache.forget(name, { signal });
    // Without the lease: a value that comes when it has run out is as good, and a call without conditions is sent again.
    const { version } = await this.#values.set(name, value, { ttlSeconds: seconds, signal });
    if (!single) return;
    this.#seen.set(name, { version });
    this.#flights.landed(name);
  }

  /**
   * No error if there is none. Of a key that flies single, what this cache saw last goes: that version, and none that came
   * later; or its lease, so that the next may create the value. `version` names one, of any key.
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

  /** The value, which is then gone: of callers at once, one gets it. A lost answer loses it: the call is not sent again. */
  consume<T = unknown>(key: string, options: CallOptions = {}): Promise<T | null> {
    return this.#values.take<T>(this.#nameOf(key), options);
  }

  async #flown<T>(name: string, options: CallOptions): Promise<T | null> {
    for (let again = true; ; again = false) {
      const answer = await this.#flights.board(name, options);
      if (answer.status === "lease") this.#seen.set(name, { lease: answer.lease.id });
      if (answer.status !== "hit") return null;
      const whole = await this.#values.versioned<T>(name, answer, options);
      // It was forgotten before all of it was read: who creates it is decided anew.
      if (whole === null && again) continue;
      if (whole !== null) this.#seen.set(name, { version: whole.version });
      return whole?.value ?? null;
    }
  }

  #fliesSingle(key: string): boolean {
    return this.#singleFlight.some((prefix) => key.startsWith(prefix));
  }

  /** No name of one namespace is of another: a `/` in one is percent-encoded. */
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
