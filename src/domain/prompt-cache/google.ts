import { StoredResource } from "../schema/prompt-cache.ts";

/** A resource that ends within this time is not used: the caller's clock and the provider's may differ by it. */
export const CLOCK_SKEW_MS = 30_000;
/** The time for which a content counts as too small to be cached. */
export const TOO_SMALL_MS = 5 * 60_000;

export type Usable =
  | { status: "hit"; name: string; expiresAt: number; version: string }
  | { status: "too-small"; expiresAt: number };

/** The resource of a stored value at `now`; null if another one must be created. */
export function usable(entry: { value: Uint8Array; version: string }, now: number): Usable | null {
  // Only valid JSON is ever stored.
  const stored = StoredResource.safeParse(JSON.parse(new TextDecoder().decode(entry.value))).data;
  if (stored === undefined) return null;
  const { expiresAt } = stored;
  if ("tooSmall" in stored) return expiresAt > now ? { status: "too-small", expiresAt } : null;
  return expiresAt > now + CLOCK_SKEW_MS
    ? { status: "hit", name: stored.name, expiresAt, version: entry.version }
    : null;
}

export const isTooSmall = ({ tokens, minTokens }: { tokens?: number; minTokens?: number }): boolean =>
  tokens !== undefined && minTokens !== undefined && tokens < minTokens;
