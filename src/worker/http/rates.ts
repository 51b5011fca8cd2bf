import type { Context, MiddlewareHandler } from "hono";
import { fail } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Seconds: the shorter of the platform's two windows. A caller that comes too early gets another 429. */
const RETRY_AFTER_S = 10;

/** Refuses a caller that calls too often. */
export const limitCaller: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countCall(c);
  await next();
};

/** Refuses who calls too often what needs no token: the caller of a binding, else an address, which only Cloudflare tells. */
export const limitAddress: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countAddress(c, "address ");
  await next();
};

/** Refuses calls for a user that gets too many. */
export const limitUser: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { user } = c.get("services").rateLimits;
  if (user !== null) await count(c, user, (await c.get("ownerHash")?.()) ?? null);
  await next();
};

/** Counts one call of the caller. A token of all users speaks for many: only the users that it speaks for are counted. */
export async function countCall(c: Context<AppEnv>): Promise<void> {
  const { caller } = c.get("services").rateLimits;
  const { user } = c.get("caller");
  if (caller !== null && user !== "*") await count(c, caller, await userHash(user));
}

/** Counts a call without a token by the address that it comes from, and that of a binding by its caller. */
export async function countAddress(c: Context<AppEnv>, kind = "address:"): Promise<void> {
  if (c.get("bound") !== undefined) return countCall(c);
  const { caller } = c.get("services").rateLimits;
  const address = c.req.header("CF-Connecting-IP");
  if (caller !== null && address !== undefined) await count(c, caller, kind + address);
}

/** Counts an app that registers for sign-in. */
export async function countRegistration(c: Context<AppEnv>): Promise<void> {
  await countAddress(c);
  const { register } = c.get("services").rateLimits;
  const address = c.req.header("CF-Connecting-IP");
  if (register !== null && address !== undefined) await count(c, register, `register:${address}`);
}

/** Counts a call for each of these users. */
export async function countUsers(c: Context<AppEnv>, users: readonly string[]): Promise<void> {
  const { user } = c.get("services").rateLimits;
  if (user !== null) await Promise.all(users.map(async (one) => count(c, user, await userHash(one))));
}

async function count(c: Context<AppEnv>, limit: RateLimit, key: string | null): Promise<void> {
  try {
    if ((await limit.limit({ key: key ?? "" })).success) return;
  } catch (error) {
    // The call passes: counters are there to keep the service up, and must not take it down.
    console.error({ message: "a rate limit could not be asked", error: String(error) });
    return;
  }
  c.header("Retry-After", String(RETRY_AFTER_S));
  throw new Refusal(fail("rate_limited"));
}
