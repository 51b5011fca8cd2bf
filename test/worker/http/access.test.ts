import { createRoute } from "@hono/zod-openapi";
import { env } from "cloudflare:workers";
import { decodeJwt, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { declarationsOf, operationOf, refuseUndeclared } from "../../../src/worker/http/guard.ts";
import { nobody, ofCaller, ofThread, ofUser, type RouteOwner } from "../../../src/worker/http/owner.ts";
import { newRouter } from "../../../src/worker/http/router.ts";
import { pathWays, ways } from "../../binding-calls.ts";
import { type Answer, call, newUser, token } from "../../call.ts";
import { declared, type DeclaredOperation, declaredOperations } from "../../declared.ts";
import { clock, restore } from "../../doubles/control.ts";
import { pathOf } from "../../operations.ts";
import { mintToken, scopes } from "../../../src/domain/token.ts";
import { realPorts } from "../../doubles/ports.ts";

const all = await declaredOperations();
const secured = all.filter(({ scope }) => scope !== undefined);
const soon = () => Math.floor(clock() / 1000) + 60;
const key = (secret: string) => new TextEncoder().encode(secret);

afterEach(restore);

async function newThread(user: string): Promise<string> {
  return (await call(`/v1/users/${user}/threads`, { json: {} })).body.id;
}

/** The path of an operation on what is the user's. Only a path that names a thread is worth making one. */
async function pathFor(operation: DeclaredOperation, user: string): Promise<string> {
  const threadId = operation.path.includes("{id}") ? await newThread(user) : "";
  return pathOf(operation, { user, threadId });
}

it("demands a token on every operation but the service's own", async () => {
  const open = all.filter(({ scope }) => scope === undefined).map(({ path }) => path);
  expect(open).toEqual(["/health", "/.well-known/jwks.json"]);
  expect(secured.length).toBeGreaterThan(15);
});

describe("refuses to start with a route", () => {
  const started = (path: string, access: object) =>
    newRouter().openapi(
      createRoute({ method: "get", path, responses: { 204: { description: "Nothing." } }, ...access }),
      (c) => c.body(null, 204),
    );
  const user = "/v1/users/{user}/new";

  it.each([
    ["no scope", "/v1/new", { owner: ofCaller }, "GET /v1/new says no scope"],
    ["a scope that is only documented", "/v1/new", { security: [{ bearer: ["read"] }] }, "says no scope"],
    ["no owner", "/v1/new", { scope: "read" }, "GET /v1/new says no owner"],
    ["an owner and no token", user, { scope: "open", owner: ofUser }, "open and owned"],
    ["a token and nobody", "/v1/new", { scope: "read", owner: nobody }, "open and owned"],
    ["a user in its path that it does not guard", user, { scope: "read", owner: ofCaller }, "names a user"],
    ["an owner that its path lacks", "/v1/new", { scope: "read", owner: ofThread("id") }, "lacks"],
    [
      "another owner than its id has",
      "/v1/threads/{id}/new",
      { scope: "read", owner: ofCaller },
      "not its owner",
    ],
    [
      "a user's body that is not redacted",
      user,
      { scope: "write", owner: ofUser, payload: "verbatim" },
      "redaction",
    ],
  ])("that says %s", (_, path, access, message) => {
    expect(() => started(path, access)).toThrow(message);
  });

  it("that is mounted beside the declared ones, or with middleware for some paths", () => {
    const router = started(user, { scope: "read", owner: ofUser });
    refuseUndeclared(router);
    expect(declarationsOf(router)).toMatchObject([{ method: "GET", path: user, scope: "read" }]);
    expect(() => refuseUndeclared(newRouter().get("/v1/new", (c) => c.body(null)))).toThrow("GET /v1/new");
    expect(() => refuseUndeclared(newRouter().all("/v1/new", (c) => c.body(null)))).toThrow("ALL /v1/new");
    expect(() => refuseUndeclared(router.use("/v1/*", (_c, next) => next()))).toThrow("ALL /v1/*");
  });
});

it("reaches with an admin's token of one user only what is listed for that user", () => {
  const admin = declared.filter(
    ({ scope, owner }) => scope === "admin" && owner.wholeTenantFor === undefined,
  );
  expect(admin.map(operationOf)).toEqual(["GET /v1/threads", "POST /v1/users/{user}/sign-in-codes"]);
});

it("writes nothing with a token that may only read, but for what a read notes", () => {
  const reads = declared.filter(({ method, scope }) => scope === "read" && method !== "GET");
  expect(reads.map(operationOf).toSorted()).toEqual([
    "POST /v1/recalls/{id}/outcome",
    "POST /v1/threads/{id}/validate",
    "POST /v1/users/{user}/context",
    "POST /v1/users/{user}/kv/batch",
    "POST /v1/users/{user}/recall",
  ]);
});

it.each(["/v1", "/v1/nope", "/%761/nope", "/mcp"])("tells nothing of %s without a token", async (path) => {
  for (const method of ["GET", "PATCH"])
    expect(await call(path, { method, token: null })).toMatchObject({ status: 401 });
});

it("documents each route with its scope, but for pages, files and other protocols", () => {
  const documented = declared.filter(({ isDocumented }) => isDocumented);
  expect(documented.map((one) => `${operationOf(one)}: ${one.scope}`).toSorted()).toEqual(
    all.map((one) => `${operationOf(one)}: ${one.scope ?? "open"}`).toSorted(),
  );
  const others = declared.filter(({ isDocumented }) => !isDocumented);
  expect(others.map((one) => `${operationOf(one)}: ${one.scope}, ${one.owner.kind}`)).toEqual([
    "GET /: open, nobody",
    "GET /docs: open, nobody",
    "GET /docs/{file}: open, nobody",
    "GET /llms.txt: open, nobody",
    "POST /console/session: open, nobody",
    "PUT /console/session: open, nobody",
    "GET /console/session: open, nobody",
    "DELETE /console/session: open, nobody",
    "GET /console: open, nobody",
    "GET /console/settings.json: open, nobody",
    "GET /console/{file}: open, nobody",
    "GET /oauth/authorize: open, nobody",
    "POST /oauth/authorize: open, nobody",
    "GET /oauth/callback: open, nobody",
    "GET /.well-known/oauth-authorization-server: open, nobody",
    "POST /oauth/token: open, nobody",
    "POST /oauth/register: open, nobody",
    "GET /.well-known/oauth-protected-resource/mcp: open, nobody",
    "GET /.well-known/oauth-protected-resource: open, nobody",
    "POST /mcp: by tool, named user",
    "GET /metrics: admin, tenant",
    "GET /openapi.json: open, nobody",
  ]);
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

  it.each(ways)("refuses a caller without its scope, and names the scope, $way", async ({ ask }) => {
    const user = newUser();
    const path = await pathFor(operation, user);
    const others = (["read", "write", "cache", "admin"] as const).filter((one) => one !== scope);
    const answer = await ask(path, { method, ...withBody }, { user, scope: others });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`'${scope}'`),
    });
  });
});

