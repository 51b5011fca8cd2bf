// Calls of another Worker of the account, over a service binding to the entrypoint `Memory`.
import { createExecutionContext, env } from "cloudflare:test";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Binding } from "#client/index.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { plainRequest } from "../../../src/worker/rpc/plain.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { answerOf, bindingWith, boundCall, clientWith } from "../../binding-calls.ts";
import { call, newUser } from "../../call.ts";
import { declared, type DeclaredOperation, declaredOperations } from "../../declared.ts";
import { realPorts } from "../../doubles/ports.ts";
import { pathOf } from "../../operations.ts";
import { wrongProps } from "../../wrong-props.ts";

const ALL = { users: ["*"], scopes: ["read", "write", "cache", "admin"] };
const all = await declaredOperations();
const callOf = ({ method, hasBody }: DeclaredOperation) => ({ method, ...(hasBody ? { json: {} } : {}) });

describe("refuses at every route a binding whose props", () => {
  const ids = { user: newUser(), threadId: "none" };
  it.each(wrongProps)("%s", async (_, props, fields) => {
    for (const operation of all) {
      const { status, body } = await boundCall(pathOf(operation, ids), callOf(operation), props);
      expect([status, body.error.code]).toEqual([403, "invalid_props"]);
      expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(fields);
      for (const field of fields) expect(body.error.message).toContain(`\`${field}\``);
    }
  });
});

describe("fails by itself at no route:", () => {
  const ids = { user: newUser(), threadId: "none" };
  it.each(all)("$method $path", async (operation) => {
    const { status } = await boundCall(pathOf(operation, ids), callOf(operation), ALL);
    expect(status).not.toBe(500);
  });
});

it("answers every page for people, and its files, as a route that there is not", async () => {
  const pages = declared.filter(
    ({ method, path, scope, isDocumented }) =>
      method === "GET" && scope === "open" && !isDocumented && path !== "/openapi.json",
  );
  expect(pages.map(({ path }) => path)).toContain("/docs/{file}");
  for (const { path } of pages) {
    const { status, body } = await boundCall(path.replace("{file}", "start.js"), {}, ALL);
    expect([path, status, body.error.code]).toEqual([path, 404, "route_not_found"]);
  }
});

it.each([
  ["nothing", undefined, "call"],
  ["no path", { method: "GET" }, "call.path"],
  ["another path", { method: "GET", path: "v1/users" }, "call.path"],
  ["a method that there is not", { method: "TRACE", path: "/v1/users" }, "call.method"],
  ["a path that names a host", { method: "GET", path: "//[" }, "call.path"],
  ["a path that names a host by a backslash", { method: "GET", path: "/\\[" }, "call.path"],
  ["a path that names a host behind a tab", { method: "GET", path: "/\t/[" }, "call.path"],
  ["a path with a fragment", { method: "GET", path: "/v1/users#/x" }, "call.path"],
  ["a header whose name is none", { method: "GET", path: "/", headers: { "a b": "x" } }, "call.headers"],
  ["a header of two lines", { method: "GET", path: "/", headers: { a: "x\r\ny" } }, "call.headers.a"],
  ["GET with a body", { method: "GET", path: "/v1/users", body: new Uint8Array(2) }, "call.body"],
  ["a header that is no text", { method: "GET", path: "/", headers: { a: 1 } }, "call.headers.a"],
  ["a body of another type", { method: "POST", path: "/", body: 7 }, "call.body"],
  ["a field that there is not", { method: "GET", path: "/", token: "t" }, "call.token"],
])("refuses a call of %s, and names the field", async (_, given, path) => {
  // As a Worker without types calls.
  const answer = await bindingWith(ALL).call(given as never);
  expect(answer.status).toBe(400);
  expect((await answerOf(answer)).body.error).toMatchObject({
    code: "invalid_request",
    details: [expect.objectContaining({ path })],
  });
});

it("says that props are wrong before it says that a call is", async () => {
  const { status, body } = await answerOf(await bindingWith({}).call({ method: "TRACE", path: "/" }));
  expect([status, body.error.code]).toEqual([403, "invalid_props"]);
});

it("counts a body as it comes, whatever length its call says", async () => {
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      pulled++ < 60 ? controller.enqueue(new Uint8Array(1024 * 1024).fill(32)) : controller.close(),
  });
  const headers = { "content-type": "application/json", "Content-Length": "5" };
  const path = `/v1/users/${newUser()}/kv/k`;
  const { status } = await bindingWith(ALL).call({ method: "PUT", path, headers, body });
  expect(status).toBe(413);
  expect(pulled).toBeLessThan(60);
});

