import type { Breakpoint } from "../schema/prompt-cache.ts";

/** A use of a prefix, and how long the provider keeps it from then on. */
export type PrefixUse = { usedAt: number; lifetimeMs: number };

const isWarm = ({ usedAt, lifetimeMs: lives }: PrefixUse, now: number): boolean => now < usedAt + lives;

/** A use refreshes a warm prefix, for the longer of both lifetimes. A cold prefix is written anew. */
export const usedAgain = (before: PrefixUse | null, use: PrefixUse): PrefixUse =>
  before !== null && isWarm(before, use.usedAt)
    ? { usedAt: use.usedAt, lifetimeMs: Math.max(before.lifetimeMs, use.lifetimeMs) }
    : use;

/** The expectation for each prefix at `now`, by its former use. */
export const breakpoints = (
  hashes: readonly string[],
  before: readonly (PrefixUse | null)[],
  now: number,
): Breakpoint[] =>
  hashes.map((prefixHash, index) => {
    const last = before[index] ?? null;
    // A cold prefix has no last use here: the alarm may have deleted it.
    return last === null || !isWarm(last, now)
      ? { index, prefixHash, likelyWarm: false }
      : {
          index,
          prefixHash,
          likelyWarm: true,
          lastUsedAt: last.usedAt,
          expiresAt: last.usedAt + last.lifetimeMs,
        };
  });
