import type { Precondition } from "../domain/conditions.ts";
import type { Result } from "../domain/errors.ts";
import type { PrefixUse } from "../domain/prompt-cache/anthropic.ts";
import type { Usable } from "../domain/prompt-cache/google.ts";
import type { WrittenEntry } from "../domain/schema/entry.ts";
import type { Provider } from "../domain/schema/prompt-cache.ts";
import type { RecallHour } from "../domain/usage/recall-hours.ts";
import type { Entry, EntryWrite, IdempotencyKey } from "./storage.ts";

export type { Entry, IdempotencyKey };

/** The number of objects of the registry. A key's hash selects its object, so a change would lose all keys. */
export const PROMPT_CACHE_SHARDS = 64;

/** The right to create a key's value, until `expiresAt` (milliseconds since the epoch). */
export type Lease = { id: string; expiresAt: number };

export type Granted = { status: "lease"; lease: Lease };

/** Another caller creates the value, for `retryAfterMs` more at most. */
export type Elsewhere = { status: "wait"; retryAfterMs: number };

export type Flown<Hit> = Hit | Granted | Elsewhere;

/**
 * The caller waits: it calls `answer` at once, keeps `hold` until the answer, and disposes of both. When the client
 * disconnects, the runtime drops `hold`, and the waiter leaves the queue. It drops no target of a running call, so the
 * two are separate.
 */
export type Held<Hit> = {
  status: "held";
  hold: Disposable;
  answer: (() => Promise<Flown<Hit>>) & Partial<Disposable>;
};

/** `hour`: its first millisecond. */
export type Usage = {
  provider: Provider;
  model: string;
  hour: number;
  calls: number;
  cachedInputTokens: number;
  uncachedInputTokens: number;
};

/** From and to are inclusive. */
export type UsageRange = { from: number; to: number; model?: string };

export type UsageKey = readonly [hour: number, provider: string, model: string];

export type UsagePage = UsageRange & { after?: UsageKey; limit: number };

export type UsageSums = Pick<Usage, "calls" | "cachedInputTokens" | "uncachedInputTokens">;

export type RegistryWrite = Pick<EntryWrite, "key" | "value" | "ttlMs"> & { condition?: Precondition };

/** A key of the registry: `entry` if it has a value, `leaseUntil` if somebody creates one. */
export type ListedKey = {
  key: string;
  entry?: { version: string; updatedAt: number; expiresAt: number | null };
  leaseUntil?: number;
};

export type LeaseRequest = { key: string; leaseMs: number; waitMs: number };

/** `tooSmall`: the caller knows that the provider would refuse to cache it. */
export type ResourceRequest = LeaseRequest & { tooSmall: boolean };

export type Cached = { status: "hit"; entry: Entry };

/** `now` is the time of the use. */
export type UsedPrefixes = { before: (PrefixUse | null)[]; now: number };

export interface RegistryRpc {
  get(key: string): Promise<Entry | null>;
  /** True if any key with this prefix has a value. */
  holdsAny(prefix: string): Promise<boolean>;
  /** The keys with a prefix that follow `after`, in byte order. */
  keys(page: { prefix: string; after?: string; limit: number }): Promise<ListedKey[]>;
  /** Gets and deletes in one step: one of several concurrent callers gets the value. */
  take(key: string): Promise<Entry | null>;
  /** With a `lease` that is not the current one, fails with `lease_lost`. */
  set(write: RegistryWrite, lease?: string): Promise<Result<WrittenEntry>>;
  forget(key: string, condition?: Precondition): Promise<Result<null>>;
  forgetVersion(key: string, version: string): Promise<void>;
  lease(request: LeaseRequest): Promise<Flown<Cached> | Held<Cached>>;
  release(key: string, id: string): Promise<void>;
  resource(request: ResourceRequest): Promise<Flown<Usable> | Held<Usable>>;
  usePrefixes(ledger: string, hashes: readonly string[], lifetimeMs: number): Promise<UsedPrefixes>;
}

export interface CacheUsageRpc {
  report(usage: Usage, once?: IdempotencyKey): Promise<Result<null>>;
  stats(page: UsagePage): Promise<{ items: Usage[]; more: boolean; sums: UsageSums }>;
  addRecalls(hours: readonly RecallHour[]): Promise<void>;
  /** `from` and `to` are inclusive. */
  recallHours(range: { from: number; to: number }): Promise<RecallHour[]>;
}

export type PromptCacheRpc = RegistryRpc & CacheUsageRpc;