it("counts open calls by the caller, and takes no address from a call", async () => {
  const counted: string[] = [];
  const limit = async ({ key }: { key: string }) => ({ success: counted.push(key) > 0 });
  const bindings = { ...env, RATES: "", CALLER_RATE: { limit } };
  const user = newUser();
  const by = { props: { ...ALL, users: [user] }, env: bindings, ctx: createExecutionContext() };
  const { answer } = createWorker(realPorts);
  for (const address of ["192.0.2.1", "192.0.2.2"]) {
    const headers = { "CF-Connecting-IP": address };
    expect((await answer({ method: "GET", path: "/health", headers }, by)).status).toBe(200);
  }
  expect(counted).toEqual([await userHash(user), await userHash(user)]);
});

it("answers a write that is repeated over HTTP with its first answer", async () => {
  const path = `/v1/users/${newUser()}/memories`;
  const write = { json: { text: "one" }, headers: { "Idempotency-Key": crypto.randomUUID() } };
  const first = await boundCall(path, write, ALL);
  const again = await call(path, write);
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
});

it("refuses a body that is too large, is no JSON, or holds half of a character", async () => {
  const path = `/v1/users/${newUser()}/kv/k`;
  const headers = { "content-type": "application/json" };
  const put = async (body: string) => {
    const answer = await bindingWith(ALL).call({ method: "PUT", path, headers, body });
    return [answer.status, (await answerOf(answer)).body.error.code];
  };
  expect(await put(`"${"x".repeat(17 * 1024 * 1024)}"`)).toEqual([413, "body_too_large"]);
  expect(await put("dark")).toEqual([400, "invalid_json"]);
  expect(await put('"\ud800"')).toEqual([400, "invalid_json"]);
});

it("keeps a caller to the namespace of its props, and puts it where none is named", async () => {
  const user = newUser();
  const of = (namespace?: string) => ({ users: [user], scopes: ["cache"], ...(namespace && { namespace }) });
  const path = "/v1/cache/k";
  await boundCall(path, { method: "PUT", json: 1 }, of("a"));
  expect((await boundCall(path, {}, of("a"))).body).toBe(1);
  expect((await boundCall(path, {}, of("b"))).status).toBe(404);
  expect((await boundCall(path, {}, of())).status).toBe(404);
  expect((await boundCall(path, { headers: { "Cairn-Namespace": "a" } }, of())).body).toBe(1);
  for (const operation of all.filter(({ owner }) => owner.kind === "namespace")) {
    const request = { ...callOf(operation), headers: { "Cairn-Namespace": "b" } };
    const { status, body } = await boundCall(pathOf(operation, { user, threadId: "" }), request, of("a"));
    expect([status, body.error.code]).toEqual([403, "forbidden"]);
    expect(body.error.message).toContain("its prop `namespace`");
  }
});

it("writes with the trust and the name of its props", async () => {
  const user = newUser();
  const memory = clientWith({ ...ALL, trust: "tool", name: "edge-chat" });
  const { id } = await memory.memories.remember(user, { text: "x" });
  expect(await memory.memories.get(user, id)).toMatchObject({
    trust: "tool",
    writtenBy: { tokenId: "binding:edge-chat" },
  });
});

it("says in the audit log which binding deleted, and which was refused", async () => {
  const [user, name] = [newUser(), `app-${crypto.randomUUID()}`];
  await clientWith({ ...ALL, name }).memories.forgetAll(user);
  await expect
    .poll(async () => (await call(`/v1/audit?user=${user}`)).body.items)
    .toContainEqual(
      expect.objectContaining({ action: "DELETE /v1/users/{user}/memories", tokenId: `binding:${name}` }),
    );
});

it("keeps codes and fields of errors", async () => {
  const memory = clientWith({ users: ["alice"], scopes: ["read"] });
  await expect(memory.recall("alice", { query: "" })).rejects.toMatchObject({
    name: "CairnError",
    code: "invalid_request",
    status: 400,
    details: [{ path: "body.query", message: "must not be empty" }],
    requestId: expect.any(String),
    call: "POST /v1/users/alice/recall",
  });
  await expect(memory.kv.set("alice", "k", 1)).rejects.toMatchObject({ code: "forbidden", status: 403 });
});

it("streams messages and an export, and takes an import as text, bytes and a blob", async () => {
  const [user, memory] = [newUser(), clientWith(ALL)];
  const { id } = await memory.threads.create(user);
  await memory.threads.append(id, [{ role: "user", content: "hi" }]);
  const said: unknown[] = [];
  for await (const { message } of memory.threads.stream(id)) said.push(message.content);
  expect(said).toEqual(["hi"]);
  const exported = await new Response(await memory.transfer.export(user)).text();
  expect(exported).toContain('"end"');
  for (const body of [exported, new TextEncoder().encode(exported).slice(), new Blob([exported])])
    expect(await memory.transfer.import(newUser(), body)).toMatchObject({ imported: { messages: 1 } });
});

