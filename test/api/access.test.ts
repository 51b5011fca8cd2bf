import { createRoute } from "@hono/zod-openapi";
import { env } from "cloudflare:workers";
import { decodeJwt, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import { newRouter } from "../../src/worker/http/router.ts";
import { publicRoute, requireScope } from "../../src/worker/http/scope.ts";
import { call, newUser, token } from "../call.ts";
import { clock, restore } from "../doubles/control.ts";
import { type Operation, operations, pathOf } from "../operations.ts";
import { mintToken, scopes } from "../../src/domain/token.ts";
import { realPorts } from "../doubles/ports.ts";

const secured = (await operations()).filter(({ scope }) => scope !== undefined);
const owned = secured.filter(({ path }) => /\{user\}|(threads|erasures|ingests|recalls)\/\{id\}/.test(path));
const soon = () => Math.floor(clock() / 1000) + 60;
const key = (secret: string) => new TextEncoder().encode(secret);

afterEach(restore);

async function newThread(user: string): Promise<string> {
  return (await call(`/v1/users/${user}/threads`, { json: {} })).body.id;
}

/** The path of an operation on what is the user's. Only a path that names a thread is worth making one. */
async function pathFor(operation: Operation, user: string): Promise<string> {
  const threadId = operation.path.includes("{id}") ? await newThread(user) : "";
  return pathOf(operation, { user, threadId });
}

it("demands a token on every operation but the service's own", async () => {
  const open = (await operations()).filter(({ scope }) => scope === undefined).map(({ path }) => path);
  expect(open).toEqual(["/health", "/.well-known/jwks.json"]);
  expect(secured.length).toBeGreaterThan(15);
});

it("refuses to start with a route that does not say its scope", () => {
  const describedAs = (access: object) =>
    newRouter().openapi(
      createRoute({
        method: "get",
        path: "/v1/new",
        responses: { 204: { description: "Nothing." } },
        ...access,
      }),
      (c) => c.body(null, 204),
    );
  expect(() => describedAs({})).toThrow("GET /v1/new says no scope");
  // A scope that is only documented is not enforced.
  expect(() => describedAs({ security: [{ bearer: ["read"] }] })).toThrow("GET /v1/new says no scope");
  for (const access of [requireScope("read"), publicRoute]) describedAs(access);
});

describe.each(secured)("$method $path", (operation) => {
  const { method, hasBody, scope } = operation;
  const withBody = hasBody ? { json: {} } : {};

  it("refuses a call without a token, with a broken, a foreign, an unsigned and an expired one", async () => {
    const user = newUser();
    const path = await pathFor(operation, user);
    const secret = "another tenant's secret, of 32 bytes or more";
    const foreign = await mintToken(secret, { user, scope: scopes }, clock());
    const unsigned = new UnsecuredJWT({ scope: "read write cache admin" })
      .setSubject(user)
      .setExpirationTime(soon());
    for (const given of [null, "nonsense", foreign, unsigned.encode()]) {
      const answer = await call(path, { method, token: given, ...withBody });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe(given === null ? "unauthenticated" : "invalid_token");
      expect(answer.headers.get("WWW-Authenticate")).toContain("Bearer");
    }
    const expired = await call(path, {
      method,
      token: await token(user, ["read", "write", "cache"], -31),
      ...withBody,
    });
    expect(expired.status).toBe(401);
    expect(expired.body.error.code).toBe("token_expired");
  });

  it("refuses a token that was revoked", async () => {
    const user = newUser();
    const path = await pathFor(operation, user);
    const bearer = await token(user);
    await call(`/v1/revocations/tokens/${decodeJwt(bearer).jti}`, { method: "PUT", json: {} });
    const answer = await call(path, { method, token: bearer, ...withBody });
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe("token_revoked");
  });

  it("refuses a token without its scope, and names the scope", async () => {
    const user = newUser();
    const path = await pathFor(operation, user);
    const others = (["read", "write", "cache", "admin"] as const).filter((one) => one !== scope);
    const answer = await call(path, { method, token: await token(user, others), ...withBody });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`'${scope}'`),
    });
  });
});

