import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { ownerInPath } from "./owner-in-path.ts";

/** Seconds: the shorter of the two windows that the platform counts in. One who comes too early is told again. */
const RETRY_AFTER_S = 10;

/**
 * Refuses a caller who calls too often. A token of all users is a server's, which speaks for many: only the users that it
 * speaks for are counted.
 */
export function demandCallerRate(c: Context<AppEnv>): void | Promise<void> {
  const { caller } = c.get("services").rateLimits;
  const { user } = c.get("caller");
  // Without a promise where nothing is counted: each costs a call a turn.
  return caller === null || user === "*" ? undefined : demand(c, caller, userHash(user));
}

/** Refuses calls for a user for whom too many come. Behind the check of ownership: no stranger uses them up. */
export function demandUserRate(c: Context<AppEnv>): void | Promise<void> {
  const { user } = c.get("services").rateLimits;
  return user === null ? undefined : demand(c, user, ownerInPath(c));
}

/** The same for more users whose memory a call is about. */
export async function demandRatesOf(c: Context<AppEnv>, users: readonly string[]): Promise<void> {
  const { user } = c.get("services").rateLimits;
  if (user === null) return;
  await Promise.all(users.map((one) => demand(c, user, userHash(one))));
}

async function demand(c: Context<AppEnv>, limit: RateLimit, key: Promise<string | null>): Promise<void> {
  if (await isWithin(limit, (await key) ?? "")) return;
  c.header("Retry-After", String(RETRY_AFTER_S));
  throw new Refusal(fail("rate_limited"));
}

/** Counters that fail let the call pass: they are there to keep the service up, not to take it down. */
async function isWithin(limit: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limit.limit({ key })).success;
  } catch (error) {
    console.error({ message: "a rate limit could not be asked", error: String(error) });
    return true;
  }
}
