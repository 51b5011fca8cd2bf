import { RpcTarget } from "cloudflare:workers";
import type { LeaseStore } from "./lease-store.ts";
import type { Entry } from "../storage/contract.ts";
import type { Elsewhere, Flown, Granted, Held, Lease } from "./contract.ts";

export type FlightRequest<Hit> = {
  leaseMs: number;
  waitMs: number;
  /** What this caller makes of a value that is there; null if it cannot use it, and would create another. */
  accept: (entry: Entry) => Hit | null;
};

/** `value` says whether the waiter is content with it: then it has its answer. */
type Waiter = {
  leaseMs: number;
  until: number;
  value: (entry: Entry) => boolean;
  tell: (answer: Granted | Elsewhere) => void;
};
type Flight = { waiters: Waiter[]; timer?: { at: number; handle: ReturnType<typeof setTimeout> } };
type Parts = {
  leases: LeaseStore;
  get: (key: string) => Entry | null;
  now: () => number;
  /** Called after a lease was granted: its row is to be swept some day. */
  granted: () => void;
};

/** A timer that fires before the clock says so (they are two clocks) is set again, and not in a busy loop. */
const SHORTEST_TIMER_MS = 5;

/**
 * One creator a key. The first who misses gets the lease; the others wait in memory, in order, until a value is
 * set, or the lease ends and the first of them becomes the next creator. Nothing here polls: every event of a
 * key, and one timer a key, lets it `settle` by the clock.
 */
export class SingleFlight {
  readonly #parts: Parts;
  readonly #flights = new Map<string, Flight>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The value, the lease, or the news that another creates it; held until one of these for up to `waitMs`. */
  acquire<Hit extends object>(key: string, request: FlightRequest<Hit>): Flown<Hit> | Held<Hit> {
    const { leases, get, now } = this.#parts;
    this.settle(key);
    const entry = get(key);
    const hit = entry === null ? null : request.accept(entry);
    if (hit !== null) return hit;
    const at = now();
    const lease = leases.current(key, at);
    if (lease === null) return { status: "lease", lease: this.#grant(key, request.leaseMs, at) };
    return request.waitMs === 0 ? elsewhere(lease, at) : this.#hold(key, request, { lease, now: at });
  }

  /** Whether somebody creates the value now. */
  creating(key: string): boolean {
    this.settle(key);
    return this.#parts.leases.current(key, this.#parts.now()) !== null;
  }

  /** A value was set: the flight is over, whoever set it. Who cannot use the value goes on, with a new creator. */
  landed(key: string): void {
    this.#parts.leases.end(key);
    const flight = this.#flights.get(key);
    const entry = this.#parts.get(key);
    if (flight !== undefined && entry !== null)
      flight.waiters = flight.waiters.filter((waiter) => !waiter.value(entry));
    this.settle(key);
  }

  /** Ends the lease with this id, or whichever is current; the first waiter is the next creator. */
  release(key: string, id?: string): void {
    const lease = this.#parts.leases.current(key, this.#parts.now());
    if (lease !== null && (id === undefined || lease.id === id)) this.#parts.leases.end(key);
    this.settle(key);
  }

  /** Does what the time asks for: a lease that ended goes to the first waiter, and who has waited enough leaves. */
  settle(key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    const now = this.#parts.now();
    const lease = this.#parts.leases.current(key, now) ?? this.#handOver(key, flight, now);
    // Whoever waits has time left until the timer's, unless a shorter lease than the one it was set for is held now.
    const { timer } = flight;
    if (lease !== null && flight.waiters.length > 0 && timer && now < timer.at && timer.at <= lease.expiresAt)
      return;
    if (lease !== null)
      flight.waiters = flight.waiters.filter((waiter) => {
        if (waiter.until > now) return true;
        waiter.tell(elsewhere(lease, now));
        return false;
      });
    if (lease === null || flight.waiters.length === 0) return this.#close(key, flight);
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
    const lease = this.#parts.leases.grant(key, leaseMs, now);
    this.#parts.granted();
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
    if (flight.timer !== undefined) clearTimeout(flight.timer.handle);
    const handle = setTimeout(
      () => {
        delete flight.timer;
        this.settle(key);
      },
      Math.max(at - now, SHORTEST_TIMER_MS),
    );
    flight.timer = { at, handle };
  }

  #close(key: string, flight: Flight): void {
    if (flight.timer !== undefined) clearTimeout(flight.timer.handle);
    this.#flights.delete(key);
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