/** The paths of an operation on what a new user has, and a marker in all of it. */
async function possessions(): Promise<{
  user: string;
  marker: string;
  at: (one: DeclaredOperation) => string;
}> {
  const [user, marker] = [newUser(), crypto.randomUUID()];
  const threadId = (await call(`/v1/users/${user}/threads`, { json: { title: marker } })).body.id;
  const messages = [{ role: "user", content: marker }];
  await call(`/v1/threads/${threadId}/messages`, { json: { messages } });
  await call(`/v1/users/${user}/kv/some%2Fkey`, { method: "PUT", json: marker });
  await call("/v1/cache/some%2Fkey", { method: "PUT", json: marker, token: await token(user) });
  const { id: memoryId } = (await call(`/v1/users/${user}/memories`, { json: { text: marker } })).body;
  const summary = { summary: marker, to: 1 };
  const { id: compactionId } = (await call(`/v1/threads/${threadId}/compactions`, { json: summary })).body;
  const { id: erasureId } = (await call(`/v1/users/${user}/erasures`, { json: { scope: "none" } })).body;
  const { recallId } = (await call(`/v1/users/${user}/recall`, { json: { query: marker } })).body;
  const { ingestId } = (await call(`/v1/users/${user}/ingest`, { json: { threadId } })).body;
  const ids = { threadId, memoryId, compactionId, erasureId, ingestId, recallId };
  return { user, marker, at: (operation) => pathOf(operation, { user, ...ids }) };
}

const callOf = ({ method, hasBody }: DeclaredOperation) => ({ method, ...(hasBody ? { json: {} } : {}) });

type Ask = (typeof ways)[number]["ask"];

const expectNotFound = ({ status, body }: Answer): void =>
  expect([status, body.error.code]).toEqual([404, "not_found"]);

/** What each kind of owner keeps from a stranger. A kind without a row does not compile. */
const keeps: Record<RouteOwner["kind"], (operation: DeclaredOperation, ask: Ask) => Promise<void>> = {
  user: keepsToItsUser,
  id: keepsToItsUser,
  thread: keepsToItsUser,
  namespace: showsNothingOfOthers,
  caller: showsNothingOfOthers,
  tenant: async (operation, ask) => {
    const { at } = await possessions();
    const answer = await ask(at(operation), callOf(operation), { user: newUser() });
    expect([answer.status, answer.body.error.code]).toEqual([403, "forbidden"]);
    expect(answer.body.error.message).toMatch(/^Only a (token|binding) of all users \(`\*`\)/);
  },
  nobody: async (operation, ask) => {
    expect((await call(operation.path, { token: null })).status).toBe(200);
    expect((await ask(operation.path, {}, { user: newUser() })).status).toBe(200);
  },
  "named user": async (operation, ask) => {
    const headers = { "Cairn-User": newUser() };
    expectNotFound(await ask(operation.path, { ...callOf(operation), headers }, { user: newUser() }));
  },
};

async function keepsToItsUser(operation: DeclaredOperation, ask: Ask): Promise<void> {
  const { user, at } = await possessions();
  const path = at(operation);
  expectNotFound(await ask(path, callOf(operation), { user: newUser() }));
  // For the user the call does not fail for what is missing.
  expect((await ask(path, callOf(operation), { user })).status).not.toBe(404);
}

async function showsNothingOfOthers(operation: DeclaredOperation, ask: Ask): Promise<void> {
  const { user, marker, at } = await possessions();
  expect((await ask(at(operation), callOf(operation), { user: newUser() })).text).not.toContain(marker);
  const own = await token(user);
  expect((await call("/v1/cache/some%2Fkey", { token: own })).body).toBe(marker);
}

const undescribed = { hasBody: false, needsBody: false, operationId: undefined, headers: [], parameters: [] };
const protocols = declared
  .filter(({ scope }) => scope === "by tool")
  .map((one) => ({ ...one, ...undescribed }));

// The rows assert.
// oxlint-disable vitest/expect-expect
describe.each(ways)("$way", ({ ask }) => {
  it.each(all)("$method $path is kept from whom it does not concern: of $owner.kind", async (operation) =>
    keeps[operation.owner.kind](operation, ask),
  );
});

describe.each(pathWays)("$way", ({ ask }) => {
  it.each(protocols)(
    "$method $path is kept from whom it does not concern: of $owner.kind",
    async (operation) => keeps[operation.owner.kind](operation, ask),
  );
});
// oxlint-enable vitest/expect-expect

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