it.each(owned)("$method $path answers 404 for what is another user's", async (operation) => {
  const { method, hasBody } = operation;
  const [alice, bob] = [newUser(), newUser()];
  const threadId = await newThread(bob);
  await call(`/v1/threads/${threadId}/messages`, { json: { messages: [{ role: "user", content: "hi" }] } });
  await call(`/v1/users/${bob}/kv/some%2Fkey`, { method: "PUT", json: 1 });
  const { id: memoryId } = (await call(`/v1/users/${bob}/memories`, { json: { text: "x" } })).body;
  const summary = { summary: "x", to: 1 };
  const { id: compactionId } = (await call(`/v1/threads/${threadId}/compactions`, { json: summary })).body;
  const { id: erasureId } = (await call(`/v1/users/${bob}/erasures`, { json: { scope: "none" } })).body;
  const { recallId } = (await call(`/v1/users/${bob}/recall`, { json: { query: "x" } })).body;
  const { ingestId } = (await call(`/v1/users/${bob}/ingest`, { json: { threadId } })).body;
  const path = pathOf(operation, {
    user: bob,
    threadId,
    memoryId,
    compactionId,
    erasureId,
    ingestId,
    recallId,
  });
  // With bob's own token the call does not fail for what is missing.
  const body = hasBody ? { json: {} } : {};
  const stranger = await call(path, { method, token: await token(alice), ...body });
  expect(stranger.status).toBe(404);
  expect(stranger.body.error.code).toBe("not_found");
  expect((await call(path, { method, token: await token(bob), ...body })).status).not.toBe(404);
});

it("takes no user that could not be stored under", async () => {
  for (const user of ["\ud800", "x".repeat(257)])
    expect((await call("/v1/cache/k", { token: await token(user) })).body.error.code).toBe("invalid_token");
});

it("takes a token whose scheme is written in lower case", async () => {
  const user = newUser();
  const headers = { Authorization: `bearer ${await token(user, ["read"])}` };
  expect((await call(`/v1/users/${user}/kv`, { token: null, headers })).status).toBe(200);
});

it.each([
  ["sub", { scope: "read", exp: soon() }],
  ["scope", { sub: "alice", exp: soon() }],
  ["exp", { sub: "alice", scope: "read" }],
  ["a sub that is no string", { sub: 7, scope: "read", exp: soon() }],
  ["a scope that is no string", { sub: "alice", scope: ["read"], exp: soon() }],
])("refuses a token without %s", async (_, claims) => {
  const given = await new SignJWT(claims as Record<string, unknown>)
    .setProtectedHeader({ alg: "HS256" })
    .sign(key(env.CAIRN_SECRET));
  expect((await call("/v1/users/alice/kv", { token: given })).status).toBe(401);
});

it("keeps one user's registry entries from another's, and from the app's own", async () => {
  const [alice, bob] = [await token(newUser()), await token(newUser())];
  const path = `/v1/cache/${crypto.randomUUID()}`;
  await call(path, { method: "PUT", json: 1, token: alice });
  expect((await call(path, { token: alice })).body).toBe(1);
  expect((await call(path, { token: bob })).status).toBe(404);
  expect((await call(path)).status).toBe(404);
});

describe.each([
  ["no secret", undefined],
  ["a secret of 31 bytes", "x".repeat(31)],
])("with %s", (_, secret) => {
  const fetch = (path: string) =>
    createApp(realPorts).request(
      path,
      { headers: { Authorization: "Bearer x" } },
      {
        ...env,
        CAIRN_SECRET: secret,
      },
    );

  it.each(["/v1/users/alice/kv", "/v1/cache/k", "/docs", "/openapi.json", "/nowhere"])(
    "refuses %s and says what to do",
    async (path) => {
      const answer = await fetch(path);
      expect(answer.status).toBe(503);
      const { error } = await answer.json<{ error: { code: string; message: string } }>();
      expect(error.code).toBe("not_configured");
      expect(error.message).toContain("CAIRN_SECRET");
    },
  );

  it("answers /health, which says what is missing", async () => {
    const answer = await fetch("/health");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      status: "unavailable",
      problems: [expect.stringContaining("CAIRN_SECRET")],
    });
  });
});
