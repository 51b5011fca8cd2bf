import type { ResolveAnswer, ResolveBody } from "../../domain/schema/prompt-cache.ts";
import type { Services } from "../services.ts";
import { breakpoints } from "../../domain/prompt-cache/anthropic.ts";
import { durationMs } from "../../domain/prompt-cache/duration.ts";
import { isTooSmall } from "../../domain/prompt-cache/google.ts";
import { cacheLifetimeMs } from "../../domain/prompt-cache/lifetime.ts";
import { awaitAnswer } from "./await-answer.ts";
import {
  keyIn,
  ledgerKey,
  prefixHashes,
  promptCacheKey,
  regionsHash,
  resourceKey,
} from "../../domain/prompt-cache/keys.ts";
import type { UsedPrefixes } from "../../contract/prompt-cache.ts";

/** The default time to create a resource. */
const LEASE_MS = 60_000;

type Registry = Pick<Services, "promptCache" | "now">;

/**
 * Decides how to have this content cached by its provider: use a resource, create it, wait for its creator, or nothing, as
 * the provider recognizes it by itself. Calls at most one object, again if it was reset.
 */
export async function resolve(
  registry: Registry,
  namespace: string,
  body: ResolveBody,
): Promise<ResolveAnswer> {
  if (body.provider === "google") return resolveGoogle(registry, namespace, body);
  // These providers have no resource to remember.
  if (isTooSmall(body)) return { status: "too-small" };
  if (body.provider === "anthropic") return resolveAnthropic(registry, namespace, body);
  const key = await promptCacheKey(namespace, body.model, await hashOf(body));
  return { status: "stateless", promptCacheKey: key };
}

async function resolveGoogle(
  { promptCache, now }: Registry,
  namespace: string,
  body: ResolveBody,
): Promise<ResolveAnswer> {
  const { provider, model, leaseMs = LEASE_MS, waitMs = 0 } = body;
  const key = resourceKey(provider, model, await hashOf(body));
  const stored = keyIn(namespace, key);
  const request = { key: stored, leaseMs, tooSmall: isTooSmall(body) };
  const ask = async (left: number) => (await promptCache(stored)).resource({ ...request, waitMs: left });
  const answer = await awaitAnswer({ ask, waitMs, now });
  if (answer.status === "too-small") return answer;
  if (answer.status === "lease") return { status: "create", key, lease: answer.lease, ...ttlSecondsOf(body) };
  return { ...answer, key };
}

async function resolveAnthropic(
  { promptCache }: Registry,
  namespace: string,
  body: ResolveBody,
): Promise<ResolveAnswer> {
  const hashes = body.regions === undefined ? [await hashOf(body)] : await prefixHashes(body.regions);
  const ledger = ledgerKey(namespace, body.model);
  const lives = cacheLifetimeMs(body.provider, ttlMsOf(body));
  const used: UsedPrefixes = await (await promptCache(ledger)).usePrefixes(ledger, hashes, lives);
  return { status: "stateless", breakpoints: breakpoints(hashes, used.before, used.now) };
}

const hashOf = async ({ hash, regions = [] }: ResolveBody): Promise<string> => hash ?? regionsHash(regions);

/** The schema lets only durations pass. */
const ttlMsOf = ({ ttl }: ResolveBody): number | undefined =>
  ttl === undefined ? undefined : (durationMs(ttl) ?? undefined);

function ttlSecondsOf(body: ResolveBody): { ttlSeconds?: number } {
  const ttlMs = ttlMsOf(body);
  return ttlMs === undefined ? {} : { ttlSeconds: ttlMs / 1000 };
}
