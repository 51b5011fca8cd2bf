// The cookie that keeps the console's session through a reload: who gets one, which calls count by it, and when it is gone.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scope } from "../../../src/domain/token.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import { createApp } from "../../../src/worker/app.ts";
import { bearerFor } from "../../../src/worker/http/console-cookie.ts";
import { type Answer, call, newUser, token, tokenWith } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { realPorts } from "../../doubles/ports.ts";

const LOGINS = {
  CONSOLE: "logins",
  JWT_JWKS_URL: "https://login.example/keys",
  JWT_ISSUER: "https://login.example",
  JWT_AUDIENCE: "cairn",
};
const SESSION = "/console/session";
const [OWN, CROSS] = ["same-origin", "cross-site"];

type Sent = {
  method?: string;
  token?: string;
  site?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};
type Got = { status: number; body: Answer["body"]; cookie: string | null; cache: string | null };

/** A browser that keeps the cookie that it is given, as long as it may. */
class Browser {
  readonly #origin: string;
  readonly #settings: object;
  cookie: string | null = null;
  /** What stands for the token of the last sign-in. */
  bearer = "cookie.none";

  constructor(settings: object = { CONSOLE_COOKIE: "on" }, origin = "https://cairn.test") {
    [this.#settings, this.#origin] = [settings, origin];
  }

  async call(
    path: string,
    { method = "GET", token: bearer, site = OWN, body, headers }: Sent = {},
  ): Promise<Got> {
    const answer = await createApp(realPorts).request(
      this.#origin + path,
      {
        method,
        headers: {
          ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
          ...(site !== null && { "Sec-Fetch-Site": site }),
          ...(this.cookie !== null && { Cookie: this.cookie }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      { ...env, ...this.#settings },
    );
    const cookie = answer.headers.get("Set-Cookie");
    if (cookie !== null) this.cookie = cookie.includes("Max-Age=0") ? null : (cookie.split(";")[0] ?? null);
    const text = await answer.text();
    const cache = answer.headers.get("Cache-Control");
    return { status: answer.status, body: text === "" ? null : JSON.parse(text), cookie, cache };
  }

  async keep(kept: string, sent: Sent = {}): Promise<Got> {
    const got = await this.call(SESSION, { method: "PUT", token: kept, ...sent });
    this.bearer = got.body.session?.bearer ?? this.bearer;
    return got;
  }
  session = async () => (await this.call(SESSION)).body.session;
  /** A call of the page. */
  byCookie = (path: string, sent: Sent = {}) => this.call(path, { token: this.bearer, ...sent });
}

const signedIn = async (user: string, scopes: readonly Scope[] = ["read", "write"]): Promise<Browser> => {
  const browser = new Browser();
  expect((await browser.keep(await token(user, scopes))).status).toBe(200);
  return browser;
};

let user: string;
beforeEach(() => {
  user = newUser();
});
afterEach(restore);

describe("keeps", () => {
  it("a token where no script and no other site's page reaches it, for a day at most", async () => {
    const browser = new Browser();
    const { status, body, cookie, cache } = await browser.keep(await token(user, ["read"]));
    expect([status, cache]).toEqual([200, "no-store"]);
    expect(cookie).toMatch(
      /^__Host-cairn-console=[\w.-]+; Max-Age=86400; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const bearer = expect.stringMatching(/^cookie\.[\w-]{22}$/);
    expect(body.session).toEqual({ bearer, user, scopes: ["read"], expiresAt: expect.any(Number) });
    expect(await browser.session()).toEqual(body.session);
    expect((await browser.byCookie(`/v1/users/${user}/kv`)).status).toBe(200);
  });

  it("a token no longer than it lasts", async () => {
    const { cookie } = await new Browser().keep(await token(user, ["read"], 600));
    const [, seconds] = /Max-Age=(\d+)/.exec(cookie ?? "") ?? [];
    expect(Number(seconds)).toBeLessThanOrEqual(600);
    expect(Number(seconds)).toBeGreaterThan(590);
  });

  it("a token of this machine's server over http, for its port alone", async () => {
    for (const host of ["127.0.0.1", "localhost"]) {
      const browser = new Browser(undefined, `http://${host}:8787`);
      const { cookie } = await browser.keep(await token(user, ["read"]));
      expect(cookie).toMatch(/^cairn-console-8787=\S+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Strict$/);
      expect((await browser.byCookie(`/v1/users/${user}/kv`)).status).toBe(200);
    }
  });

  it.each([
    ["the setting", {}, "https://cairn.test"],
    ["https", { CONSOLE_COOKIE: "on" }, "http://cairn.test"],
    ["the console", { CONSOLE_COOKIE: "on", CONSOLE: "off" }, "https://cairn.test"],
    ["a setting that it knows", { CONSOLE_COOKIE: "yes" }, "https://cairn.test"],
  ])("nothing without %s, and ignores a cookie", async (_, settings, origin) => {
    const browser = new Browser(settings, origin);
    const bearer = await token(user);
    for (const method of ["GET", "PUT", "DELETE"])
      expect((await browser.call(SESSION, { method, token: bearer })).body.error.code).toBe(
        "route_not_found",
      );
    for (const name of ["__Host-cairn-console", "cairn-console-", "cairn-console-80"]) {
      browser.cookie = `${name}=${bearer}`;
      const named = { token: await bearerFor(bearer) };
      expect((await browser.byCookie(`/v1/users/${user}/kv`, named)).body.error.code).toBe("unauthenticated");
    }
    const { status, body } = await browser.call("/console/settings.json");
    expect([status === 404 || body.cookie === undefined]).toEqual([true]);
  });

  it("no token that is forged, expired or too long for a cookie", async () => {
    const browser = new Browser();
    const codeOf = async (bearer: string) => (await browser.keep(bearer)).body.error.code;
    expect(await codeOf("nonsense")).toBe("invalid_token");
    expect(await codeOf("cookie")).toBe("invalid_token");
    expect(await codeOf(browser.bearer)).toBe("invalid_token");
    expect(await codeOf(await token(user, ["read"], -60))).toBe("token_expired");
    const shared = Array.from({ length: 64 }, (_, one) => `shared:${"a".repeat(60)}${one}`);
    expect(await codeOf(await tokenWith({ user, shared }))).toBe("value_too_large");
    expect((await browser.call(SESSION, { method: "PUT" })).body.error.code).toBe("invalid_token");
    expect(browser.cookie).toBeNull();
  });

  it("no token of the tenant where the console takes logins only", async () => {
    const bearer = await token("*");
    const browser = new Browser({ CONSOLE_COOKIE: "on", ...LOGINS });
    expect((await browser.keep(bearer)).body.error).toMatchObject({
      code: "invalid_token",
      message: expect.stringContaining("https://login.example"),
    });
    // One that was kept before the setting.
    browser.cookie = `__Host-cairn-console=${bearer}`;
    expect(await browser.session()).toBeNull();
    expect(browser.cookie).toBeNull();
  });
});

describe("refuses", () => {
  it.each([CROSS, "same-site", "none", null])("a call of another page than its own (%s)", async (site) => {
    const browser = await signedIn(user);
    const remember = { method: "POST", body: { text: "I like tea" }, site };
    const { status, body } = await browser.byCookie(`/v1/users/${user}/memories`, remember);
    expect([status, body.error.code]).toEqual([403, "forbidden"]);
    for (const method of ["GET", "PUT", "DELETE"])
      expect((await browser.call(SESSION, { method, site, token: await token(user) })).status).toBe(403);
    expect(await browser.session()).not.toBeNull();
    const { body: kept } = await call(`/v1/users/${user}/memories`);
    expect(kept.items).toEqual([]);
  });

  it("a call that brings the cookie and does not name it, so that none counts by the cookie alone", async () => {
    const browser = await signedIn(user);
    const remember = { method: "POST", body: { text: "I like tea" } };
    expect((await browser.call(`/v1/users/${user}/memories`, remember)).status).toBe(401);
    expect((await browser.byCookie("/mcp", { method: "POST", body: {} })).status).toBe(401);
  });

  it("pages of CORS_ORIGINS, which call by a token", async () => {
    const settings = { CONSOLE_COOKIE: "on", CORS_ORIGINS: "https://app.example" };
    const browser = new Browser(settings);
    await browser.keep(await token(user));
    const headers = { Origin: "https://app.example" };
    const answer = await browser.byCookie(`/v1/users/${user}/kv`, { site: CROSS, headers });
    expect(answer.status).toBe(403);
    const page = createApp(realPorts).request(
      `https://cairn.test/v1/users/${user}/kv`,
      { headers },
      { ...env, ...settings },
    );
    expect((await page).headers.get("Access-Control-Allow-Credentials")).toBeNull();
  });

  it("a page whose session another tab has replaced, also where that one may do more", async () => {
    const browser = await signedIn(user, ["read"]);
    const reader = browser.bearer;
    await browser.keep(await token("*", ["read", "write", "admin"]));
    const remember = { method: "POST", body: { text: "I like tea" } };
    for (const bearer of [reader, "cookie", "cookie."]) {
      const sent = { ...remember, token: bearer };
      const { status } = await browser.byCookie(`/v1/users/${user}/memories`, sent);
      expect([bearer, status]).toEqual([bearer, 401]);
    }
    const refused = await browser.byCookie(`/v1/users/${user}/kv`, { token: reader });
    expect(refused.body.error.message).toContain("another session");
    expect((await browser.byCookie(`/v1/users/${user}/memories`, remember)).status).toBe(201);
    const { bearer } = await browser.session();
    expect(bearer).toBe(browser.bearer);
  });

  it("what its token may not do", async () => {
    const reader = await signedIn(user, ["read"]);
    const remember = { method: "POST", body: { text: "I like tea" } };
    expect((await reader.byCookie(`/v1/users/${user}/memories`, remember)).status).toBe(403);
    expect((await reader.byCookie(`/v1/users/${newUser()}/kv`)).status).toBe(404);
    expect((await reader.byCookie("/v1/users")).status).toBe(403);
    const admin = await signedIn("*", ["read", "admin"]);
    expect((await admin.byCookie("/v1/users")).status).toBe(200);
    expect((await admin.byCookie(`/v1/users/${user}/memories`, remember)).status).toBe(403);
  });

  it("a cookie that another host of the site set under its plain name", async () => {
    const browser = new Browser();
    browser.cookie = `cairn-console-=${await token(user)}; cairn-console=${await token(user)}`;
    expect(await browser.session()).toBeNull();
  });
});

describe("ends", () => {
  it("with the token, and takes the cookie away", async () => {
    const browser = new Browser();
    await browser.keep(await token(user, ["read"], 600));
    control.clockAhead = 700_000;
    expect((await browser.byCookie(`/v1/users/${user}/kv`)).body.error.code).toBe("token_expired");
    expect(await browser.session()).toBeNull();
    expect(browser.cookie).toBeNull();
  });

  it("with the token's revocation", async () => {
    const jti = crypto.randomUUID();
    const browser = new Browser();
    await browser.keep(await tokenWith({ user, jti } as Parameters<typeof tokenWith>[0]));
    expect((await call(`/v1/revocations/tokens/${jti}`, { method: "PUT", json: {} })).status).toBeLessThan(
      300,
    );
    control.clockAhead = 31_000;
    expect((await browser.byCookie(`/v1/users/${user}/kv`)).body.error.code).toBe("token_revoked");
    expect(await browser.session()).toBeNull();
  });

  it("with the sign-out", async () => {
    const browser = await signedIn(user);
    const { status, cookie } = await browser.call(SESSION, { method: "DELETE" });
    expect(status).toBe(204);
    expect(cookie).toMatch(/^__Host-cairn-console=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    expect(await browser.session()).toBeNull();
    expect((await browser.byCookie(`/v1/users/${user}/kv`)).status).toBe(401);
  });

  it("not while the list of revoked tokens cannot be read", async () => {
    const browser = await signedIn(user);
    const down = realPorts(env);
    const answer = await createApp(() => ({
      ...down,
      revocations: { list: () => Promise.reject(new Error("D1 is away")) } as unknown as Ports["revocations"],
    })).request(
      `https://cairn.test${SESSION}`,
      { headers: { "Sec-Fetch-Site": OWN ?? "", Cookie: browser.cookie ?? "" } },
      { ...env, CONSOLE_COOKIE: "on" },
    );
    expect([answer.status, answer.headers.get("Set-Cookie")]).toEqual([503, null]);
  });
});

it("is in the audit log by the token's id, and a refused call counts as a refused token", async () => {
  const from = clock();
  const jti = crypto.randomUUID();
  const browser = new Browser();
  await browser.keep(await tokenWith({ user, jti } as Parameters<typeof tokenWith>[0]));
  await browser.byCookie(`/v1/users/${user}/kv/nothing`, { method: "DELETE" });
  await browser.byCookie(`/v1/users/${user}/kv`, { site: CROSS });
  const events = async () =>
    (await call(`/v1/audit?from=${from}&limit=1000`)).body.items as {
      tokenId?: string;
      outcome: string;
      action: string;
    }[];
  await expect.poll(async () => (await events()).filter(({ tokenId }) => tokenId === jti).length).toBe(1);
  await expect
    .poll(async () =>
      (await events()).some(({ action, outcome }) => action === "token.refused" && outcome === "forbidden"),
    )
    .toBe(true);
});

it("says in /health which setting is wrong", async () => {
  const { body } = await new Browser({ CONSOLE_COOKIE: "yes" }).call("/health");
  expect(body.problems.join()).toContain("CONSOLE_COOKIE is yes");
});
