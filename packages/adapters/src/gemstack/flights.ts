import type { Cairn } from "../../../client/src/cairn.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { LeaseAnswer } from "../../../client/src/registry.ts";
import { isPassing } from "../../../client/src/retry.ts";
import { BoundedMap } from "./bounded-map.ts";

/** The longest wait of one call. */
const LONGEST_HOLD_MS = 60_000;
/** Callers do not wait for a key this long after a wait without a value: its creator fails. */
const UNHELD_MS = 60_000;
const KEYS = 1000;

/** The value, the lease to create it, or neither after the wait or without a lease. */
type Boarded<T> = LeaseAnswer<T> | typeof NONE;
const NONE = { status: "none" } as const;

/** `patient` is the client of a call that waits. */
type Times = { leaseMs: number; waitMs: number; patient: Cairn };

/** Single flight: of the callers that miss a key, one creates its value and the others wait. */
export class Flights {
  readonly #memory: Cairn;
  readonly #times: Times;
  /** Times until which callers do not wait for these keys, in milliseconds since the epoch. */
  readonly #unheld = new BoundedMap<number>(KEYS);

  constructor(memory: Cairn, times: Times) {
    this.#memory = memory;
    this.#times = times;
  }

  async board<T>(key: string, options: CallOptions): Promise<Boarded<T>> {
    const asked = Date.now();
    // The first call does not wait: it tells if there is a lease, and its latest end.
    const atOnce = await this.#leased<T>(key, 0, options);
    const held = atOnce.status === "wait" && (this.#unheld.get(key) ?? 0) <= Date.now();
    const answer = held ? await this.#held<T>(key, asked + atOnce.retryAfterMs, options) : atOnce;
    if (answer.status === "hit") this.landed(key);
    return answer;
  }

  /** Callers may wait for the key again, as it has a value. */
  landed(key: string): void {
    this.#unheld.take(key);
  }

  /** `endsAt` is the end of the current lease. A lease granted before it was returned, not expired. */
  async #held<T>(key: string, endsAt: number, options: CallOptions): Promise<Boarded<T>> {
    for (let left = this.#times.waitMs; left > 0; left -= LONGEST_HOLD_MS) {
      const answer = await this.#leased<T>(key, Math.min(left, LONGEST_HOLD_MS), options);
      if (answer.status === "wait") continue;
      if (answer.status === "lease" && Date.now() >= endsAt) this.#inVain(key);
      return answer;
    }
    this.#inVain(key);
    return NONE;
  }

  #inVain(key: string): void {
    this.#unheld.set(key, Date.now() + UNHELD_MS);
  }

  /**
   * The client does not resend a lease request, as the first may have got one. Here a resend is better: an unused lease
   * expires. A read in between waits until Cairn is reachable.
   */
  async #leased<T>(key: string, waitMs: number, options: CallOptions): Promise<Boarded<T>> {
    const memory = waitMs > 0 ? this.#times.patient : this.#memory;
    const ask = () =>
      unlessPassing(memory.cache.lease<T>(key, { leaseMs: this.#times.leaseMs, waitMs }, options));
    const first = await ask();
    if (first !== NONE) return first;
    const entry = await this.#memory.cache.getVersioned<T>(key, options);
    return entry === null ? ask() : { status: "hit", ...entry };
  }
}

async function unlessPassing<T>(call: Promise<T>): Promise<T | typeof NONE> {
  try {
    return await call;
  } catch (error) {
    if (isPassing(error)) return NONE;
    throw error;
  }
}
