import type { LoginBindings } from "../../platform/bindings.ts";
import { type Scope, areShared, isScope } from "../../domain/token.ts";

export type LoginSettings = {
  jwksUrl: URL;
  issuer: string;
  audience: string[];
  userClaim: string;
  scopes: readonly Scope[];
  shared: readonly string[];
};

/** The settings of the login provider; null without one, or the problem with them. */
export function loginSettingsOf(
  env: LoginBindings,
): { settings: LoginSettings | null; problem?: undefined } | { settings?: undefined; problem: string } {
  const { JWT_JWKS_URL: address = "", JWT_ISSUER: issuer = "", JWT_AUDIENCE: audiences = "" } = env;
  const audience = listed(audiences);
  const missing = [
    address === "" && "JWT_JWKS_URL",
    issuer === "" && "JWT_ISSUER",
    audience.length === 0 && "JWT_AUDIENCE",
  ].filter((name) => name !== false);
  if (missing.length === 3) return { settings: null };
  if (missing.length > 0) return settingsProblem(`${missing.join(" and ")} must be set too`);
  const jwksUrl = keysAt(address);
  if (jwksUrl === null) return settingsProblem("JWT_JWKS_URL is not an https URL");
  const scopes = listed(env.JWT_SCOPE || "read,write");
  if (!scopes.every(isScope)) return settingsProblem("JWT_SCOPE has an unknown scope");
  const shared = listed(env.JWT_SHARED);
  if (!areShared(shared))
    return settingsProblem("JWT_SHARED is not a list of at most 64 ids that begin with 'shared:'");
  const userClaim = env.JWT_USER_CLAIM || "sub";
  return { settings: { jwksUrl, issuer, audience, userClaim, scopes, shared } };
}

const settingsProblem = (reason: string) => ({ problem: `logins of JWT_ISSUER are refused: ${reason}` });

const listed = (list = ""): string[] => list.split(/[\s,]+/).filter((word) => word !== "");

/** Refuses http, over which anybody on the way could change the keys; except on this machine. */
function keysAt(address: string): URL | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && local) ? url : null;
}
