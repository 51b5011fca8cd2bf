import type { OAuthAuthorizationServer } from "@cloudflare/workers-oauth-provider";
import { BoundedCache } from "../../domain/bounded-cache.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { SignIns, SignInStore } from "../../platform/d1/sign-ins.ts";
import type { Caller, Verified } from "../auth/claims.ts";
import type { SignInSettings } from "../auth/login-settings.ts";
import type { RevocationList } from "../auth/revocation-list.ts";
import { IdentityProvider } from "./identity-provider.ts";

/** The life of a checked token in this isolate, as of any token. */
const CACHED_MS = 30_000;
const CACHED_TOKENS = 1000;
const ACCESS_TOKEN_S = 3600;
/** After this time a person signs in again, at the identity provider too. The page of consent says so. */
export const SIGN_IN_S = 30 * 24 * 3600;
const APP_S = 90 * 24 * 3600;
/** One deployment has a few names. */
const ORIGINS = 16;

/** The library's environment. */
export type StoreEnv = { OAUTH_KV: SignInStore };
export type Server = OAuthAuthorizationServer<StoreEnv>;
/** What a sign-in keeps for its tokens; only a token decrypts it. `at`: milliseconds. */
export type SignInProps = { user: string; at: number };

/** What is kept of the app, for the list of a user's sign-ins. */
export type SignInMetadata = { name: string; domain?: string; redirectHost: string };

type Dependencies = {
  settings: SignInSettings;
  revoked: Pick<RevocationList, "refusal">;
  now: () => number;
};
type Library = typeof import("@cloudflare/workers-oauth-provider");

/** The paths of the endpoints. The callback is registered at the tenant's identity provider. */
export const PATHS = {
  authorize: "/oauth/authorize",
  callback: "/oauth/callback",
  token: "/oauth/token",
  register: "/oauth/register",
  server: "/.well-known/oauth-authorization-server",
  resource: "/.well-known/oauth-protected-resource",
} as const;

/** The resource that tokens are for: the MCP endpoint of this name of the deployment. */
export const resourceAt = (origin: string): string => `${origin}/mcp`;
export const resourceMetadataAt = (origin: string): string => `${origin}${PATHS.resource}/mcp`;

/** The tenant's own tokens are JWTs, which have no colon. */
export const isSignInToken = (token: string): boolean => token.includes(":");

/** Lets people sign in for MCP by OAuth 2.1: Cairn is the authorization server, and the identity provider behind it knows the person. */
export class SignInServer {
  readonly settings: SignInSettings;
  readonly provider: IdentityProvider | null;
  readonly #deps: Dependencies;
  readonly #servers = new BoundedCache<Server>(ORIGINS);
  #tokens = new BoundedCache<Verified & { until: number }>(CACHED_TOKENS);

  constructor(deps: Dependencies) {
    const { settings, now } = deps;
    this.#deps = deps;
    this.settings = settings;
    this.provider = settings.provider && new IdentityProvider({ settings: settings.provider, now });
  }

