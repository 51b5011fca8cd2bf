import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, token } from "../../call.ts";
import { create } from "../../thread-calls.ts";
import { realPorts } from "../../doubles/ports.ts";

/** A deployment with these counters. */
function deployment(bound: { CALLER_RATE?: RateLimit; USER_RATE?: RateLimit }) {
  const app = createApp(realPorts);
  const bindings = { ...env, RATES: "", ...bound };
  return (path: string, bearer: string, init: RequestInit = {}) =>
    app.request(path, { ...init, headers: { Authorization: `Bearer ${bearer}` } }, bindings);
}
/** Counts to a limit for each key, as the platform does, but never begins anew. */
function counter(limit: number) {
  const counts = new Map<string, number>();
  return {
    counts,
    limit: async ({ key }: { key: string }) => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { success: (counts.get(key) ?? 0) <= limit };
    },
  };
}

it("refuses who calls too often, says when to come again, and lets others call (by workerd's own counter)", async () => {
  const ask = deployment({ CALLER_RATE: env.TEST_RATE });
  const [eager, calm] = [newUser(), newUser()];
  const statuses: number[] = [];
  // Twice the limit and one: also when the minute ends in between, one is refused.
  for (let i = 0; i < 11; i++) statuses.push((await ask(`/v1/users/${eager}/kv`, await token(eager))).status);
  expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(statuses).toContain(429);
  expect((await ask(`/v1/users/${calm}/kv`, await token(calm))).status).toBe(200);
});

it("answers with the code and Retry-After, in the envelope", async () => {
  const user = newUser();
  const ask = deployment({ CALLER_RATE: counter(0) });
  const answer = await ask(`/v1/users/${user}/kv`, await token(user));
  expect(answer.status).toBe(429);
  expect(answer.headers.get("Retry-After")).toBe("10");
  expect(await answer.json()).toMatchObject({
    error: { code: "rate_limited", requestId: expect.any(String) },
  });
});

it("counts the calls of an address to what needs no token, and of no other address", async () => {
  const app = createApp();
  const bindings = { ...env, RATES: "", CALLER_RATE: counter(2) };
  const ask = async (path: string, address: string) =>
    (await app.request(path, { headers: { "CF-Connecting-IP": address } }, bindings)).status;
  expect(await ask("/health", "192.0.2.1")).toBe(200);
  expect(await ask("/.well-known/jwks.json", "192.0.2.1")).toBe(200);
  expect(await ask("/health", "192.0.2.1")).toBe(429);
  expect(await ask("/.well-known/jwks.json", "192.0.2.1")).toBe(429);
  expect(await ask("/health", "192.0.2.2")).toBe(200);
});

it("counts a caller by the token's user, whatever the token and the path", async () => {
  const limit = counter(2);
  const ask = deployment({ CALLER_RATE: limit });
  const user = newUser();
  expect((await ask(`/v1/users/${user}/kv`, await token(user))).status).toBe(200);
  expect((await ask("/v1/cache/none", await token(user))).status).toBe(404);
  expect((await ask("/v1/nowhere", await token(user))).status).toBe(429);
  expect([...limit.counts.keys()].join()).not.toContain(user);
});

it("counts calls for a user over all who call, by the user's path and by that of a thread", async () => {
  const limit = counter(2);
  const ask = deployment({ USER_RATE: limit });
  const [user, other] = [newUser(), newUser()];
  const { id } = await create(user);
  const server = await token("*");
  expect((await ask(`/v1/users/${encodeURIComponent(user)}/kv`, server)).status).toBe(200);
  expect((await ask(`/v1/threads/${id}`, await token(user))).status).toBe(200);
  expect((await ask(`/v1/users/${user}/kv`, server)).status).toBe(429);
  expect((await ask(`/v1/users/${other}/kv`, server)).status).toBe(200);
});

it("counts exports, imports and erasures, also by the id of an erasure", async () => {
  const user = newUser();
  const bearer = await token(user);
  const { id } = (await call(`/v1/users/${user}/erasures`, { json: { scope: "none" } })).body;
  for (const [method, path] of [
    ["GET", `/v1/users/${user}/export`],
    ["POST", `/v1/users/${user}/import`],
    ["POST", `/v1/users/${user}/erasures`],
    ["DELETE", `/v1/users/${user}`],
    ["GET", `/v1/erasures/${id}`],
  ] as const) {
    const limit = counter(0);
    expect((await deployment({ USER_RATE: limit })(path, bearer, { method })).status).toBe(429);
    expect([...limit.counts]).toEqual([[await userHash(user), 1]]);
  }
  const all = deployment({ CALLER_RATE: counter(0) });
  expect((await all("/v1/users", bearer)).status).toBe(429);
  expect((await all("/.well-known/jwks.json", "")).status).toBe(200);
});

it("lets no stranger use up another user's calls", async () => {
  const ask = deployment({ USER_RATE: counter(1) });
  const [user, stranger] = [newUser(), newUser()];
  const { id } = await create(user);
  for (let i = 0; i < 3; i++)
    for (const path of [`/v1/users/${user}/kv`, `/v1/threads/${id}`])
      expect((await ask(path, await token(stranger))).status).toBe(404);
  expect((await ask(`/v1/users/${user}/kv`, await token(user))).status).toBe(200);
});

it("does not count a server's calls by its token: it speaks for all users", async () => {
  const ask = deployment({ CALLER_RATE: counter(0) });
  expect((await ask(`/v1/users/${newUser()}/kv`, await token("*"))).status).toBe(200);
});

it("counts nobody whose token is refused", async () => {
  const limit = counter(0);
  const ask = deployment({ CALLER_RATE: limit, USER_RATE: limit });
  expect((await ask("/v1/users/alice/kv", "nonsense")).status).toBe(401);
  expect(limit.counts.size).toBe(0);
});

describe("a counter that fails", () => {
  it("lets calls pass", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const ask = deployment({ USER_RATE: { limit: () => Promise.reject(new Error("down")) } });
    expect((await ask("/v1/users/alice/kv", await token("alice"))).status).toBe(200);
    expect(logged).toHaveBeenCalled();
    logged.mockRestore();
  });
});
