import { RpcTarget } from "cloudflare:workers";
import type { LeaseStore } from "./lease-store.ts";
import type { Entry } from "../../src/contract/storage.ts";
import type { Elsewhere, Flown, Granted, Held, Lease } from "../../src/contract/prompt-cache.ts";

type FlightRequest<Hit> = {
  leaseMs: number;
  waitMs: number;
  /** Turns a value into this caller's answer; null if the caller cannot use the value. */
  accept: (entry: Entry) => Hit | null;
};

type Waiter = {
  leaseMs: number;
  until: number;
  /** Answers the waiter with the value; false if it cannot use it. */
  value: (entry: Entry) => boolean;
  tell: (answer: Granted | Elsewhere) => void;
};
type Flight = { waiters: Waiter[]; timer?: { at: number; handle: ReturnType<typeof setTimeout> } };
type SingleFlightDependencies = {
  leases: LeaseStore;
  get: (key: string) => Entry | null;
  now: () => number;
  /** Called after each grant, to schedule the deletion of its row. */
  granted: () => void;
};

/** The timer's clock may be ahead of `now`. A timer that fired early is set again after this time. */
const SHORTEST_TIMER_MS = 5;

/**
 * Lets one caller create the value of a key. The first miss gets the lease. The others wait in memory, in order, until a
 * value is set, or until the lease ends and the first of them gets the next one. Every event of a key, and one timer a
 * key, call `settle`.
 */
export class SingleFlight {
  readonly #deps: SingleFlightDependencies;
  readonly #flights = new Map<string, Flight>();

  constructor(deps: SingleFlightDependencies) {
    this.#deps = deps;
  }

  /** Returns the value or the lease. Otherwise the caller waits for one of them, for `waitMs` at most. */
  acquire<Hit extends object>(key: string, request: FlightRequest<Hit>): Flown<Hit> | Held<Hit> {
    const { leases, get, now } = this.#deps;
    this.settle(key);
    const entry = get(key);
    const hit = entry === null ? null : request.accept(entry);
    if (hit !== null) return hit;
    const at = now();
    const lease = leases.current(key, at);
    if (lease === null) return { status: "lease", lease: this.#grant(key, request.leaseMs, at) };
    return request.waitMs === 0 ? elsewhere(lease, at) : this.#hold(key, request, { lease, now: at });
  }

  /** True while a caller has the lease. */
  creating(key: string): boolean {
    this.settle(key);
    return this.#deps.leases.current(key, this.#deps.now()) !== null;
  }

  /** Ends the flight after a value was set. Waiters that cannot use the value start another flight. */
  landed(key: string): void {
    this.#deps.leases.end(key);
    const flight = this.#flights.get(key);
    const entry = this.#deps.get(key);
    if (flight !== undefined && entry !== null)
      flight.waiters = flight.waiters.filter((waiter) => !waiter.value(entry));
    this.settle(key);
  }

  /** Ends the lease with this id, or the current one. The first waiter gets the next lease. */
  release(key: string, id?: string): void {
    const lease = this.#deps.leases.current(key, this.#deps.now());
    if (lease !== null && (id === undefined || lease.id === id)) this.#deps.leases.end(key);
    this.settle(key);
  }

  /** Gives an ended lease to the first waiter, and answers the waiters whose time is over. */
  settle(key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    const now = this.#deps.now();
    const lease = this.#deps.leases.current(key, now) ?? this.#handOver(key, flight, now);
    // No waiter is due before the timer, unless the current lease ends earlier.
    const { timer } = flight;
    if (lease !== null && flight.waiters.length > 0 && timer && now < timer.at && timer.at <= lease.expiresAt)
      return;
    if (lease !== null)
      flight.waiters = flight.waiters.filter((waiter) => {
        if (waiter.until <= now) waiter.tell(elsewhere(lease, now));
        return waiter.until > now;
      });
    if (lease === null || flight.waiters.length === 0) {
      clearTimeout(flight.timer?.handle);
      this.#flights.delete(key);
      return;
    }
    const due = flight.waiters.reduce((first, { until }) => Math.min(first, until), lease.expiresAt);
    this.#wakeAt(due, { key, flight, now });
  }

  #handOver(key: string, flight: Flight, now: number): Lease | null {
    const next = flight.waiters.shift();
    if (next === undefined) return null;
    const lease = this.#grant(key, next.leaseMs, now);
    next.tell({ status: "lease", lease });
    return lease;
  }

  #hold<Hit extends object>(
    key: string,
    request: FlightRequest<Hit>,
    { lease, now }: { lease: Lease; now: number },
  ): Held<Hit> {
    const until = now + request.waitMs;
    const { promise, resolve } = Promise.withResolvers<Flown<Hit>>();
    const waiter: Waiter = {
      leaseMs: request.leaseMs,
      until,
      value: (entry) => {
        const hit = request.accept(entry);
        if (hit !== null) resolve(hit);
        return hit !== null;
      },
      tell: resolve,
    };
    const flight: Flight = this.#flights.get(key) ?? { waiters: [] };
    flight.waiters.push(waiter);
    this.#flights.set(key, flight);
    const due = Math.min(flight.timer?.at ?? lease.expiresAt, until);
    this.#wakeAt(due, { key, flight, now });
    return { status: "held", hold: new Hold(() => this.#leave(key, waiter)), answer: () => promise };
  }

  #grant(key: string, leaseMs: number, now: number): Lease {
    const lease = this.#deps.leases.grant(key, leaseMs, now);
    this.#deps.granted();
    return lease;
  }

  #leave(key: string, waiter: Waiter): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    flight.waiters = flight.waiters.filter((one) => one !== waiter);
    this.settle(key);
  }

  #wakeAt(at: number, { key, flight, now }: { key: string; flight: Flight; now: number }): void {
    if (flight.timer?.at === at) return;
    clearTimeout(flight.timer?.handle);
    const handle = setTimeout(
      () => {
        delete flight.timer;
        this.settle(key);
      },
      Math.max(at - now, SHORTEST_TIMER_MS),
    );
    flight.timer = { at, handle };
  }
}

const elsewhere = ({ expiresAt }: Lease, now: number): Elsewhere => ({
  status: "wait",
  retryAfterMs: expiresAt - now,
});

class Hold extends RpcTarget {
  readonly #leave: () => void;

  constructor(leave: () => void) {
    super();
    this.#leave = leave;
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}
