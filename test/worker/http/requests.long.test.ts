import { expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { createApp } from "../../../src/worker/app.ts";
import type { Bindings } from "../../../src/platform/bindings.ts";
import { limits } from "../../../src/domain/limits.ts";
import { call, newUser, token } from "../../call.ts";
import { type Operation, operations, pathOf } from "../../operations.ts";
import { realPorts } from "../../doubles/ports.ts";

const threadId = "AAAAAAAAAAAAAAAAAAAAAA.019a0000-0000-7000-8000-000000000000";
const all = await operations();
// An import is no JSON: its lines are checked in import-refusals.test.ts.
const withBody = all.filter(({ hasBody, path }) => hasBody && !path.endsWith("/import"));
const posts = withBody.filter(({ method }) => method === "POST");
const pathFor = (operation: Operation) => pathOf(operation, { user: newUser(), threadId });

it.each(all)("$method $path refuses an unknown query parameter and names it", async (operation) => {
  const { method, hasBody } = operation;
  const answer = await call(`${pathFor(operation)}?nonsense=1`, { method, ...(hasBody && { json: {} }) });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("invalid_request");
  expect(answer.body.error.details).toContainEqual({
    path: "query.nonsense",
    message: expect.stringMatching(/^is unknown/),
  });
});

it.each(withBody)("$method $path refuses a body that is no JSON or no UTF-8", async (operation) => {
  const { method } = operation;
  for (const raw of ['{"text":', " ", "undefined", new Uint8Array([0x22, 0xff, 0x22])]) {
    const answer = await call(pathFor(operation), { method, raw });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("invalid_json");
  }
});

it.each(withBody)("$method $path takes an empty body, of JSON's type, for none", async (operation) => {
  const { method, needsBody } = operation;
  const headers = { "Content-Type": "application/json" };
  const empty = await call(pathFor(operation), { method, headers });
  const none = await call(pathFor(operation), { method });
  expect(empty.status).toBe(none.status);
  expect(empty.status === 400).toBe(needsBody);
});

it.each(withBody)("$method $path refuses a body of another content type", async (operation) => {
  const { method } = operation;
  for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/jsonx"]) {
    const answer = await call(pathFor(operation), { method, raw: "{}", headers: { "Content-Type": type } });
    expect(answer.status).toBe(415);
    expect(answer.body.error.code).toBe("unsupported_media_type");
  }
});

it.each(withBody)("$method $path refuses a body over the limit", async (operation) => {
  const { method } = operation;
  const answer = await call(pathFor(operation), { method, raw: " ".repeat(limits.body + 1) });
  expect(answer.status).toBe(413);
  expect(answer.body.error.code).toBe("body_too_large");
});

it.each(posts)(
  "$method $path refuses a body of another shape, and names its unknown fields",
  async (operation) => {
    const path = pathFor(operation);
    for (const json of [[], "text", 1, null]) {
      const answer = await call(path, { json });
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe("invalid_request");
      expect(answer.body.error.details[0].path).toBe("body");
    }
    const named = await call(path, { json: { nonsense: 1 } });
    expect(named.body.error.details).toContainEqual({
      path: "body.nonsense",
      message: expect.stringMatching(/^is unknown/),
    });
  },
);

it("answers an unknown route with 404, and a known one with the wrong method with 405", async () => {
  const unknown = await call("/v1/nothing/here");
  expect(unknown.status).toBe(404);
  expect(unknown.body.error.code).toBe("route_not_found");
  const twice = await call("/v1/v1/users/alice/kv/k");
  expect(twice.body.error).toMatchObject({
    code: "route_not_found",
    message: expect.stringMatching(/no \/v1/),
  });
  const wrong = await call("/v1/cache/k", { method: "PATCH", json: 1 });
  expect(wrong.status).toBe(405);
  expect(wrong.body.error.code).toBe("method_not_allowed");
  expect(wrong.headers.get("Allow")?.split(", ").toSorted()).toEqual(["DELETE", "GET", "PUT"]);
});

it("refuses a query that is no percent-encoded UTF-8, rather than match other keys by it", async () => {
  const answer = await call("/v1/users/alice/kv?prefix=%ff", { method: "DELETE" });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("invalid_path");
});

it.each(["%", "%zz", "%c3%28", "a%80b"])(
  "refuses the path segment %s, which is no percent-encoded UTF-8",
  async (segment) => {
    for (const path of [`/v1/users/alice/kv/${segment}`, `/v1/users/${segment}/kv`, `/v1/cache/${segment}`]) {
      const answer = await call(path);
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe("invalid_path");
    }
  },
);

