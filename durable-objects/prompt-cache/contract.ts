import type { Condition } from "../../src/domain/conditions.ts";
import type { Result } from "../../src/domain/errors.ts";
import type { PrefixUse } from "../../src/domain/prompt-cache/anthropic.ts";
import type { Usable } from "../../src/domain/prompt-cache/google.ts";
import type { WrittenEntry } from "../../src/domain/schema/entry.ts";
import type { Provider } from "../../src/domain/schema/prompt-cache.ts";
import type { Entry, EntryWrite, IdempotencyKey } from "../storage/contract.ts";

export type { Entry, IdempotencyKey };

/** How many objects share the registry; a key belongs to one of them by its hash. Never changed: it moves keys. */
export const PROMPT_CACHE_SHARDS = 64;

/** The right to create a key's value, until `expiresAt` (milliseconds since the epoch). */
export type Lease = { id: string; expiresAt: number };

export type Granted = { status: "lease"; lease: Lease };

/** Somebody else creates the value, for another `retryAfterMs` at most. */
export type Elsewhere = { status: "wait"; retryAfterMs: number };

export type Flown<Hit> = Hit | Granted | Elsewhere;

/**
 * The caller is held. `answer` is to be called at once, and `hold` to be kept until it answers: what the runtime
 * drops with a client that went away is `hold`, and so its waiter leaves the queue. (A target that a call is
 * running on is not dropped, which is why the two are not one.) Both are to be disposed of.
 */
export type Held<Hit> = {
  status: "held";
  hold: Disposable;
  answer: (() => Promise<Flown<Hit>>) & Partial<Disposable>;
};

/** `hour` is its first millisecond. */
export type Usage = {
  provider: Provider;
  model: string;
  hour: number;
  calls: number;
  cachedInputTokens: number;
  uncachedInputTokens: number;
};

/** Hours between these two, both inclusive, of all models or of one. */
export type UsageRange = { from: number; to: number; model?: string };

/** The sort key. */
export type UsageKey = readonly [hour: number, provider: string, model: string];

export type UsagePage = UsageRange & { after?: UsageKey; limit: number };

export type UsageSums = Pick<Usage, "calls" | "cachedInputTokens" | "uncachedInputTokens">;

export type RegistryWrite = Pick<EntryWrite, "key" | "value" | "ttlMs"> & { condition?: Condition };

export type LeaseRequest = { key: string; leaseMs: number; waitMs: number };

/** `tooSmall`: the caller knows that the provider would refuse to cache it. */
export type ResourceRequest = LeaseRequest & { tooSmall: boolean };

export type Cached = { status: "hit"; entry: Entry };

/** `now` is the time of the use. */
export type UsedPrefixes = { before: (PrefixUse | null)[]; now: number };

/** A shard of the registry, as its callers see it. */
export interface RegistryRpc {
  get(key: string): Promise<Entry | null>;
  /** True if there is a value under any key that begins so. */
  holdsAny(prefix: string): Promise<boolean>;
  /** Gets and forgets in one step: of callers at once, one gets the value. */
  take(key: string): Promise<Entry | null>;
  /** With `lease`, only while that is the current one; `lease_lost` otherwise. */
  set(write: RegistryWrite, lease?: string): Promise<Result<WrittenEntry>>;
  forget(key: string, condition?: Condition): Promise<Result<null>>;
  forgetVersion(key: string, version: string): Promise<void>;
  lease(request: LeaseRequest): Promise<Flown<Cached> | Held<Cached>>;
  release(key: string, id: string): Promise<void>;
  resource(request: ResourceRequest): Promise<Flown<Usable> | Held<Usable>>;
  usePrefixes(ledger: string, hashes: readonly string[], lifetimeMs: number): Promise<UsedPrefixes>;
}

/** The object that counts a namespace's usage, as its callers see it. */
export interface UsageRpc {
  report(usage: Usage, once?: IdempotencyKey): Promise<Result<null>>;
  stats(page: UsagePage): Promise<{ items: Usage[]; more: boolean; sums: UsageSums }>;
}

export type PromptCacheRpc = RegistryRpc & UsageRpc;
