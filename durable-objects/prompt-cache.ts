import { DurableObject } from "cloudflare:workers";
import { type Bindings, portsOf } from "../src/platform/bindings.ts";
import type { Precondition } from "../src/domain/conditions.ts";
import { fail, ok, type Result } from "../src/domain/errors.ts";
import { TOO_SMALL_MS, type Usable, usable } from "../src/domain/prompt-cache/google.ts";
import { inByteOrder } from "../src/domain/byte-order.ts";
import { LIFE_MS } from "../src/domain/prompt-cache/usage.ts";
import type { RecallHour } from "../src/domain/usage/recall-hours.ts";
import type { WrittenEntry } from "../src/domain/schema/entry.ts";
import { Chores } from "./storage/chores.ts";
import { EntryStore } from "./storage/entry-store.ts";
import { ExpirySweep } from "./storage/expiry-sweep.ts";
import type { Entry, IdempotencyKey, Served } from "../src/contract/storage.ts";
import { migrate } from "./storage/migrate.ts";
import { LeaseStore } from "./prompt-cache/lease-store.ts";
import { PrefixLedger } from "./prompt-cache/prefix-ledger.ts";
import { migrations } from "./prompt-cache/schema.ts";
import { RecallHoursStore } from "./prompt-cache/recall-hours-store.ts";
import { SingleFlight } from "./prompt-cache/single-flight.ts";
import { CacheUsageStore } from "./prompt-cache/usage-store.ts";
import { IdempotencyStore } from "./storage/idempotency-store.ts";
import { AlarmScheduler } from "./storage/alarm-scheduler.ts";
import type {
  Cached,
  Flown,
  Held,
  LeaseRequest,
  ListedKey,
  RegistryWrite,
  ResourceRequest,
  Usage,
  UsagePage,
  UsageSums,
  UsedPrefixes,
  PromptCacheRpc,
} from "../src/contract/prompt-cache.ts";

/** Kinds of rows that expire. */
type Expiring = "entries" | "leases" | "prefixes" | "usage" | "recalls" | "answers";

/**
 * One shard of the registry of prompt caches: values, the leases to create them, and the ledgers of prefixes that a
 * provider has likely cached. Other objects of this class count the usage of one namespace each, and one the tenant's recalls.
 */
export class PromptCache extends DurableObject<Bindings> implements Served<PromptCacheRpc> {
  readonly #entries: EntryStore;
  readonly #leases: LeaseStore;
  readonly #flights: SingleFlight;
  readonly #prefixes: PrefixLedger;
  readonly #usage: CacheUsageStore;
  readonly #recalls: RecallHoursStore;
  readonly #answers: IdempotencyStore;
  readonly #alarms: AlarmScheduler;
  readonly #sweeps: Record<Expiring, ExpirySweep>;
  readonly #chores: Chores;
  readonly #now: () => number;