it.each([
  "nonsense",
  `${"x".repeat(22)}.not-a-uuid`,
  `${"x".repeat(21)}.${threadId.slice(23)}`,
  `${threadId}.x`,
  "%20",
])("answers 404 for the thread id %s, as for an unknown one", async (id) => {
  for (const path of [`/v1/threads/${id}`, `/v1/threads/${id}/messages`, `/v1/threads/${threadId}`]) {
    const answer = await call(path);
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe("not_found");
  }
});

// One reader of bodies serves all routes, as the test above shows: two of them are enough for its 40 MiB.
it.each(withBody.slice(0, 2))(
  "$method $path reads no more of a body than the limit, whatever is said of its length",
  async (operation) => {
    const { method } = operation;
    const mebibyte = new Uint8Array(1024 * 1024).fill(32);
    let sent = 0;
    const endless = new ReadableStream({ pull: (controller) => (sent++, controller.enqueue(mebibyte)) });
    const unknown = await call(pathFor(operation), { method, raw: endless });
    expect(unknown.body.error.code).toBe("body_too_large");
    expect(sent).toBeLessThan(30);
    const raw = new Uint8Array(limits.body + 1).fill(32);
    const lied = await call(pathFor(operation), { method, raw, headers: { "Content-Length": "2" } });
    expect(lied.body.error.code).toBe("body_too_large");
  },
);

it("reads a body that comes without its length, and no further than the limit", async () => {
  const mebibyte = new TextEncoder().encode(" ".repeat(1024 * 1024));
  const streamed = (chunks: Uint8Array[]) => {
    const raw = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    return call(`/v1/users/${newUser()}/kv/key`, { method: "PUT", raw });
  };
  const quote = new TextEncoder().encode('"');
  expect((await streamed([quote, new TextEncoder().encode("in pieces"), quote])).status).toBe(200);
  const answer = await streamed(Array.from({ length: 18 }, () => mebibyte));
  expect(answer.status).toBe(413);
  expect(answer.body.error.code).toBe("body_too_large");
});

it.each([
  ["/v1/users/alice/kv", "GET", 200],
  ["/v1/users/alice/kv/missing", "GET", 404],
  ["/v1/users/alice/kv/key", "DELETE", 204],
  ["/v1/nothing", "GET", 404],
  ["/v1/users/%zz/kv", "GET", 400],
  ["/openapi.json", "GET", 200],
  ["/docs", "GET", 200],
])("lets a browser do nothing with the answer of %s by %s (%i)", async (path, method, status) => {
  const answer = await call(path, { method });
  expect(answer.status).toBe(status);
  const of = (name: string) => answer.headers.get(name);
  expect(of("Content-Security-Policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
  expect(of("Cross-Origin-Resource-Policy")).toBe("same-origin");
  expect(of("Referrer-Policy")).toBe("no-referrer");
  expect(of("Strict-Transport-Security")).toBe("max-age=15552000; includeSubDomains");
  expect(of("X-Content-Type-Options")).toBe("nosniff");
  expect(of("X-Frame-Options")).toBe(path === "/docs" ? "SAMEORIGIN" : null);
});

it("gives every answer a request id, the caller's own if it sent one, and its timing", async () => {
  const own = await call("/v1/users/alice/kv", { headers: { "X-Request-Id": "from-the-caller" } });
  expect(own.headers.get("X-Request-Id")).toBe("from-the-caller");
  expect(own.headers.get("Server-Timing")).toMatch(/object;dur=.*total;dur=/);
  const failed = await call("/v1/nothing");
  expect(failed.headers.get("X-Request-Id")).toBe(failed.body.error.requestId);
  expect(failed.body.error.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

it("keeps what was thrown by accident to itself, under a code and the request id", async () => {
  const broken = { ...env, USER_MEMORY: undefined } as unknown as Bindings;
  const bearer = await token("*", ["read"]);
  const answer = await createApp(realPorts).request(
    "/v1/users/alice/kv",
    { headers: { Authorization: `Bearer ${bearer}` } },
    broken,
  );
  expect(answer.status).toBe(500);
  const { error } = await answer.json<{ error: { code: string; message: string } }>();
  expect(error.code).toBe("internal");
  expect(error.message).not.toContain("undefined");
});
