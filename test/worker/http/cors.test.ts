import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { token } from "../../call.ts";
import { operations, pathOf } from "../../operations.ts";
import { realPorts } from "../../doubles/ports.ts";

const CHAT = "https://chat.example.com";
const LIST = `${CHAT}, https://app.example.com/`;
const THREAD = `${"A".repeat(22)}.019a0000-0000-7000-8000-000000000000`;

const ask = (
  path: string,
  { origin = CHAT, list = LIST, ...init }: RequestInit & { origin?: string; list?: string },
) =>
  createApp(realPorts).request(
    path,
    { ...init, headers: { Origin: origin, ...(init.headers as Record<string, string>) } },
    { ...env, CORS_ORIGINS: list },
  );
const preflight = (path: string, method: string, more: { origin?: string; list?: string } = {}) =>
  ask(path, {
    ...more,
    method: "OPTIONS",
    headers: {
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "authorization, content-type, if-match, idempotency-key",
    },
  });
const corsHeaders = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control"));

it("sends no header unless it is configured, and answers no preflight", async () => {
  expect(corsHeaders(await ask("/health", { list: "" }))).toEqual([]);
  const asked = await preflight("/v1/cache/k", "GET", { list: "" });
  expect(corsHeaders(asked)).toEqual([]);
  expect(asked.status).toBeGreaterThanOrEqual(400);
});

it.each(await operations())("lets an origin of the list call $method $path", async (operation) => {
  const path = pathOf(operation, { user: "alice", threadId: THREAD });
  const { status, headers } = await preflight(path, operation.method);
  expect(status).toBe(204);
  expect(headers.get("Access-Control-Allow-Origin")).toBe(CHAT);
  expect(headers.get("Access-Control-Allow-Methods")?.split(",")).toContain(operation.method);
  expect(headers.get("Access-Control-Allow-Headers")?.toLowerCase().split(",")).toEqual(
    expect.arrayContaining(["authorization", "content-type", "if-match", "idempotency-key"]),
  );
  expect(headers.get("Access-Control-Max-Age")).toBe("600");
  expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
  expect(headers.get("Vary")).toContain("Origin");
});

describe.each([
  ["an answer", "/v1/users/alice/kv", true, 200],
  ["a refused token", "/v1/users/alice/kv", false, 401],
  ["what is not there", "/v1/users/alice/kv/none", true, 404],
  ["an unknown route", "/v1/nowhere", true, 404],
])("%s", (_, path, known, status) => {
  const asked = async (origin: string, list?: string) =>
    ask(path, {
      origin,
      ...(list !== undefined && { list }),
      headers: { Authorization: `Bearer ${known ? await token("alice") : "nonsense"}` },
    });

  it("can be read by an origin of the list, with the headers that a client needs", async () => {
    for (const origin of [CHAT, "https://app.example.com"]) {
      const answer = await asked(origin);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(answer.headers.get("Access-Control-Allow-Credentials")).toBeNull();
      expect(answer.headers.get("Vary")).toContain("Origin");
      expect(answer.headers.get("Access-Control-Expose-Headers")?.split(",").toSorted()).toEqual([
        "Allow",
        "Cairn-Lease",
        "Cairn-Lease-Expires",
        "ETag",
        "Retry-After",
        "Server-Timing",
        "WWW-Authenticate",
        "X-Request-Id",
      ]);
    }
  });

  it("cannot be read by another, however it resembles one", async () => {
    for (const origin of [
      "https://evil.example.com",
      "http://chat.example.com",
      "https://chat.example.com.evil.com",
      "https://chat.example.com:8443",
      "null",
      "",
    ])
      expect((await asked(origin)).headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("can be read by any where the list is *", async () => {
    const answer = await asked("https://anywhere.example.com", "*");
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });
});

it.each([LIST, ""])("answers another origin's preflight with the reason, with the list %j", async (list) => {
  const answer = await preflight("/v1/cache/k", "PUT", { origin: "https://evil.example.com", list });
  expect(corsHeaders(answer)).toEqual([]);
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({
    error: {
      code: "forbidden",
      message: expect.stringContaining("CORS_ORIGINS"),
      details: [{ path: "header.Origin", message: "is not allowed" }],
    },
  });
});

it("logs a refused origin once, and no more than a hundred", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const app = createApp(realPorts);
  const bindings = { ...env, CORS_ORIGINS: LIST };
  const askFrom = (Origin: string) =>
    app.request(
      "/v1/cache/k",
      { method: "OPTIONS", headers: { Origin, "Access-Control-Request-Method": "PUT" } },
      bindings,
    );
  const logged = () => log.mock.calls.map(([line]) => line as { message: string; origin: string });
  for (const origin of ["https://a.example", "https://a.example", CHAT]) await askFrom(origin);
  expect(logged()).toEqual([
    { message: "a page's origin is not among CORS_ORIGINS", origin: "https://a.example" },
  ]);
  for (let i = 0; i < 150; i++) await askFrom(`https://${i}.${"x".repeat(1_000)}`);
  expect(logged()).toHaveLength(100);
  for (const { origin } of logged()) expect(origin.length).toBeLessThan(201);
});
