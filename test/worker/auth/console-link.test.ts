// The code of a link to the console, and the token that it is exchanged for.
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { afterEach, expect, it } from "vitest";
import { CODE_AUDIENCES, CODE_MS, mintConsoleCode } from "../../../src/domain/console-link.ts";
import { signToken } from "../../../src/domain/token.ts";
import { createApp } from "../../../src/worker/app.ts";
import { call, newUser, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const codeFor = (user: string, secret = env.CAIRN_SECRET): Promise<string> =>
  mintConsoleCode(secret, { user, scope: ["read", "write"] }, clock());
const redeem = (code: unknown) => call("/console/session", { json: { code }, token: null });
const errorOf = async (code: unknown): Promise<string> => (await redeem(code)).body.error.code;

it("exchanges a code for a token of its user and scopes, which no cache keeps", async () => {
  const user = newUser();
  const { status, body, headers } = await redeem(await codeFor(user));
  expect([status, headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  const { sub, scope, exp = 0, iat = 0 } = decodeJwt(body.token);
  expect({ sub, scope, hours: (exp - iat) / 3600 }).toEqual({ sub: user, scope: "read write", hours: 24 });
  expect((await call(`/v1/users/${user}/kv`, { token: body.token })).status).toBe(200);
  expect((await call(`/v1/users/${newUser()}/kv`, { token: body.token })).status).toBe(404);
});

it("takes a code once, and of calls at the same moment one", async () => {
  const code = await codeFor(newUser());
  const answers = await Promise.all([redeem(code), redeem(code), redeem(code)]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410]);
  const { status, body } = await redeem(code);
  expect([status, body.error.code]).toEqual([410, "link_spent"]);
  expect(body.error.message).toContain("npm run token -- --link");
});

it("takes no code that is older than ten minutes", async () => {
  const code = await codeFor(newUser());
  control.clockAhead = CODE_MS + 31_000;
  expect(await errorOf(code)).toBe("link_spent");
});

it("takes no code that was minted before all tokens were revoked", async () => {
  const code = await codeFor(newUser());
  control.clockAhead = 5_000;
  const floor = "/v1/revocations/min-issued-at";
  expect((await call(floor, { method: "PUT", json: { minIssuedAt: clock() } })).status).toBe(200);
  try {
    expect(await errorOf(code)).toBe("link_spent");
  } finally {
    control.clockAhead = 10_000;
    await call(floor, { method: "DELETE" });
  }
});

it("takes neither a token for a code, nor a code for a token, nor a code of another secret", async () => {
  const user = newUser();
  expect(await errorOf(await token(user))).toBe("invalid_token");
  expect(await errorOf(await codeFor(user, "a secret of somebody else, of 32 bytes"))).toBe("invalid_token");
  expect(await errorOf("nonsense")).toBe("invalid_token");
  expect(await errorOf(1)).toBe("invalid_request");
  const { status, body } = await call(`/v1/users/${user}/kv`, { token: await codeFor(user) });
  expect([status, body.error.code]).toEqual([401, "invalid_token"]);
  const long = await call("/console/session", { json: { code: "x".repeat(9_000) }, token: null });
  expect(long.status).toBe(413);
});

it("counts the calls of an address", async () => {
  const asked: string[] = [];
  const counter = { limit: async ({ key }: { key: string }) => ({ success: asked.push(key) <= 1 }) };
  const post = async () =>
    createApp().request(
      "/console/session",
      {
        method: "POST",
        body: JSON.stringify({ code: "nonsense" }),
        headers: { "Content-Type": "application/json", "CF-Connecting-IP": "192.0.2.7" },
      },
      { ...env, RATES: "", CALLER_RATE: counter },
    );
  expect([(await post()).status, (await post()).status]).toEqual([401, 429]);
  expect(new Set(asked)).toEqual(new Set(["address:192.0.2.7"]));
});

it.each([
  ["is off", { CONSOLE: "off" }],
  [
    "takes logins only",
    {
      CONSOLE: "logins",
      JWT_JWKS_URL: "https://login.example/keys",
      JWT_ISSUER: "https://login.example",
      JWT_AUDIENCE: "cairn",
    },
  ],
])("exchanges nothing where the console %s", async (_, settings) => {
  const answer = await createApp().request(
    "/console/session",
    {
      method: "POST",
      body: JSON.stringify({ code: await codeFor(newUser()) }),
      headers: { "Content-Type": "application/json" },
    },
    { ...env, ...settings },
  );
  expect(answer.status).toBe(404);
});

it("refuses a code for a scope that there is not, and does not spend it", async () => {
  const at = Math.floor(clock() / 1000);
  const claims = {
    aud: CODE_AUDIENCES.console,
    sub: newUser(),
    jti: crypto.randomUUID(),
    iat: at,
    exp: at + 600,
  };
  for (const opens of ["", "nothing", "read everything"]) {
    const code = await signToken(env.CAIRN_SECRET, { ...claims, opens });
    for (let time = 0; time < 2; time++) {
      const { status, body } = await redeem(code);
      expect([status, body.error.code]).toEqual([401, "invalid_token"]);
      expect(body.error.message).toContain("`opens`");
    }
  }
});
