import type { LoginBindings, SignInBindings } from "../../platform/bindings.ts";
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
  const jwksUrl = safeUrl(address);
  if (jwksUrl === null) return settingsProblem("JWT_JWKS_URL is not an https URL");
  const rights = rightsOf(env);
  if (typeof rights === "string") return settingsProblem(rights);
  return { settings: { jwksUrl, issuer, audience, ...rights } };
}

const settingsProblem = (reason: string) => ({ problem: `logins of JWT_ISSUER are refused: ${reason}` });

/** What a login at the provider may do here: by its token, and by a sign-in. */
type LoginRights = Pick<LoginSettings, "userClaim" | "scopes" | "shared">;

/** The same, or the problem with it. */
function rightsOf(env: LoginBindings): LoginRights | string {
  const scopes = listed(env.JWT_SCOPE || "read,write");
  if (!scopes.every(isScope)) return "JWT_SCOPE has an unknown scope";
  const shared = listed(env.JWT_SHARED);
  if (!areShared(shared)) return "JWT_SHARED is not a list of at most 64 ids that begin with 'shared:'";
  return { userClaim: env.JWT_USER_CLAIM || "sub", scopes, shared };
}

/** The tenant's OpenID provider, and Cairn's registration at it. */
export type OpenIdSettings = { issuer: string; clientId: string; clientSecret: string; userClaim: string };
/** How people sign in for MCP. `provider`: null where they have one-time codes. `scopes`: what they may allow an app. */
export type SignInSettings = {
  provider: OpenIdSettings | null;
  scopes: readonly Scope[];
  shared: readonly string[];
};

/** The settings of the sign-in for MCP; null without one, or the problem with them. */
export function signInSettingsOf(
  env: LoginBindings & SignInBindings,
): { settings: SignInSettings | null; problem?: undefined } | { settings?: undefined; problem: string } {
  const { SIGN_IN: codes = "" } = env;
  const provider = openIdOf(env);
  if (typeof provider === "string") return signInProblem(provider);
  if (codes !== "" && codes !== "codes") return signInProblem(`SIGN_IN is ${codes}: it is codes, or not set`);
  if (provider === null && codes === "") return { settings: null };
  if (provider !== null && codes !== "")
    return signInProblem("SIGN_IN is codes, and OIDC_ISSUER is set: a deployment has one of them");
  const rights = rightsOf(env);
  if (typeof rights === "string") return signInProblem(rights);
  const { userClaim, scopes, shared } = rights;
  const offered = scopes.filter((scope) => scope === "read" || scope === "write");
  if (offered.length === 0) return signInProblem("JWT_SCOPE has neither read nor write");
  return { settings: { provider: provider && { ...provider, userClaim }, scopes: offered, shared } };
}

const signInProblem = (reason: string) => ({ problem: `nobody can sign in for MCP: ${reason}` });

/** The provider; null where none is set, or the problem with it. */
function openIdOf({
  OIDC_ISSUER: issuer = "",
  OIDC_CLIENT_ID: clientId = "",
  OIDC_CLIENT_SECRET: clientSecret = "",
}: SignInBindings): Omit<OpenIdSettings, "userClaim"> | null | string {
  const given = [issuer, clientId, clientSecret].filter((one) => one !== "").length;
  if (given === 0) return null;
  if (given < 3) return "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must all be set";
  return safeUrl(issuer) === null ? "OIDC_ISSUER is not an https URL" : { issuer, clientId, clientSecret };
}

const listed = (list = ""): string[] => list.split(/[\s,]+/).filter((word) => word !== "");

/** Refuses http, over which anybody on the way could change the answer; except on this machine. */
export function safeUrl(address: string): URL | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && local) ? url : null;
}