  /** The store of one request, from that request's own port. */
  env(signIns: SignIns): StoreEnv {
    return { OAUTH_KV: signIns.store(this.#deps.now) };
  }

  /** The authorization server at a name of the deployment. */
  async server(origin: string): Promise<Server> {
    const known = this.#servers.get(origin);
    if (known !== undefined) return known;
    const server = this.#newServer(await library(), origin);
    this.#servers.set(origin, server);
    return server;
  }

  /** Finds the caller of a token that was issued for the resource at this origin. `beforeD1` may throw, and D1 is not asked. */
  async caller(
    token: string,
    { origin, signIns, beforeD1 }: { origin: string; signIns: SignIns; beforeD1: () => Promise<void> },
  ): Promise<Result<Caller>> {
    const now = this.#deps.now();
    const key = `${origin} ${token}`;
    const known = this.#tokens.get(key);
    const isKnown = known !== undefined && now < known.until;
    if (!isKnown) await beforeD1();
    const verified = isKnown ? ok(known) : await this.#verify(token, { origin, signIns });
    if (!verified.ok) return verified;
    const { caller, issuedAt, expiresAt } = verified.value;
    const until = known?.until ?? 0;
    if (until <= now)
      this.#tokens.set(key, { ...verified.value, until: Math.min(now + CACHED_MS, expiresAt) });
    // With every call, as of any token.
    return (await this.#deps.revoked.refusal({ caller, issuedAt, expiresAt })) ?? ok(caller);
  }

  /** Makes this isolate ask for each token again, after a sign-in ended here. All others do so within 30 seconds. */
  forget(): void {
    this.#tokens = new BoundedCache(CACHED_TOKENS);
  }

  async #verify(
    token: string,
    { origin, signIns }: { origin: string; signIns: SignIns },
  ): Promise<Result<Verified>> {
    const server = await this.server(origin);
    const validated = await d1Result(() =>
      server.validateToken<SignInProps>(resourceAt(origin), token, this.env(signIns)),
    );
    if (!validated.ok) return validated;
    if (validated.value === null) return ENDED;
    const { props, scope, expiresAt } = validated.value;
    const { scopes, shared } = this.settings;
    const caller = {
      user: props.user,
      // A scope that the settings no longer give is gone.
      scopes: new Set(scopes.filter((one) => scope.includes(one))),
      shared: new Set(shared),
      tokenId: grantOf(token),
    };
    return ok({ caller, issuedAt: props.at, expiresAt: expiresAt * 1000 });
  }

  #newServer({ OAuthAuthorizationServer, OAuthError }: Library, origin: string): Server {
    return new OAuthAuthorizationServer<StoreEnv>({
      issuer: origin,
      resources: [resourceAt(origin)],
      authorizeEndpoint: PATHS.authorize,
      tokenEndpoint: PATHS.token,
      clientRegistrationEndpoint: PATHS.register,
      scopesSupported: [...this.settings.scopes],
      accessTokenTTL: ACCESS_TOKEN_S,
      refreshTokenTTL: SIGN_IN_S,
      clientRegistrationTTL: APP_S,
      // Without the flag, an app's address could name what only this zone reaches.
      clientIdMetadataDocumentEnabled: hasPublicFetch(),
      // A sign-in that was taken back gets no new token.
      tokenExchangeCallback: async ({ props, grantId }) => {
        const { user, at } = props as SignInProps;
        const caller: Caller = { user, scopes: new Set(), shared: new Set(), tokenId: grantId };
        const refusal = await this.#deps.revoked.refusal({ caller, issuedAt: at, expiresAt: Infinity });
        if (refusal?.code === "token_revoked")
          throw new OAuthError("invalid_grant", { description: "The sign-in was taken back." });
        if (refusal !== null)
          throw new OAuthError("temporarily_unavailable", {
            description: "The list of revoked tokens cannot be read.",
            statusCode: 503,
            headers: { "Retry-After": "2" },
          });
      },
      // A client's mistake is in its answer. But an app's own host may be down for a while, and `invalid_client` would make it forget
      // the sign-in.
      onError: ({ internal }) =>
        internal?.category === "client-id-metadata-document"
          ? Response.json(
              {
                error: "temporarily_unavailable",
                error_description: "The app's description of itself could not be read at its address.",
              },
              { status: 503, headers: { "Retry-After": "10", "Cache-Control": "no-store" } },
            )
          : undefined,
    });
  }
}

/** Loaded with the first sign-in: it is in each bundle, and a deployment without one does not evaluate it. */
export const library = (): Promise<Library> => import("@cloudflare/workers-oauth-provider");

const ENDED = fail("invalid_token", {
  message: "The sign-in has ended or was taken back, or its token is for another address. Sign in again.",
});

/** The id of the sign-in, by which it can be revoked as a token can by its `jti`. */
export const grantOf = (token: string): string => token.split(":")[1] ?? "";

const hasPublicFetch = (): boolean =>
  typeof Cloudflare !== "undefined" && Cloudflare.compatibilityFlags.global_fetch_strictly_public === true;
