// Sign-in for MCP: the flow of OAuth 2.1 as an app and a person's browser see it.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { limits } from "../../../src/domain/limits.ts";
import { call, newUser, token } from "../../call.ts";
import { clock } from "../../doubles/control.ts";
import {
  authorizeAddress,
  ISSUER,
  ORIGIN,
  ProviderDouble,
  REDIRECT,
  VERIFIER,
  Visitor,
  WITH_CODES,
  WITH_PROVIDER,
} from "../../sign-in-calls.ts";

let provider: ProviderDouble;
let begun = 0;
/** The library knows no other clock than `Date`. */
const at = (time: number) => vi.useFakeTimers({ now: time, toFake: ["Date"] });
beforeEach(() => {
  begun = clock();
  at(begun);
  provider = new ProviderDouble();
  vi.stubGlobal("fetch", provider.fetch);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("an app without a token", () => {
  it("is told where the sign-in is described", async () => {
    const visitor = new Visitor();
    const refused = await visitor.mcp("");
    expect(refused.status).toBe(401);
    const description = `${ORIGIN}/.well-known/oauth-protected-resource/mcp`;
    expect(refused.headers.get("WWW-Authenticate")).toBe(
      `Bearer realm="cairn", resource_metadata="${description}"`,
    );
    expect((await visitor.call(description)).body).toMatchObject({
      resource: `${ORIGIN}/mcp`,
      authorization_servers: [ORIGIN],
      scopes_supported: ["read", "write"],
    });
    expect((await visitor.call("/.well-known/oauth-authorization-server")).body).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/oauth/authorize`,
      token_endpoint: `${ORIGIN}/oauth/token`,
      registration_endpoint: `${ORIGIN}/oauth/register`,
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  it("finds nothing of it where nobody can sign in, and tokens work as ever", async () => {
    const visitor = new Visitor({});
    const refused = await visitor.mcp("");
    expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer realm="cairn"');
    for (const path of [
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-authorization-server",
      "/oauth/authorize",
      "/oauth/callback",
    ])
      expect((await visitor.call(path)).body.error.code).toBe("route_not_found");
    for (const path of ["/oauth/register", "/oauth/token", "/oauth/authorize"])
      expect((await visitor.call(path, { method: "POST" })).body.error.code).toBe("route_not_found");
    expect((await visitor.mcp(await token(newUser()))).status).toBe(200);
  });
});

describe("by a one-time code", () => {
  it("a person lets an app read and write the own memory, and nothing else", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const { access } = await visitor.signIn(user);
    const wrote = await visitor.mcp(access, "memory_remember", { text: "I moved to Lisbon" });
    expect([wrote.status, wrote.text]).toEqual([200, expect.stringContaining("created")]);
    const { body } = await call(`/v1/users/${user}/memories`);
    expect(body.items).toMatchObject([{ text: "I moved to Lisbon", trust: "model" }]);
    // The token is for MCP alone.
    for (const path of [`/v1/users/${user}/memories`, "/v1/audit"]) {
      const refused = await visitor.call(path, { headers: { Authorization: `Bearer ${access}` } });
      expect([refused.status, refused.body.error.code]).toEqual([401, "invalid_token"]);
    }
  });

  it("the page names the app as text, its host and the scopes, and no frame may hold it", async () => {
    const visitor = new Visitor();
    const name = '<script>alert("x")</script>';
    const clientId = await visitor.register(REDIRECT, { client_name: name });
    const { page } = await visitor.open(clientId, { scope: "read" });
    expect(page.status).toBe(200);
    expect(page.text).not.toContain("<script");
    expect(page.text).toContain("&lt;script&gt;");
    expect(page.text).toContain("app.example");
    expect(page.text).toMatch(/value="read" checked/);
    expect(page.text).toMatch(/value="write" +\/?>/);
    expect(page.headers.get("X-Frame-Options")).toBe("DENY");
    expect(page.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    expect(page.headers.get("Set-Cookie")).toMatch(/^__Host-.*Secure.*HttpOnly|^__Host-.*HttpOnly.*Secure/);
  });

  it("an app's name is short, and turns no words around it", async () => {
    const visitor = new Visitor();
    const name = `A\u202e\u0007 name ${"x".repeat(5000)}`;
    const user = newUser();
    const clientId = await visitor.register(REDIRECT, { client_name: name });
    const shown = `A name ${"x".repeat(91)}`;
    expect((await visitor.open(clientId)).page.text).toContain(`Allow ${shown} to use`);
    await visitor.signIn(user, clientId);
    const headers = { Authorization: `Bearer ${await token(user)}` };
    const { body } = await visitor.call(`/v1/users/${user}/sign-ins`, { headers });
    expect(body.items[0].app.name).toBe(shown);
    const nameless = await visitor.register(REDIRECT, { client_name: "\u202e" });
    expect((await visitor.open(nameless)).page.text).toContain(`Allow ${nameless} to use`);
  });

  it("a person allows less than the app asks for", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    const { location } = await visitor.allow(clientId, await visitor.codeFor(newUser()), { scope: ["read"] });
    const { body } = await visitor.exchange(clientId, location?.searchParams.get("code") ?? "");
    expect(body.scope).toBe("read");
    const refused = await visitor.mcp(body.access_token, "memory_remember", { text: "x" });
    expect(refused.text).toContain("forbidden");
  });

  it("a person who denies sends the app away without a code", async () => {
    const visitor = new Visitor();
    const { address, handle } = await visitor.open(await visitor.register());
    const { status, location } = await visitor.call(address, { form: { handle, decision: "deny" } });
    expect([status, location?.origin]).toEqual([302, "https://app.example"]);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      error: "access_denied",
      state: "the app's state",
      iss: ORIGIN,
    });
  });

  it("a wrong or a used code gives another page, and the app keeps its place", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    const code = await visitor.codeFor(newUser());
    expect((await visitor.allow(clientId, code)).status).toBe(302);
    const link = await token("alice");
    for (const wrong of [code, "", "x", link]) {
      const answer = await visitor.allow(clientId, wrong);
      expect([answer.status, answer.location]).toEqual([400, null]);
      expect(answer.text).toContain("This is no code of this Cairn");
      expect(answer.text).toContain('name="handle"');
    }
    const { address, handle } = await visitor.open(clientId);
    const none = await visitor.call(address, { form: { handle, decision: "allow", code: "x" } });
    expect([none.status, none.text]).toEqual([400, expect.stringContaining("Allow one thing at least")]);
  });

  it("codes are handed out by a holder of `admin`, for one person", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const ask = async (bearer: string, whose = user) =>
      (
        await visitor.call(`/v1/users/${whose}/sign-in-codes`, {
          json: {},
          headers: { Authorization: `Bearer ${bearer}` },
        })
      ).body.error?.code;
    expect(await ask(await token("*"))).toBeUndefined();
    expect(await ask(await token(user, ["read", "write"]))).toBe("forbidden");
    expect(await ask(await token(newUser()))).toBe("not_found");
    expect(await ask(await token("*"), "shared:team")).toBe("invalid_request");
    const other = new Visitor(WITH_PROVIDER);
    const refused = await other.call(`/v1/users/${user}/sign-in-codes`, {
      json: {},
      headers: { Authorization: `Bearer ${await token("*")}` },
    });
    expect(refused.body.error.code).toBe("not_configured");
  });

  it("a code gives no scope that its maker lacks", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const codeOf = async (...given: Parameters<typeof token>) =>
      visitor.call(`/v1/users/${user}/sign-in-codes`, {
        json: {},
        headers: { Authorization: `Bearer ${await token(...given)}` },
      });
    for (const whose of ["*", user]) {
      const refused = await codeOf(whose, ["admin"]);
      expect([refused.status, refused.body.error.code]).toEqual([403, "forbidden"]);
      expect(refused.body.error.message).toContain("`read` or `write`");
    }
    const clientId = await visitor.register();
    const readOnly = async () => (await codeOf("*", ["admin", "read"])).body.code;
    const { location } = await visitor.allow(clientId, await readOnly());
    const { body } = await visitor.exchange(clientId, location?.searchParams.get("code") ?? "");
    expect(body.scope).toBe("read");
    const refused = await visitor.mcp(body.access_token, "memory_remember", { text: "x" });
    expect(refused.text).toContain("forbidden");
    const none = await visitor.allow(clientId, await readOnly(), { scope: ["write"] });
    expect([none.status, none.location]).toEqual([400, null]);
    expect(none.text).toContain("This code allows nothing of that");
  });

  it("the code of a link to the console signs nobody in, nor the other way round", async () => {
    const visitor = new Visitor();
    const code = await visitor.codeFor(newUser());
    const { body } = await visitor.call("/console/session", { json: { code } });
    expect(body.error.code).toBe("invalid_token");
  });
});

describe("refused is", () => {
  it("a replayed code, and the sign-in ends with all of its tokens", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    const { location } = await visitor.allow(clientId, await visitor.codeFor(newUser()));
    const code = location?.searchParams.get("code") ?? "";
    const { body } = await visitor.exchange(clientId, code);
    expect((await visitor.exchange(clientId, code)).body.error).toBe("invalid_grant");
    expect((await visitor.mcp(body.access_token)).status).toBe(401);
    expect((await visitor.refresh(clientId, body.refresh_token)).body.error).toBe("invalid_grant");
  });

  it("one of two exchanges of a code at once", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    const { location } = await visitor.allow(clientId, await visitor.codeFor(newUser()));
    const code = location?.searchParams.get("code") ?? "";
    const both = await Promise.all([1, 2, 3, 4].map(() => visitor.exchange(clientId, code)));
    expect(both.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it("another redirect address, without a redirect", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    for (const redirect of [
      "https://evil.example/callback",
      `${REDIRECT}/more`,
      "https://app.example",
      "javascript:alert(1)",
      "",
    ]) {
      const { page } = await visitor.open(clientId, { redirect_uri: redirect });
      expect([redirect, page.status, page.location]).toEqual([redirect, 400, null]);
    }
    const { location } = await visitor.allow(clientId, await visitor.codeFor(newUser()));
    const code = location?.searchParams.get("code") ?? "";
    const other = { redirect_uri: "https://evil.example/callback" };
    expect((await visitor.exchange(clientId, code, other)).body.error).toBe("invalid_grant");
  });

  it("an unknown app, a wrong response type and a wrong resource: a page, and never a redirect", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    for (const [id, more] of [
      ["unknown", {}],
      [clientId, { response_type: "token" }],
      [clientId, { resource: "https://other.example/mcp" }],
      [clientId, { resource: `${ORIGIN}/v1` }],
    ] as const) {
      const { page } = await visitor.open(id, more);
      expect([more, page.status, page.location]).toEqual([more, 400, null]);
    }
  });

  it("plain PKCE, and none", async () => {
    const visitor = new Visitor();
    for (const method of ["none", "client_secret_post"]) {
      const clientId = await visitor.register(REDIRECT, { token_endpoint_auth_method: method });
      for (const more of [
        { code_challenge: VERIFIER, code_challenge_method: "plain" },
        { code_challenge: VERIFIER, code_challenge_method: undefined },
        { code_challenge: undefined, code_challenge_method: undefined },
      ]) {
        const { page } = await visitor.open(clientId, more);
        expect([more, page.status, page.location]).toEqual([more, 400, null]);
      }
    }
    const clientId = await visitor.register();
    const { location } = await visitor.allow(clientId, await visitor.codeFor(newUser()));
    const code = location?.searchParams.get("code") ?? "";
    const wrong = { code_verifier: `another ${VERIFIER}` };
    expect((await visitor.exchange(clientId, code, wrong)).body.error).toBe("invalid_grant");
  });

  it("a token of another resource: the same deployment by another name", async () => {
    const visitor = new Visitor();
    const { access } = await visitor.signIn(newUser());
    expect((await visitor.mcp(access)).status).toBe(200);
    const other = await visitor.mcp(access, "memory_list", {}, "https://other.test");
    expect([other.status, other.body.error.code]).toEqual([401, "invalid_token"]);
    expect(other.headers.get("WWW-Authenticate")).toContain("https://other.test/.well-known/");
  });

  it("a page that was opened in another browser, and one that was used", async () => {
    const [visitor, other] = [new Visitor(), new Visitor()];
    const clientId = await visitor.register();
    const code = await visitor.codeFor(newUser());
    const { address, handle } = await visitor.open(clientId);
    const form = { handle, decision: "allow", scope: "read", code };
    expect((await other.call(address, { form })).status).toBe(400);
    expect((await visitor.call(address, { form })).status).toBe(302);
    expect((await visitor.call(address, { form })).status).toBe(400);
  });

  it("a sign-in over plain http, but on this machine", async () => {
    const visitor = new Visitor();
    for (const [origin, status] of [
      ["http://cairn.test", 404],
      ["http://127.0.0.1:8787", 200],
    ] as const)
      expect((await visitor.call(`${origin}/.well-known/oauth-authorization-server`)).status).toBe(status);
  });

  it("a body that is too large", async () => {
    const visitor = new Visitor();
    const json = { client_name: "x".repeat(20_000), redirect_uris: [REDIRECT] };
    expect((await visitor.call("/oauth/register", { json })).status).toBe(413);
  });
});

describe("an app that describes itself at an address", () => {
  const ADDRESS = "https://app.example/mcp-client.json";
  const describes = (more: object = {}) => ({
    client_id: ADDRESS,
    client_name: "A described app",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    ...more,
  });
  const served = (json: object) =>
    vi.stubGlobal("fetch", async (url: Request | string) =>
      (url instanceof Request ? url.url : url) === ADDRESS
        ? Response.json(json)
        : Promise.reject(new TypeError("no such host")),
    );

  it("needs no registration, and its domain is on the page", async () => {
    served(describes());
    const visitor = new Visitor();
    const { page } = await visitor.open(ADDRESS);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("published by")]);
    const user = newUser();
    const { access } = await visitor.signIn(user, ADDRESS);
    expect((await visitor.mcp(access)).status).toBe(200);
    const { body } = await visitor.call(`/v1/users/${user}/sign-ins`, {
      headers: { Authorization: `Bearer ${await token(user)}` },
    });
    expect(body.items).toMatchObject([
      { app: { id: ADDRESS, name: "A described app", domain: "app.example", redirectHost: "app.example" } },
    ]);
  });

  it("keeps its sign-in while its own host is down", async () => {
    served(describes());
    const visitor = new Visitor();
    const { access, refresh } = await visitor.signIn(newUser(), ADDRESS);
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("network")));
    const answer = await visitor.refresh(ADDRESS, refresh);
    expect([answer.status, answer.body.error]).toEqual([503, "temporarily_unavailable"]);
    expect(answer.headers.get("Retry-After")).toBe("10");
    expect((await visitor.mcp(access)).status).toBe(200);
    served(describes());
    expect((await visitor.refresh(ADDRESS, refresh)).status).toBe(200);
  });

  it("is refused where the description is another app's, or cannot be read", async () => {
    const visitor = new Visitor();
    served(describes({ client_id: "https://evil.example/mcp-client.json" }));
    expect((await visitor.open(ADDRESS)).page.status).toBe(400);
    const unknown = await visitor.open("https://nobody.example/mcp-client.json");
    expect([unknown.page.status, unknown.page.text]).toEqual([
      400,
      expect.stringContaining("could not be read"),
    ]);
  });
});

describe("with an identity provider", () => {
  /** Allows the app, and answers the address at the provider. */
  async function sent(visitor: Visitor, clientId: string) {
    const { address, handle } = await visitor.open(clientId);
    const form = { handle, decision: "allow", scope: ["read", "write"] };
    return visitor.call(address, { form });
  }

  it("the person signs in there after the consent, and Cairn learns the user", async () => {
    const visitor = new Visitor(WITH_PROVIDER);
    const user = newUser();
    const clientId = await visitor.register();
    const { location: there } = await sent(visitor, clientId);
    expect(`${there?.origin}${there?.pathname}`).toBe(`${ISSUER}/authorize`);
    expect(Object.fromEntries(there?.searchParams ?? [])).toMatchObject({
      response_type: "code",
      client_id: "cairn",
      scope: "openid",
      redirect_uri: `${ORIGIN}/oauth/callback`,
      code_challenge_method: "S256",
    });
    const back = await visitor.call(provider.signsIn(there as URL, { sub: user }));
    expect([back.status, back.location?.origin]).toEqual([302, "https://app.example"]);
    // The secret is in a header, and never in an address.
    expect(provider.authorization).toBe(
      `Basic ${btoa(`cairn:${encodeURIComponent(WITH_PROVIDER.OIDC_CLIENT_SECRET).replaceAll("%20", "+")}`)}`,
    );
    expect(provider.form.has("client_secret")).toBe(false);
    const { body } = await visitor.exchange(clientId, back.location?.searchParams.get("code") ?? "");
    await visitor.mcp(body.access_token, "memory_remember", { text: "I moved to Porto" });
    expect((await call(`/v1/users/${user}/memories`)).body.items).toMatchObject([
      { text: "I moved to Porto" },
    ]);
  });

  it("takes the claim of JWT_USER_CLAIM, and the scopes and shared owners of a login", async () => {
    const visitor = new Visitor({
      ...WITH_PROVIDER,
      JWT_USER_CLAIM: "email",
      JWT_SCOPE: "read",
      JWT_SHARED: "shared:team",
    });
    const clientId = await visitor.register();
    const { address, handle, page } = await visitor.open(clientId);
    expect(page.text).not.toContain('value="write"');
    const { location } = await visitor.call(address, { form: { handle, decision: "allow", scope: "read" } });
    expect(location?.searchParams.get("scope")).toBe("openid profile email");
    const user = newUser();
    const back = await visitor.call(
      provider.signsIn(location as URL, { sub: "x", email: user, email_verified: true }),
    );
    const { body } = await visitor.exchange(clientId, back.location?.searchParams.get("code") ?? "");
    expect(body.scope).toBe("read");
    expect(
      (await visitor.mcp(body.access_token, "memory_list", { owner: "shared:team" })).text,
    ).not.toContain("not_found");
    const more = await visitor.open(clientId);
    const asked = { handle: more.handle, decision: "allow", scope: ["read", "write"] };
    expect((await visitor.call(more.address, { form: asked })).status).toBe(400);
  });

  it("sends the secret in the body to one that takes no other way", async () => {
    provider.described = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const visitor = new Visitor(WITH_PROVIDER);
    const { location } = await sent(visitor, await visitor.register());
    await visitor.call(provider.signsIn(location as URL, { sub: newUser() }));
    expect(provider.authorization).toBeNull();
    expect(provider.form.get("client_secret")).toBe(WITH_PROVIDER.OIDC_CLIENT_SECRET);
  });

  it.each([
    ["is down", () => (provider.down = true)],
    ["describes another issuer", () => (provider.described = { issuer: "https://evil.example" })],
    ["has an address without https", () => (provider.described = { token_endpoint: "http://x.example/t" })],
  ])("that %s, new sign-ins are refused with a reason, and old tokens go on", async (_, breaks) => {
    const user = newUser();
    const { access, refresh, clientId } = await new Visitor(WITH_CODES).signIn(user);
    breaks();
    const visitor = new Visitor(WITH_PROVIDER);
    const { page } = await visitor.open(clientId);
    expect([page.status, page.location]).toEqual([503, null]);
    expect(page.text).toContain("identity provider");
    expect(page.headers.get("Retry-After")).toBe("5");
    expect((await visitor.mcp(access)).status).toBe(200);
    expect((await visitor.refresh(clientId, refresh)).status).toBe(200);
  });

  it.each([
    [
      "/token",
      new Response('{"error":"invalid_client","error_description":"a secret"}', { status: 401 }),
      '"status":401,"error":"invalid_client"',
    ],
    ["/token", new Response("<html>", { status: 404 }), '"status":404,"error":null'],
    ["/keys", new Response("", { status: 404 }), `"at":"${ISSUER}/keys"`],
  ])(
    "that refuses Cairn at %s, tells the app to come again, and the log has why",
    async (path, failure, why) => {
      const lines: unknown[] = [];
      const log = vi.spyOn(console, "error").mockImplementation((...given) => void lines.push(...given));
      const visitor = new Visitor(WITH_PROVIDER);
      const { location } = await sent(visitor, await visitor.register());
      provider.failures.set(path, failure);
      const back = await visitor.call(provider.signsIn(location as URL, { sub: newUser() }));
      expect(back.location?.searchParams.get("error")).toBe("temporarily_unavailable");
      expect(back.location?.searchParams.get("error_description")).toContain("identity provider");
      const logged = JSON.stringify(lines);
      expect(logged).toContain(why);
      for (const secret of ["a secret", WITH_PROVIDER.OIDC_CLIENT_SECRET])
        expect(logged).not.toContain(secret);
      log.mockRestore();
    },
  );

  it("at a wrong OIDC_ISSUER, the log has the address and its status", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    provider.failures.set("/.well-known/openid-configuration", new Response("", { status: 404 }));
    const visitor = new Visitor(WITH_PROVIDER);
    expect((await visitor.open(await visitor.register())).page.status).toBe(503);
    expect(log.mock.calls.flat()).toContainEqual({
      message: expect.stringContaining("OIDC_ISSUER"),
      at: `${ISSUER}/.well-known/openid-configuration`,
      status: 404,
      error: null,
    });
    log.mockRestore();
  });

  it("one that fails while the person is there tells the app", async () => {
    const visitor = new Visitor(WITH_PROVIDER);
    const clientId = await visitor.register();
    const first = await sent(visitor, clientId);
    const back = provider.signsIn(first.location as URL, { sub: newUser() });
    provider.down = true;
    const told = await visitor.call(back);
    expect(told.location?.searchParams.get("error")).toBe("temporarily_unavailable");
    provider.down = false;
    const second = await sent(visitor, clientId);
    const state = second.location?.searchParams.get("state") ?? "";
    const denied = await visitor.call(`/oauth/callback?error=access_denied&state=${state}`);
    expect(denied.location?.searchParams.get("error")).toBe("access_denied");
  });

  it.each([
    ["another audience", { aud: "another-app" }],
    ["another visit", { nonce: "another" }],
    ["no user", { sub: undefined }],
    ["all users", { sub: "*" }],
    ["a shared owner", { sub: "shared:team" }],
    ["an address that nobody verified", { email: "alice@example.com", email_verified: false }, "email"],
    ["an address of which it says nothing", { email: "alice@example.com" }, "email"],
  ])("a token of %s signs nobody in", async (_, claims, claim = "sub") => {
    const visitor = new Visitor({ ...WITH_PROVIDER, JWT_USER_CLAIM: claim });
    const { location } = await sent(visitor, await visitor.register());
    const back = await visitor.call(provider.signsIn(location as URL, { sub: newUser(), ...claims }));
    expect(back.location?.searchParams.get("error")).toBe("access_denied");
    expect(back.location?.searchParams.get("code")).toBeNull();
  });

  it("a state of another browser, or one that was used, goes nowhere", async () => {
    const [visitor, other] = [new Visitor(WITH_PROVIDER), new Visitor(WITH_PROVIDER)];
    const { location } = await sent(visitor, await visitor.register());
    const back = provider.signsIn(location as URL, { sub: newUser() });
    for (const [who, status] of [
      [other, 400],
      [visitor, 302],
      [visitor, 400],
    ] as const)
      expect((await who.call(back)).status).toBe(status);
    expect((await visitor.call("/oauth/callback?code=x&state=unknown")).location).toBeNull();
  });
});

describe("a sign-in", () => {
  it("goes on by its refresh token, after which the token before it ends", async () => {
    const visitor = new Visitor();
    const { clientId, access, refresh } = await visitor.signIn(newUser());
    at(begun + 3_601_000);
    expect((await visitor.mcp(access)).status).toBe(401);
    const { body } = await visitor.refresh(clientId, refresh);
    expect((await visitor.mcp(body.access_token)).status).toBe(200);
    expect((await visitor.refresh(clientId, body.refresh_token)).status).toBe(200);
    expect((await visitor.refresh(clientId, refresh)).body.error).toBe("invalid_grant");
    expect((await visitor.refresh(await visitor.register(), body.refresh_token)).body.error).toBe(
      "invalid_grant",
    );
  });

  it("ends after 30 days, as the page says", async () => {
    const visitor = new Visitor();
    const { clientId, refresh } = await visitor.signIn(newUser());
    expect((await visitor.open(clientId)).page.text).toContain("It ends after 30 days.");
    at(begun + 30 * 86_400_000 + 1000);
    expect((await visitor.refresh(clientId, refresh)).body.error).toBe("invalid_grant");
  });

  it("is listed and ended by its user, and by nobody else", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const { clientId, access, refresh } = await visitor.signIn(user);
    const as = async (whose: string, path = "", method = "GET") =>
      visitor.call(`/v1/users/${user}/sign-ins${path}`, {
        method,
        headers: { Authorization: `Bearer ${await token(whose)}` },
      });
    const { body } = await as(user);
    expect(body.items).toEqual([
      {
        id: expect.any(String),
        app: { id: clientId, name: "An app", redirectHost: "app.example" },
        scopes: ["read", "write"],
        createdAt: begun,
        expiresAt: expect.any(Number),
      },
    ]);
    const [{ id }] = body.items;
    expect((await as(newUser())).status).toBe(404);
    expect((await as(newUser(), `/${id}`, "DELETE")).status).toBe(404);
    expect((await visitor.mcp(access)).status).toBe(200);
    expect((await as(user, `/${id}`, "DELETE")).status).toBe(204);
    expect((await as(user, `/${id}`, "DELETE")).status).toBe(204);
    expect((await visitor.mcp(access)).status).toBe(401);
    expect((await visitor.refresh(clientId, refresh)).body.error).toBe("invalid_grant");
    expect((await as("*")).body.items).toEqual([]);
  });

  it("is revoked by its id as a token is by its jti, and gets no new token", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const { clientId, access, refresh } = await visitor.signIn(user);
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const { body } = await visitor.call(`/v1/users/${user}/sign-ins`, { headers });
    const path = `/v1/revocations/tokens/${body.items[0].id}`;
    expect((await visitor.call(path, { method: "PUT", json: {}, headers })).status).toBe(200);
    const refused = await visitor.mcp(access);
    expect(refused.body.error.code).toBe("token_revoked");
    expect((await visitor.refresh(clientId, refresh)).body.error).toBe("invalid_grant");
  });

  it("of an app that signs in again, as on another device, ends no other one", async () => {
    const visitor = new Visitor();
    const user = newUser();
    const { clientId, access } = await visitor.signIn(user);
    const again = await visitor.signIn(user, clientId);
    for (const bearer of [access, again.access]) expect((await visitor.mcp(bearer)).status).toBe(200);
  });

  it("is in the audit log, with its id", async () => {
    const visitor = new Visitor();
    const user = newUser();
    await visitor.signIn(user);
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const { body } = await visitor.call(`/v1/users/${user}/sign-ins`, { headers });
    const events = async () =>
      (await call(`/v1/audit?user=${user}&action=sign-in.granted`)).body.items as unknown[];
    await expect.poll(events).toHaveLength(1);
    expect(await events()).toMatchObject([
      {
        outcome: "ok",
        actor: await userHash(user),
        userHash: await userHash(user),
        tokenId: body.items[0].id,
      },
    ]);
  });

  it("ends with the setting", async () => {
    const { access } = await new Visitor().signIn(newUser());
    expect((await new Visitor({}).mcp(access)).status).toBe(401);
  });

  it("leaves no token, code or user id in the database or in the log", async () => {
    const lines: unknown[] = [];
    for (const level of ["log", "warn", "error", "info"] as const)
      vi.spyOn(console, level).mockImplementation((...given) => void lines.push(given));
    const visitor = new Visitor(WITH_PROVIDER);
    const user = newUser();
    const clientId = await visitor.register();
    const { address, handle } = await visitor.open(clientId);
    const { location } = await visitor.call(address, { form: { handle, decision: "allow", scope: "read" } });
    const back = await visitor.call(provider.signsIn(location as URL, { sub: user }));
    const code = back.location?.searchParams.get("code") ?? "";
    const { body } = await visitor.exchange(clientId, code);
    await visitor.mcp(body.access_token);
    await visitor.mcp(`${body.access_token}x`);
    await visitor.exchange(clientId, code);
    const { results } = await env.DB.prepare("SELECT * FROM sign_ins").all();
    const stored = JSON.stringify([results, lines]);
    for (const secret of [user, handle, code, body.access_token, body.refresh_token])
      expect(stored).not.toContain(secret);
    vi.restoreAllMocks();
  });
});

describe("while D1 does not answer", () => {
  /** A database that fails statements with these words, once it is told to. */
  function failing(words: RegExp) {
    const control = { fails: false };
    const lost = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const broken = { bind: () => broken, first: lost, all: lost, run: lost, raw: lost };
    const members = {
      prepare: (text: string) => (control.fails && words.test(text) ? broken : env.DB.prepare(text)),
      batch: (statements: D1PreparedStatement[]) =>
        statements.some((one) => Object.is(one, broken)) ? lost() : env.DB.batch(statements),
    };
    const DB = new Proxy(env.DB, {
      get: (target, name) => Reflect.get(members, name) ?? Reflect.get(target, name),
    });
    return { control, visitor: new Visitor({ ...WITH_CODES, DB }) };
  }

  it("apps and people get 503, and go on where they were", async () => {
    const { control, visitor } = failing(/sign_ins/);
    const { clientId, access, refresh } = await visitor.signIn(newUser());
    control.fails = true;
    const { page } = await visitor.open(clientId);
    expect([page.status, page.location, page.headers.get("Retry-After")]).toEqual([503, null, "5"]);
    const token503 = await visitor.refresh(clientId, refresh);
    expect([token503.status, token503.body.error]).toEqual([503, "temporarily_unavailable"]);
    expect(token503.headers.get("Retry-After")).toBe("2");
    const called = await visitor.mcp(access);
    expect([called.status, called.body.error.code]).toEqual([503, "storage_unavailable"]);
    control.fails = false;
    expect((await visitor.mcp(access)).status).toBe(200);
    expect((await visitor.refresh(clientId, refresh)).status).toBe(200);
  });

  it("between the code and the grant, nobody is signed in, and another code works", async () => {
    const { control, visitor } = failing(/INSERT INTO sign_ins/);
    const user = newUser();
    const clientId = await visitor.register();
    const code = await visitor.codeFor(user);
    const { address, handle } = await visitor.open(clientId);
    control.fails = true;
    const form = { handle, decision: "allow", scope: "read", code };
    const answer = await visitor.call(address, { form });
    expect([answer.status, answer.location]).toEqual([503, null]);
    control.fails = false;
    expect((await visitor.allow(clientId, code)).status).toBe(400);
    expect((await visitor.allow(clientId, await visitor.codeFor(user))).status).toBe(302);
  });

  it("between the grant and its first token, the app's code is spent, and it starts again", async () => {
    const { control, visitor } = failing(/INSERT INTO sign_ins/);
    const user = newUser();
    const clientId = await visitor.register();
    const { location } = await visitor.allow(clientId, await visitor.codeFor(user));
    const code = location?.searchParams.get("code") ?? "";
    control.fails = true;
    expect((await visitor.exchange(clientId, code)).status).toBe(503);
    control.fails = false;
    expect((await visitor.exchange(clientId, code)).body.error).toBe("invalid_grant");
    expect((await visitor.signIn(user, clientId)).access).not.toBe("undefined");
  });
});

describe("what anybody can ask for", () => {
  /** Counters that refuse a kind of key, and the keys that they were asked for. */
  function counted(refused = "nothing") {
    const keys: string[] = [];
    const limit = async ({ key }: { key: string }) => {
      keys.push(key);
      return { success: !key.startsWith(refused) };
    };
    return { keys, rates: { RATES: "", CALLER_RATE: { limit }, REGISTER_RATE: { limit } } };
  }
  /** A database that says how many statements it ran, and rows it read. */
  function measuredDatabase() {
    const run = { statements: 0, rowsRead: 0 };
    const noted = (statement: D1PreparedStatement): D1PreparedStatement =>
      new Proxy(statement, {
        get(target, name) {
          if (name === "bind") return (...given: unknown[]) => noted(target.bind(...given));
          if (name === "first")
            return async (column?: string) => {
              const { results } = await noted(target).all();
              return column === undefined ? (results[0] ?? null) : (results[0]?.[column] ?? null);
            };
          const method: unknown = Reflect.get(target, name);
          if (typeof method !== "function") return method;
          return async (...given: unknown[]): Promise<unknown> => note(await method.apply(target, given));
        },
      });
    const note = <T>(result: T): T => {
      run.statements++;
      run.rowsRead += Number(Object(result).meta?.rows_read ?? 0);
      return result;
    };
    const members = {
      prepare: (text: string) => noted(env.DB.prepare(text)),
      batch: async (statements: D1PreparedStatement[]) => {
        const results = [];
        for (const statement of statements) results.push(await statement.run());
        return results;
      },
    };
    const DB = new Proxy(env.DB, {
      get: (target, name) => Reflect.get(members, name) ?? Reflect.get(target, name),
    });
    return { run, DB };
  }

  it("a page reads as many rows of D1 as ever, however many are open or have ended", async () => {
    const { run, DB } = measuredDatabase();
    const visitor = new Visitor({ ...WITH_CODES, DB });
    const clientId = await visitor.register();
    const cost = async (): Promise<number> => {
      run.rowsRead = 0;
      expect((await visitor.open(clientId)).page.status).toBe(200);
      return run.rowsRead;
    };
    const before = await cost();
    await env.DB.prepare(
      `INSERT INTO sign_ins (key, family, value, created_at, expires_at)
       SELECT 'transaction:' || hex(randomblob(16)), 'transaction', 'x', ?1, ?1 + (value - 250) * 1000
       FROM json_each(?2)`,
    )
      .bind(clock(), JSON.stringify(Array.from({ length: 500 }, (_, i) => i)))
      .run();
    expect(before).toBeGreaterThan(0);
    expect(await cost()).toBe(before);
  });

  it("a page is not stored for an app that asks with too much", async () => {
    const visitor = new Visitor();
    const clientId = await visitor.register();
    const lengthOf = async (state: string) => (await visitor.open(clientId, { state })).address.length;
    const most = limits.signInRequest - ((await lengthOf("")) - "/oauth/authorize".length);
    expect((await visitor.open(clientId, { state: "x".repeat(most) })).page.status).toBe(200);
    const { page } = await visitor.open(clientId, { state: "x".repeat(most + 1) });
    expect([page.status, page.location, page.headers.get("Set-Cookie")]).toEqual([400, null, null]);
    expect(page.text).toContain("2048 characters");
  });

  it("an address opens pages and registers apps within a rate, and IPv6 counts by its network", async () => {
    const clientId = await new Visitor().register();
    for (const [address, network] of [
      ["192.0.2.7", "192.0.2.7"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001:DB8:0:0:1:2:3:4", "2001:db8:0:0::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["::1", "0:0:0:0::/64"],
    ] as const) {
      const { keys, rates } = counted("page:");
      const visitor = new Visitor({ ...WITH_CODES, ...rates });
      const headers = { "CF-Connecting-IP": address };
      const page = await visitor.call(await authorizeAddress(clientId), { headers });
      expect([page.status, page.headers.get("Retry-After")]).toEqual([429, "10"]);
      const json = { client_name: "x", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
      expect((await visitor.call("/oauth/register", { json, headers })).status).toBe(201);
      const kinds = ["address", "page", "address", "register"];
      expect(keys).toEqual(kinds.map((kind) => `${kind}:${network}`));
    }
    const { rates } = counted("register:");
    const headers = { "CF-Connecting-IP": "192.0.2.7" };
    const full = new Visitor({ ...WITH_CODES, ...rates });
    const json = { client_name: "x", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
    const refused = await full.call("/oauth/register", { json, headers });
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "10"]);
  });

  it("a token of no sign-in is counted by its address before D1 is asked, and one that is known is not", async () => {
    const { run, DB } = measuredDatabase();
    const { keys, rates } = counted("address:192.0.2.8");
    const visitor = new Visitor({ ...WITH_CODES, ...rates, DB });
    const { access } = await visitor.signIn(newUser());
    const from = async (bearer: string, address: string) =>
      visitor.call("/mcp", {
        json: {},
        headers: { Authorization: `Bearer ${bearer}`, "CF-Connecting-IP": address },
      });
    run.statements = 0;
    const refused = await from("a:b:c", "192.0.2.8");
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
    expect(run.statements).toBe(0);
    expect((await from("a:b:c", "192.0.2.9")).status).toBe(401);
    await from(access, "192.0.2.9");
    keys.length = 0;
    expect((await from(access, "192.0.2.8")).status).not.toBe(429);
    expect(keys.join()).not.toContain("192.0.2.8");
  });
});

describe("set up wrong", () => {
  it.each([
    ["SIGN_IN", { SIGN_IN: "yes" }],
    ["must all be set", { OIDC_ISSUER: ISSUER }],
    ["one of them", { ...WITH_PROVIDER, SIGN_IN: "codes" }],
    ["not an https URL", { ...WITH_PROVIDER, OIDC_ISSUER: "http://login.example.com" }],
    ["JWT_SCOPE", { ...WITH_CODES, JWT_SCOPE: "cache" }],
  ])("(%s), nobody can sign in, and /health says why", async (problem, settings) => {
    const visitor = new Visitor(settings);
    expect((await visitor.call("/health")).body).toMatchObject({
      status: "degraded",
      problems: [expect.stringContaining(problem)],
    });
    expect((await visitor.call("/.well-known/oauth-authorization-server")).status).toBe(404);
  });
});
