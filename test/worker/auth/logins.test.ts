import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { call, newUser, token } from "../../call.ts";
import { clock } from "../../doubles/control.ts";

const ISSUER = "https://login.example.com/";
const settings = {
  JWT_JWKS_URL: "https://login.example.com/keys",
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: "cairn, another-app",
};
type Key = { kid: string; alg: string; pair: CryptoKeyPair };

async function newKey(kid: string, alg = "ES256"): Promise<Key> {
  return { kid, alg, pair: await generateKeyPair(alg, { extractable: true }) };
}

/** The provider's answer about its keys. */
let provider: () => Promise<Response>;
let asked = 0;

const publishes = (...keys: Key[]): void => {
  provider = async () =>
    Response.json({
      keys: await Promise.all(
        keys.map(async ({ kid, alg, pair }) => ({
          ...(await exportJWK(pair.publicKey)),
          kid,
          alg,
          use: "sig",
        })),
      ),
    });
};

const first = await newKey("first");

/** The JWT library, which makes and checks logins, knows no other clock than `Date`. */
const at = (time: number) => vi.useFakeTimers({ now: time, toFake: ["Date"] });
let begun = 0;
beforeEach(() => {
  begun = clock();
  at(begun);
  asked = 0;
  publishes(first);
  vi.stubGlobal("fetch", async (url: string) => {
    asked++;
    return url === settings.JWT_JWKS_URL ? provider() : Promise.reject(new TypeError(`no such host: ${url}`));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const login = (claims: object = {}, { kid, alg, pair }: Key = first, named = true): Promise<string> =>
  new SignJWT({ iss: ISSUER, aud: "cairn", sub: "alice", ...claims })
    .setProtectedHeader({ alg, ...(named && { kid }) })
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(pair.privateKey);

/** One deployment: what it fetched once it keeps. */
function deployment(more: object = {}) {
  const app = createApp();
  const bindings = { ...env, ...settings, ...more };
  return async (bearer: string, path = "/v1/users/alice/kv", init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" };
    const answer = await app.request(path, { ...init, headers }, bindings);
    const { error } = await answer
      .json<{ error?: { code: string; message: string } }>()
      .catch(() => ({ error: undefined }));
    return { status: answer.status, code: error?.code, message: error?.message };
  };
}

it("lets a login of the provider reach its own user's memory, to read and to write, and nothing else", async () => {
  const ask = deployment();
  const user = newUser();
  const bearer = await login({ sub: user });
  const placeOf = (of: string) => `/v1/users/${encodeURIComponent(of)}/kv/k`;
  expect((await ask(bearer, placeOf(user), { method: "PUT", body: "1" })).status).toBe(200);
  expect((await ask(bearer, placeOf(user))).status).toBe(200);
  expect((await ask(bearer, placeOf(newUser()))).status).toBe(404);
  for (const path of ["/v1/threads", "/v1/audit", "/v1/revocations", "/v1/reindex", "/v1/cache/k"])
    expect((await ask(bearer, path)).code).toBe("forbidden");
  // It is the user whom the tenant's own tokens name so.
  expect((await call(placeOf(user), { token: await token(user) })).body).toBe(1);
});

it("still takes the tenant's own tokens", async () => {
  expect((await deployment()(await token("alice"))).status).toBe(200);
  expect(asked).toBe(0);
});

it.each(["RS256", "PS256", "ES256", "ES384", "EdDSA"])(
  "takes a login that is signed with %s",
  async (alg) => {
    const key = await newKey("a-key", alg);
    publishes(key);
    expect((await deployment()(await login({}, key))).status).toBe(200);
  },
);

it("maps the claim that JWT_USER_CLAIM names, and gives what JWT_SCOPE and JWT_SHARED list", async () => {
  const user = newUser();
  const ask = deployment({
    JWT_USER_CLAIM: "https://app.example.com/user",
    JWT_SCOPE: "read cache",
    JWT_SHARED: "shared:team",
  });
  const bearer = await login({ "https://app.example.com/user": user });
  expect((await ask(bearer, `/v1/users/${user}/kv`)).status).toBe(200);
  expect((await ask(bearer, "/v1/users/alice/kv")).status).toBe(404);
  expect((await ask(bearer, "/v1/users/shared:team/kv")).status).toBe(200);
  expect((await ask(bearer, "/v1/cache/none")).code).toBe("not_found");
  expect((await ask(bearer, `/v1/users/${user}/kv/k`, { method: "PUT", body: "1" })).code).toBe("forbidden");
  expect((await ask(await login({}))).code).toBe("invalid_token");
});

it("takes an `email` for the user only if the provider has verified it", async () => {
  const email = `${newUser()}@example.com`;
  const ask = deployment({ JWT_USER_CLAIM: "email" });
  const path = `/v1/users/${encodeURIComponent(email)}/kv`;
  expect((await ask(await login({ email, email_verified: true }), path)).status).toBe(200);
  for (const email_verified of [false, undefined, "true"]) {
    const { code, message } = await ask(await login({ email, email_verified }), path);
    expect([code, message]).toEqual(["invalid_token", expect.stringContaining("email_verified")]);
  }
});

it.each(["*", "", ".", "shared:team", "x".repeat(257), "\ud800", 7, ["alice"], null])(
  "refuses a login whose user claim is %j",
  async (sub) => {
    const { code, message } = await deployment({ JWT_USER_CLAIM: "who" })(await login({ who: sub }));
    expect(code).toBe("invalid_token");
    expect(message).toContain("JWT_USER_CLAIM");
  },
);

it("gives a login nothing for what it says of scopes, of shared owners and of threads", async () => {
  const ask = deployment();
  const bearer = await login({ scope: "read write admin cache", shared: ["shared:team"], sub: "alice" });
  expect((await ask(bearer, "/v1/threads")).code).toBe("forbidden");
  expect((await ask(bearer, "/v1/users/shared:team/kv")).code).toBe("not_found");
});

describe("refuses", () => {
  it.each([
    ["another audience", "`aud`", { aud: "a-third-app" }],
    ["no audience", "`aud`", { aud: undefined }],
    ["no user", "`sub`", { sub: undefined }],
  ])("a login with %s, and names the claim", async (_, named, claims) => {
    const { code, message } = await deployment()(await login(claims));
    expect(code).toBe("invalid_token");
    expect(message).toContain(named);
    const forged = await deployment()(await login(claims, await newKey("first")));
    expect(forged.message).not.toContain(named);
  });

  it("a login with another issuer, which is then taken for one of the tenant's own", async () => {
    const bearer = await login({ iss: "https://evil.example.com/" });
    expect((await deployment()(bearer)).code).toBe("invalid_token");
    expect(asked).toBe(0);
  });

  it("a login that has expired, or whose time has not come, and one without an end", async () => {
    const now = Math.floor(begun / 1000);
    const signed = (claims: object) =>
      new SignJWT({ iss: ISSUER, aud: "cairn", sub: "alice", ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "first" })
        .sign(first.pair.privateKey);
    const ask = deployment();
    expect((await ask(await signed({ exp: now - 31 }))).code).toBe("token_expired");
    expect((await ask(await signed({ exp: now + 60, nbf: now + 40 }))).code).toBe("token_not_yet_valid");
    expect((await ask(await signed({ exp: now + 60, iat: now + 40 }))).code).toBe("token_not_yet_valid");
    expect((await ask(await signed({}))).message).toContain("`exp` is missing");
    // In milliseconds.
    expect((await ask(await signed({ exp: (now + 60) * 1000 }))).message).toContain("in seconds");
    expect((await ask(await signed({ exp: now - 20 }))).status).toBe(200);
  });

  it("a login that is not signed, or with a key that the provider does not publish", async () => {
    const ask = deployment();
    const unsigned = new UnsecuredJWT({ iss: ISSUER, aud: "cairn", sub: "alice" }).setExpirationTime("5m");
    expect((await ask(unsigned.encode())).code).toBe("invalid_token");
    expect((await ask(await login({}, { ...(await newKey("first")) }))).code).toBe("invalid_token");
    expect((await ask(await login({}, await newKey("unknown")))).code).toBe("invalid_token");
  });

  it("the provider's name over the tenant's secret, its public key or its key set as a secret", async () => {
    const ask = deployment();
    const jwk = JSON.stringify(await exportJWK(first.pair.publicKey));
    for (const secret of [env.CAIRN_SECRET, jwk, await (await provider()).text()])
      for (const kid of ["first", undefined]) {
        const forged = await new SignJWT({ iss: ISSUER, aud: "cairn", sub: "alice", scope: "read" })
          .setProtectedHeader({ alg: "HS256", ...(kid && { kid }) })
          .setExpirationTime("5m")
          .sign(new TextEncoder().encode(secret));
        expect((await ask(forged)).code).toBe("invalid_token");
      }
  });
});

describe("the provider's keys", () => {
  it("are fetched once, and again when a login names one that is new, but not for every one that is unknown", async () => {
    const ask = deployment();
    for (let i = 0; i < 3; i++) expect((await ask(await login({ sub: "alice", n: i }))).status).toBe(200);
    expect(asked).toBe(1);
    const second = await newKey("second");
    publishes(first, second);
    // Within 30 seconds of the last fetch none is made.
    expect((await ask(await login({}, second))).code).toBe("invalid_token");
    expect(asked).toBe(1);
    at(begun + 31_000);
    expect((await ask(await login({ n: "late" }, second))).status).toBe(200);
    expect(asked).toBe(2);
    for (let i = 0; i < 3; i++) await ask(await login({ n: i }, await newKey(`unknown-${i}`)));
    expect(asked).toBe(2);
  });

  it("are all tried for a login that names none", async () => {
    const second = await newKey("second");
    publishes(second, first);
    const ask = deployment();
    expect((await ask(await login({}, first, false))).status).toBe(200);
    expect((await ask(await login({}, second, false))).status).toBe(200);
    expect((await ask(await login({}, await newKey("third"), false))).code).toBe("invalid_token");
  });

  it.each([
    ["does not answer", () => Promise.reject(new TypeError("network"))],
    ["answers 500", async () => new Response("oops", { status: 500 })],
    ["answers no JSON", async () => new Response("<html>")],
    ["answers no keys", async () => Response.json({ keys: "none" })],
    ["sends elsewhere", async () => Response.redirect("https://evil.example.com/keys")],
  ])("are not to be had while the provider %s: 503, and 200 when it is back", async (_, down) => {
    const ask = deployment();
    provider = down;
    const bearer = await login();
    expect(await ask(bearer)).toMatchObject({ status: 503, code: "login_keys_unavailable" });
    // Who has a token of the tenant's own is not concerned.
    expect((await ask(await token("alice"))).status).toBe(200);
    publishes(first);
    // Nobody waits for a provider that has just failed.
    expect((await ask(bearer)).code).toBe("login_keys_unavailable");
    expect(asked).toBe(1);
    at(begun + 5_001);
    expect((await ask(bearer)).status).toBe(200);
  });

  it("are kept while the provider is down, for an hour, and it is asked once in 5 seconds", async () => {
    const ask = deployment();
    expect((await ask(await login())).status).toBe(200);
    provider = () => Promise.reject(new TypeError("network"));
    at(begun + 601_000);
    for (let i = 0; i < 3; i++) expect((await ask(await login({ n: i }))).status).toBe(200);
    expect(asked).toBe(2);
    // Nothing is known of an unknown key: it may be a new one.
    const fresh = await newKey("fresh");
    expect((await ask(await login({}, fresh))).code).toBe("login_keys_unavailable");
    expect((await ask(await login({}, { ...(await newKey("first")) }))).code).toBe("invalid_token");
    at(begun + 3_590_000);
    expect((await ask(await login())).status).toBe(200);
    at(begun + 3_601_000);
    expect((await ask(await login())).code).toBe("login_keys_unavailable");
    publishes(fresh);
    at(begun + 3_607_000);
    expect((await ask(await login({}, fresh))).status).toBe(200);
    expect((await ask(await login())).code).toBe("invalid_token");
  });
});

it("takes back a login by its jti, as any token", async () => {
  const jti = `login-${crypto.randomUUID()}`;
  await call(`/v1/revocations/tokens/${jti}`, { method: "PUT", json: {} });
  expect((await deployment()(await login({ jti }))).code).toBe("token_revoked");
});

describe("set up wrong", () => {
  it.each([
    ["the address of the keys", { JWT_JWKS_URL: "" }, "JWT_JWKS_URL must be set"],
    [
      "the issuer and the audience",
      { JWT_ISSUER: "", JWT_AUDIENCE: " ," },
      "JWT_ISSUER and JWT_AUDIENCE must",
    ],
    ["an address that is one", { JWT_JWKS_URL: "login.example.com/keys" }, "not an https URL"],
    ["an address that is safe", { JWT_JWKS_URL: "http://login.example.com/keys" }, "not an https URL"],
    ["scopes that there are", { JWT_SCOPE: "read,everything" }, "JWT_SCOPE"],
    ["ids of shared owners", { JWT_SHARED: "team" }, "JWT_SHARED"],
  ])("without %s, no login passes, and /health says why", async (_, wrong, problem) => {
    const health = await createApp().request("/health", {}, { ...env, ...settings, ...wrong });
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      status: "degraded",
      problems: [expect.stringContaining(problem)],
    });
    const ask = deployment(wrong);
    expect((await ask(await login())).code).toBe("invalid_token");
    expect((await ask(await token("alice"))).status).toBe(200);
  });

  it("is nothing where a provider on the machine itself is asked without https", async () => {
    const local = { ...settings, JWT_JWKS_URL: "http://localhost:9000/keys" };
    const health = await createApp().request("/health", {}, { ...env, ...local });
    expect(await health.json()).toMatchObject({ status: "ok" });
  });
});
