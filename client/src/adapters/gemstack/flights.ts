import type { Cairn } from "../../cairn.ts";
import type { CallOptions } from "../../options.ts";
import type { LeaseAnswer } from "../../registry.ts";
import { isPassing } from "../../retry.ts";
import { BoundedMap } from "./bounded-map.ts";

/** How long one call is held at most. */
const LONGEST_HOLD_MS = 60_000;
/** After a hold that brought nothing the key is not held for, for so long: whoever creates its value fails. */
const UNHELD_MS = 60_000;
const KEYS = 1000;

/** The value, the lease to create it, or neither: the wait is over, or no lease is to be had. */
type Boarded<T> = LeaseAnswer<T> | typeof NONE;
const NONE = { status: "none" } as const;

/** Single flight: of those who miss a key, one creates its value, and the others are held until it is there. */
export class Flights {
  readonly #memory: Cairn;
  readonly #times: { leaseMs: number; waitMs: number };
  /** Until when these keys are not held for. */
  readonly #unheld = new BoundedMap<number>(KEYS);

  constructor(memory: Cairn, times: { leaseMs: number; waitMs: number }) {
    this.#memory = memory;
    this.#times = times;
  }

  async board<T>(key: string, options: CallOptions): Promise<Boarded<T>> {
    const asked = Date.now();
    // Without a wait at first: so it is known whether there was a hold, and when it ends at the latest.
    const atOnce = await this.#leased<T>(key, 0, options);
    const held = atOnce.status === "wait" && (this.#unheld.get(key) ?? 0) <= Date.now();
    const answer = held ? await this.#held<T>(key, asked + atOnce.retryAfterMs, options) : atOnce;
    if (answer.status === "hit") this.landed(key);
    return answer;
  }

  /** Its value is there. */
  landed(key: string): void {
    this.#unheld.take(key);
  }

  /** `endsAt`: when the lease of whoever creates the value has run out. One that came before that was given back. */
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
   * The client does not ask for a lease again, since its first try may hold one. Here that is better than to go without:
   * it runs out. In between, a read, which waits until Cairn is there again.
   */
  async #leased<T>(key: string, waitMs: number, options: CallOptions): Promise<Boarded<T>> {
    const ask = () =>
      unlessPassing(this.#memory.cache.lease<T>(key, { leaseMs: this.#times.leaseMs, waitMs }, options));
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
