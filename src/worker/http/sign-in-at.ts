import type { Context } from "hono";
import { safeUrl } from "../auth/login-settings.ts";
import type { SignInServer } from "../sign-in/sign-in.ts";
import type { AppEnv } from "./context.ts";

/**
 * The sign-in at the name by which a call comes; null where people cannot sign in. Below the path of another Worker, the addresses
 * that the protocol fixes are not Cairn's. Without https a token could be read on its way, except on this machine.
 */
export function signInAt(c: Context<AppEnv>): { signIn: SignInServer; origin: string } | null {
  const { signIn } = c.get("services");
  if (signIn === null || c.get("basePath") !== "" || c.get("bound") !== undefined) return null;
  const { origin } = new URL(c.req.url);
  return safeUrl(origin) === null ? null : { signIn, origin };
}
