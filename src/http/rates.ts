import type { Context } from "hono";
import { fail } from "../errors.ts";
import { threadOwner, userHash } from "../ids.ts";
import type { RateLimits } from "../rates.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Seconds: the shorter of the two windows that the platform counts in. One who comes too early is told again. */
const RETRY_AFTER_S = 10;

/**
 * Refuses a caller who calls too often, and calls for a user for whom too many come. A token of all users is a server's,
 * which speaks for many: only the users that it speaks for are counted.
 */
export function demandRate(c: Context<AppEnv>): void | Promise<void> {
  const { rateLimits } = c.get("services");
  // Without a promise where nothing is counted: each costs a call a turn.
  return rateLimits.caller === null && rateLimits.user === null ? undefined : counted(c, rateLimits);
}

async function counted(c: Context<AppEnv>, rateLimits: RateLimits): Promise<void> {
  const { user } = c.get("caller");
  const [caller, owner] = [user === "*" ? null : await userHash(user), await ownerIn(c)];
  const within = await Promise.all([isWithin(rateLimits.caller, caller), isWithin(rateLimits.user, owner)]);
  if (!within.includes(false)) return;
  c.header("Retry-After", String(RETRY_AFTER_S));
  throw new Refusal(fail("rate_limited"));
}

/** Counters that fail let the call pass: they are there to keep the service up, not to take it down. */
async function isWithin(limit: RateLimits["caller"], key: string | null): Promise<boolean> {
  if (limit === null || key === null) return true;
  try {
    return (await limit.limit({ key })).success;
  } catch (error) {
    console.error({ message: "a rate limit could not be asked", error: String(error) });
    return true;
  }
}

/** Whose memory the path is about: the hash of the user in it, or of its thread's owner. */
async function ownerIn(c: Context<AppEnv>): Promise<string | null> {
  const [, kind, id] = /^\/v1\/(users|threads)\/([^/]+)/.exec(c.req.path) ?? [];
  if (id === undefined) return null;
  return kind === "threads" ? threadOwner(id) : userHash(decodeURIComponent(id));
}
