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
  const address = addressOf(c);
  if (caller !== null && address !== null) await count(c, caller, kind + address);
}

/** Counts what anybody may have stored for a sign-in, by the address: an app, or a page. */
export async function countStored(c: Context<AppEnv>, what: "register" | "page"): Promise<void> {
  const { register } = c.get("services").rateLimits;
  const address = addressOf(c);
  if (register !== null && address !== null) await count(c, register, `${what}:${address}`);
}

/** The address of a call; of IPv6 the network of 64 bits, which one host has whole. */
function addressOf(c: Context<AppEnv>): string | null {
  const address = c.req.header("CF-Connecting-IP") ?? null;
  if (!address?.includes(":")) return address;
  const [first = [], last = []] = address.split("::").map((side) => side.split(":").filter(Boolean));
  const gap = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  const network = [...first, ...gap, ...last].slice(0, 4);
  return `${network.map((part) => Number.parseInt(part, 16).toString(16)).join(":")}::/64`;
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
