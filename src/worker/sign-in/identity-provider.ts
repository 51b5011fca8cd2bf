import { decodeJwt } from "jose";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { sha256Base64url } from "../../domain/hash.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { textOf } from "../../platform/endpoint-request.ts";
import { type OpenIdSettings, safeUrl } from "../auth/login-settings.ts";
import { Logins } from "../auth/logins.ts";

/** The life of the provider's description. */
const FRESH_MS = 600_000;
const WITHIN_MS = 5_000;
/** An answer of a provider has some kilobytes. */
const MOST_BYTES = 256 * 1024;

type Endpoints = { authorize: URL; token: URL; secretInBody: boolean; logins: Logins };
/** What Cairn keeps of a sign-in while the person is at the provider. */
export type AtProvider = { verifier: string; nonce: string };
type Dependencies = { settings: OpenIdSettings; now: () => number };

/**
 * The tenant's OpenID provider, by the code flow with PKCE (OpenID Connect Core, 3.1; RFC 7636). Its tokens are checked as logins
 * are.
 */
export class IdentityProvider {
  readonly #deps: Dependencies;
  #known: { endpoints: Endpoints; at: number } | null = null;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Fails if the provider cannot be asked: then nobody is sent there. */
  async isUp(): Promise<Result<null>> {
    const endpoints = await this.#endpoints();
    return endpoints.ok ? ok(null) : endpoints;
  }

  newVisit(): AtProvider {
    return { verifier: secret() + secret(), nonce: secret() };
  }

  /** The address at the provider. */
  async addressOf(
    { verifier, nonce }: AtProvider,
    { state, callback }: { state: string; callback: string },
  ): Promise<Result<string>> {
    const endpoints = await this.#endpoints();
    if (!endpoints.ok) return endpoints;
    const { clientId, userClaim } = this.#deps.settings;
    const url = new URL(endpoints.value.authorize);
    const challenge = await sha256Base64url(verifier);
    for (const [name, value] of Object.entries({
      response_type: "code",
      client_id: clientId,
      redirect_uri: callback,
      scope: userClaim === "sub" ? "openid" : "openid profile email",
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: "S256",
    }))
      url.searchParams.set(name, value);
    return ok(url.href);
  }

  /** The user whom the provider's code stands for. */
  async userOf(code: string, { verifier, nonce }: AtProvider, callback: string): Promise<Result<string>> {
    const endpoints = await this.#endpoints();
    if (!endpoints.ok) return endpoints;
    const answer = await this.#exchange(endpoints.value, {
      grant_type: "authorization_code",
      code,
      redirect_uri: callback,
      code_verifier: verifier,
    });
    if (!answer.ok) return answer;
    const idToken: unknown = Object(answer.value).id_token;
    if (typeof idToken !== "string") return REFUSED;
    const verified = await endpoints.value.logins.verify(idToken, this.#deps.now());
    if (!verified.ok) {
      if (verified.code === "login_keys_unavailable") return DOWN;
      console.error({
        message: "an id token of OIDC_ISSUER was refused: see OIDC_CLIENT_ID and JWT_USER_CLAIM",
        code: verified.code,
        reason: verified.message,
      });
      return verified;
    }
    // Another visit's token would be another person's.
    return decodeJwt(idToken).nonce === nonce ? ok(verified.value.caller.user) : REFUSED;
  }

  async #exchange(
    { token, secretInBody }: Endpoints,
    fields: Record<string, string>,
  ): Promise<Result<unknown>> {
    const { clientId, clientSecret } = this.#deps.settings;
    const basic = btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`);
    return jsonFrom(token, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Accept: "application/json",
        ...(!secretInBody && { Authorization: `Basic ${basic}` }),
      },
      body: new URLSearchParams({
        ...fields,
        ...(secretInBody && { client_id: clientId, client_secret: clientSecret }),
      }).toString(),
    });
  }

  /** The provider's description of itself (OpenID Connect Discovery 1.0). */
  async #endpoints(): Promise<Result<Endpoints>> {
    const { settings, now } = this.#deps;
    if (this.#known !== null && Math.abs(now() - this.#known.at) < FRESH_MS) return ok(this.#known.endpoints);
    const { issuer } = settings;
    const at = new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const answer = await jsonFrom(at, { headers: { Accept: "application/json" } });
    if (!answer.ok) return DOWN;
    const endpoints = endpointsOf(answer.value, settings);
    if (endpoints === null) {
      console.error({ message: "the description of OIDC_ISSUER is of another issuer, or lacks an address" });
      return DOWN;
    }
    this.#known = { endpoints, at: now() };
    return ok(endpoints);
  }
}

const DOWN = fail("login_provider_unavailable");
const REFUSED = fail("invalid_token", { message: "The identity provider did not confirm the sign-in." });

/** Null if the description is not of this issuer, or lacks an address. */
function endpointsOf(described: unknown, { issuer, clientId, userClaim }: OpenIdSettings): Endpoints | null {
  const all = Object(described) as Record<string, unknown>;
  const [authorize, token, jwksUrl] = ["authorization_endpoint", "token_endpoint", "jwks_uri"].map((name) =>
    typeof all[name] === "string" ? safeUrl(all[name]) : null,
  );
  if (all.issuer !== issuer || !authorize || !token || !jwksUrl) return null;
  const methods = all.token_endpoint_auth_methods_supported;
  return {
    authorize,
    token,
    // Basic is the default, and the better: few servers log a header.
    secretInBody: Array.isArray(methods) && !methods.includes("client_secret_basic"),
    logins: new Logins({ jwksUrl, issuer, audience: [clientId], userClaim, scopes: [], shared: [] }),
  };
}

/** The JSON of an answer. No log has the request or the whole answer: both have secrets. */
async function jsonFrom(url: URL, init: RequestInit): Promise<Result<unknown>> {
  try {
    const read = async () => {
      // A redirect would send the secret to another address.
      const response = await fetch(url.href, { ...init, redirect: "manual" });
      const text = await textOf(response, MOST_BYTES);
      return { status: response.status, text };
    };
    const { status, text } = await withDeadline(read(), WITHIN_MS);
    if (status === 200 && text !== null) return ok(JSON.parse(text) as unknown);
    const error = errorOf(text);
    console.error({
      message:
        "the identity provider answered with an error: see OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET",
      at: url.origin + url.pathname,
      status,
      error,
    });
    // Another sign-in fares no better while Cairn itself is refused.
    return status === 400 && error === "invalid_grant" ? REFUSED : DOWN;
  } catch (error) {
    console.error({
      message: "the identity provider of OIDC_ISSUER could not be asked",
      error: error instanceof Error ? error.name : "unknown",
    });
    return DOWN;
  }
}

/** The code of an error (RFC 6749, section 5.2), if it is one. */
function errorOf(text: string | null): string | null {
  try {
    const { error } = Object(JSON.parse(text ?? "")) as { error?: unknown };
    return typeof error === "string" && /^\w{1,64}$/.test(error) ? error : null;
  } catch {
    return null;
  }
}

/** RFC 6749, section 2.3.1: the two parts are encoded like a form. */
const formEncoded = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");
const secret = (): string => crypto.randomUUID().replaceAll("-", "");
