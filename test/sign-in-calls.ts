import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { sha256Base64url } from "../src/domain/hash.ts";
import { createApp } from "../src/worker/app.ts";
import { token } from "./call.ts";

export const ORIGIN = "https://cairn.test";
export const ISSUER = "https://login.example.com";
/** The settings of a deployment with an identity provider, and of one without. */
export const WITH_PROVIDER = {
  OIDC_ISSUER: ISSUER,
  OIDC_CLIENT_ID: "cairn",
  OIDC_CLIENT_SECRET: "the secret of the tests at the provider",
};
export const WITH_CODES = { SIGN_IN: "codes" };

type Form = Record<string, string | string[]>;
type Init = { method?: string; form?: Form; json?: unknown; headers?: Record<string, string> };
// Answers of every shape are read here.
// oxlint-disable-next-line typescript/no-explicit-any
type Answered = { status: number; headers: Headers; text: string; body: any; location: URL | null };

/** One deployment, and one browser with its cookies. */
export class Visitor {
  readonly #app = createApp();
  readonly #env: object;
  readonly cookies = new Map<string, string>();

  constructor(more: object = WITH_CODES) {
    this.#env = { ...env, ...more };
  }

  async call(address: string, { method, form, json, headers }: Init = {}): Promise<Answered> {
    const body = json === undefined ? form && formOf(form) : JSON.stringify(json);
    const request = new Request(new URL(address, ORIGIN), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      ...(body !== undefined && { body }),
      headers: {
        ...(json !== undefined && { "Content-Type": "application/json" }),
        ...(form !== undefined && { "Content-Type": "application/x-www-form-urlencoded" }),
        ...(this.cookies.size > 0 && {
          Cookie: Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; "),
        }),
        ...headers,
      },
    });
    const answer = await this.#app.request(request, {}, this.#env);
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await answer.text();
    const location = answer.headers.get("Location");
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: parsed(text),
      location: location === null ? null : new URL(location),
    };
  }

  /** Registers an app, and answers its id. */
  async register(redirect = REDIRECT, more: object = {}): Promise<string> {
    const json = {
      client_name: "An app",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
      ...more,
    };
    const { status, text, body } = await this.call("/oauth/register", { json });
    if (status !== 201) throw new Error(`registration: ${status} ${text}`);
    return body.client_id;
  }

  /** Opens the page on which a person allows the app. */
  async open(clientId: string, more: Record<string, string | undefined> = {}) {
    const address = await authorizeAddress(clientId, more);
    const page = await this.call(address);
    return { address, page, handle: /name="handle" value="([^"]+)"/.exec(page.text)?.[1] ?? "" };
  }

  /** Allows the app by a one-time code. */
  async allow(clientId: string, code: string, more: Form = {}): Promise<Answered> {
    const { address, handle } = await this.open(clientId);
    const form = { handle, decision: "allow", scope: ["read", "write"], code, ...more };
    return this.call(address, { form });
  }

  codeFor = async (user: string): Promise<string> =>
    (
      await this.call(`/v1/users/${user}/sign-in-codes`, {
        json: {},
        headers: { Authorization: `Bearer ${await token("*")}` },
      })
    ).body.code;

  exchange(clientId: string, code: string, more: Form = {}): Promise<Answered> {
    const form = {
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      resource: `${ORIGIN}/mcp`,
      ...more,
    };
    return this.call("/oauth/token", { form });
  }

  refresh(clientId: string, refreshToken: string): Promise<Answered> {
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    return this.call("/oauth/token", { form });
  }

  /** A whole sign-in by a code. */
  async signIn(user: string, clientId?: string) {
    const id = clientId ?? (await this.register());
    const { location } = await this.allow(id, await this.codeFor(user));
    const { body } = await this.exchange(id, location?.searchParams.get("code") ?? "");
    return { clientId: id, access: String(body.access_token), refresh: String(body.refresh_token) };
  }

  /** Calls a tool with an access token. */
  mcp(access: string, name = "memory_list", given: object = {}, origin = ORIGIN): Promise<Answered> {
    return this.call(`${origin}/mcp`, {
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
      headers: {
        ...(access !== "" && { Authorization: `Bearer ${access}` }),
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
      },
    });
  }
}

export const REDIRECT = "https://app.example/callback";
export const VERIFIER = "a verifier of the tests that is forty-three characters long";

/** The address that an app opens in the person's browser. */
export async function authorizeAddress(
  clientId: string,
  more: Record<string, string | undefined> = {},
): Promise<string> {
  const given: Record<string, string | undefined> = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    scope: "read write",
    state: "the app's state",
    code_challenge: await sha256Base64url(VERIFIER),
    code_challenge_method: "S256",
    resource: `${ORIGIN}/mcp`,
    ...more,
  };
  const query = new URLSearchParams(
    Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined),
  );
  return `/oauth/authorize?${query.toString()}`;
}

function formOf(form: Form): string {
  const fields = new URLSearchParams();
  for (const [name, values] of Object.entries(form))
    for (const value of [values].flat()) fields.append(name, value);
  return fields.toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An OpenID provider, as `fetch` reaches it. */
export class ProviderDouble {
  readonly #key: Promise<CryptoKeyPair> = generateKeyPair("ES256", { extractable: true });
  readonly #codes = new Map<string, { claims: object; challenge: string }>();
  down = false;
  asked: string[] = [];
  /** The last request for a token. */
  form = new URLSearchParams();
  authorization: string | null = null;
  /** The answers of paths that fail. */
  failures = new Map<string, Response>();
  /** What the description says otherwise. */
  described: object = {};

  /** The person signs in at the address to which Cairn sent the browser: the address to which the provider sends it back. */
  signsIn(at: URL, claims: object): string {
    const code = crypto.randomUUID();
    const nonce = at.searchParams.get("nonce");
    this.#codes.set(code, {
      claims: { nonce, ...claims },
      challenge: at.searchParams.get("code_challenge") ?? "",
    });
    const back = new URL(at.searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", at.searchParams.get("state") ?? "");
    return back.href;
  }

  fetch = async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = address instanceof Request ? address.url : String(address);
    this.asked.push(url);
    if (this.down) throw new TypeError("network");
    const failure = this.failures.get(new URL(url).pathname);
    if (failure !== undefined) return failure;
    switch (url) {
      case `${ISSUER}/.well-known/openid-configuration`:
        return Response.json({
          issuer: ISSUER,
          authorization_endpoint: `${ISSUER}/authorize`,
          token_endpoint: `${ISSUER}/token`,
          jwks_uri: `${ISSUER}/keys`,
          ...this.described,
        });
      case `${ISSUER}/keys`: {
        const { publicKey } = await this.#key;
        return Response.json({ keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] });
      }
      case `${ISSUER}/token`:
        return this.#token(init);
      default:
        throw new TypeError(`no such host: ${url}`);
    }
  };

  async #token({ body, headers }: RequestInit): Promise<Response> {
    this.form = new URLSearchParams(typeof body === "string" ? body : "");
    this.authorization = new Headers(headers).get("Authorization");
    const known = this.#codes.get(this.form.get("code") ?? "");
    const challenge = await sha256Base64url(this.form.get("code_verifier") ?? "");
    if (known === undefined || known.challenge !== challenge)
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    const signed = new SignJWT({ iss: ISSUER, aud: "cairn", ...known.claims })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuedAt()
      .setExpirationTime("5m");
    const idToken = await signed.sign((await this.#key).privateKey);
    return Response.json({ access_token: "unused", token_type: "Bearer", id_token: idToken });
  }
}