  constructor(ctx: DurableObjectState, env: Bindings, now = portsOf(env).now) {
    super(ctx, env);
    this.#now = now;
    const { storage } = ctx;
    migrate(storage, migrations);
    this.#entries = new EntryStore(ctx);
    this.#leases = new LeaseStore(storage.sql);
    this.#prefixes = new PrefixLedger(storage.sql);
    this.#usage = new CacheUsageStore(storage.sql);
    this.#recalls = new RecallHoursStore(storage.sql);
    this.#answers = new IdempotencyStore(ctx);
    this.#alarms = new AlarmScheduler(storage);
    this.#sweeps = {
      entries: this.#entries.expirySweep,
      leases: new ExpirySweep(ctx, "leases"),
      prefixes: new ExpirySweep(ctx, "warm_prefixes"),
      usage: new ExpirySweep(ctx, "usage"),
      recalls: new ExpirySweep(ctx, "recall_hours"),
      answers: this.#answers.expirySweep,
    };
    this.#chores = new Chores({ sql: storage.sql, alarms: this.#alarms, now }, this.#sweeps);
    this.#flights = new SingleFlight({
      leases: this.#leases,
      get: (key) => this.#entries.get(key, now()),
      now,
      granted: () => this.#sweepLater("leases"),
    });
    void ctx.blockConcurrencyWhile(() => this.#alarms.load());
  }

  get(key: string): Entry | null {
    this.#flights.settle(key);
    return this.#entries.get(key, this.#now());
  }

  holdsAny(prefix: string): boolean {
    return this.#entries.list({ prefix, limit: 1, values: false }, this.#now()).entries.length > 0;
  }

  keys({ limit, ...page }: { prefix: string; after?: string; limit: number }): ListedKey[] {
    const now = this.#now();
    const { entries } = this.#entries.list({ ...page, limit, values: false }, now);
    const keys = new Map(entries.map(({ key, ...entry }): [string, ListedKey] => [key, { key, entry }]));
    for (const { key, expiresAt } of this.#leases.list({ ...page, limit }, now))
      keys.set(key, { ...keys.get(key), key, leaseUntil: expiresAt });
    return [...keys.values()].toSorted((a, b) => inByteOrder(a.key, b.key)).slice(0, limit);
  }

  take(key: string): Entry | null {
    this.#flights.settle(key);
    const entry = this.#entries.take(key, this.#now());
    // The alarm deletes the parts of the taken value.
    this.#sweepLater("entries");
    return entry;
  }

  /** Without `lease`, it ends a flight under way. A refused value ends none. */
  set(write: RegistryWrite, lease?: string): Result<WrittenEntry> {
    if (lease !== undefined && this.#leases.current(write.key, this.#now())?.id !== lease) {
      this.#flights.settle(write.key);
      return fail("lease_lost", { details: [{ path: "query.lease", message: "is not the current lease" }] });
    }
    return this.#write(write);
  }

  /** Deletes the value and ends its flight, if the condition holds. */
  forget(key: string, condition: Precondition = {}): Result<null> {
    const deleted = this.#entries.delete(key, condition, this.#now());
    if (!deleted.ok) return deleted;
    this.#flights.release(key);
    return ok(null);
  }

  /** Deletes the value if it still has this version. */
  forgetVersion(key: string, version: string): void {
    this.#entries.delete(key, { ifMatch: [version] }, this.#now());
  }

  lease({ key, ...request }: LeaseRequest): Flown<Cached> | Held<Cached> {
    return this.#flights.acquire<Cached>(key, { ...request, accept: (entry) => ({ status: "hit", entry }) });
  }

  /** Ends this lease. Does nothing if another one is current. */
  release(key: string, id: string): void {
    this.#flights.release(key, id);
  }

  resource({ key, tooSmall, ...request }: ResourceRequest): Flown<Usable> | Held<Usable> {
    const accept = (entry: Entry) => usable(entry, this.#now());
    return (
      (tooSmall ? this.#tooSmall(key, accept) : null) ?? this.#flights.acquire(key, { ...request, accept })
    );
  }

  /** Notes a use of these prefixes, and returns the former use of each. */
  usePrefixes(ledger: string, hashes: readonly string[], lifetimeMs: number): UsedPrefixes {
    const now = this.#now();
    const before = this.ctx.storage.transactionSync(() =>
      this.#prefixes.use(ledger, hashes, { usedAt: now, lifetimeMs }),
    );
    this.#sweepLater("prefixes");
    return { before, now };
  }

  /** Adds to the usage of its hour, once for an idempotency key. */
  report(usage: Usage, once?: IdempotencyKey): Result<null> {
    const now = this.#now();
    const counted = this.ctx.storage.transactionSync(() => {
      const before = this.#answers.replay<null>(once, now);
      if (before !== null) return before;
      this.#usage.add(usage, usage.hour + LIFE_MS);
      return this.#answers.save(once, ok(null), { now });
    });
    this.#sweepLater("usage", "answers");
    return counted;
  }

  /** A page of usage by hour, and the sums of the whole range. */
  stats(page: UsagePage): { items: Usage[]; more: boolean; sums: UsageSums } {
    const rows = this.#usage.list({ ...page, limit: page.limit + 1 });
    const items = rows.slice(0, page.limit);
    return { items, more: rows.length > items.length, sums: this.#usage.sums(page) };
  }

  /** Adds to the recalls of their hours. */
  addRecalls(hours: readonly RecallHour[]): void {
    this.ctx.storage.transactionSync(() => {
      for (const one of hours) this.#recalls.add(one, one.hour + LIFE_MS);
    });
    this.#sweepLater("recalls");
  }

  recallHours(range: { from: number; to: number }): RecallHour[] {
    return this.#recalls.list(range);
  }

  /** Deletes a bounded number of expired rows of each kind, and is due again while there are more. */
  override alarm(): Promise<void> {
    return this.#chores.run();
  }

  #write(write: RegistryWrite): Result<WrittenEntry> {
    const written = this.#entries.set({ condition: {}, ...write, refreshOnRead: false }, this.#now());
    if (!written.ok) return written;
    if (written.value.expiresAt !== undefined) this.#sweepLater("entries");
    this.#flights.landed(write.key);
    return written;
  }

  /** Schedules the alarm that deletes the expired rows. */
  #sweepLater(...rows: readonly Expiring[]): void {
    for (const one of rows) this.#alarms.scheduleBy(this.#sweeps[one].nextDue(this.#now()));
  }

  /** The caller's estimate does not count against a resource that exists. */
  #tooSmall(key: string, accept: (entry: Entry) => Usable | null): Usable {
    const entry = this.get(key);
    const known = entry === null ? null : accept(entry);
    if (known !== null) return known;
    const expiresAt = this.#now() + TOO_SMALL_MS;
    const value = new TextEncoder().encode(JSON.stringify({ tooSmall: true, expiresAt }));
    // Not stored while another caller creates the resource: an estimate must not end its flight.
    if (!this.#flights.creating(key)) this.#write({ key, value, ttlMs: TOO_SMALL_MS });
    return { status: "too-small", expiresAt };
  }
}