it.each([
  ["whose scope is missing", ["read"], "forbidden"],
  ["whose first line is refused", ["write"], "invalid_json"],
])("lets go of the stream of an import %s", async (_, scopes, code) => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("no line\n")),
    cancel: () => void (cancelled = true),
  });
  const user = newUser();
  const [path, headers] = [`/v1/users/${user}/import`, { "content-type": "application/x-ndjson" }];
  // Without a binding in between, which may let go of a stream by itself when a call ends.
  const by = { props: { users: [user], scopes }, env, ctx: createExecutionContext() };
  const answer = await createWorker(realPorts).answer({ method: "POST", path, headers, body }, by);
  expect((await answerOf(answer)).body.error.code).toBe(code);
  expect(cancelled).toBe(true);
});

it("reads a text that is larger than a call carries", async () => {
  const text = "no line\n".repeat(4.5 * 1024 * 1024);
  await expect(clientWith(ALL).transfer.import(newUser(), text)).rejects.toMatchObject({
    code: "invalid_json",
    status: 400,
  });
});

it("has a type that the client takes as its binding", () => {
  expectTypeOf<Service<typeof import("../../../src/index.ts").Memory>>().toExtend<Binding>();
  // With `wrangler types` the compiler sees it; see test/node/binding-types.test.ts.
  expect(bindingWith(ALL)).toBeDefined();
});

it("names a binding, and no token, to who calls MCP over one", async () => {
  const user = newUser();
  const headers = { Accept: "application/json, text/event-stream" };
  const ask = async (name: string, given: object, props: Record<string, unknown>) => {
    const params = { name, arguments: given };
    const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    return (await boundCall("/mcp", { json, headers }, props)).text;
  };
  const reader = { users: [user], scopes: ["read"] };
  expect(await ask("memory_recall", { query: "x", owners: ["shared:z"] }, reader)).toContain(
    "this binding names",
  );
  expect(await ask("memory_remember", { text: "x" }, reader)).toContain("The binding lacks the scope");
  expect(await ask("memory_recall", { query: "x" }, ALL)).toContain("with a binding of all users");
});

it("writes refused props into the audit log by the binding's name, and no malformed call of a good binding", async () => {
  const names = ["one", "two"].map((name) => `${name}-${crypto.randomUUID()}`);
  await bindingWith({ ...ALL, name: names[0] }).call({ method: "TRACE", path: "/" });
  for (const name of names) await bindingWith({ name }).call({ method: "GET", path: "/" });
  await bindingWith({ name: "no name" }).call({ method: "GET", path: "/" });
  const refused = async () =>
    (await call("/v1/audit?action=token.refused&limit=1000")).body.items.map(
      ({ outcome, tokenId }: { outcome: string; tokenId: string }) => `${outcome} ${tokenId}`,
    );
  for (const id of [...names.map((name) => `binding:${name}`), "binding"])
    await expect.poll(refused).toContain(`invalid_props ${id}`);
  expect((await refused()).join()).not.toContain("invalid_request");
});

it("tells the id of a request with every answer, also that of a stream and of a refusal", async () => {
  const [user, id] = [newUser(), crypto.randomUUID()];
  const headers = { "X-Request-Id": id };
  for (const path of [
    `/v1/users/${user}/kv`,
    `/v1/users/${user}/export`,
    `/v1/users/${user}/kv/none`,
    "/v1/none",
  ])
    expect((await boundCall(path, { headers }, ALL)).headers.get("X-Request-Id")).toBe(id);
  expect((await boundCall("/health", {}, ALL)).headers.get("X-Request-Id")).toMatch(/^[\w-]{36}$/);
});

it("says which part of a request a route reads that a call has not", () => {
  const request = plainRequest("https://cairn.internal/", { method: "GET", headers: { a: "b" } });
  expect(request.headers.get("A")).toBe("b");
  expect(() => request.clone()).toThrow("has no `clone` of a Request");
  expect(() => [...request.headers]).toThrow("of a Request");
});

it("serves MCP, and what the open routes serve", async () => {
  const user = newUser();
  const headers = { Accept: "application/json, text/event-stream" };
  const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const listed = await boundCall("/mcp", { json, headers }, { users: [user], scopes: ["read"] });
  expect(listed.text).toContain("recall");
  expect((await boundCall("/openapi.json", {}, ALL)).body.openapi).toBe("3.1.0");
  expect((await boundCall("/v1/nothing", {}, ALL)).body.error.code).toBe("route_not_found");
});
