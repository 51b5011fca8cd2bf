// Every limit at its edge, and one past it.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { limits } from "../../../src/domain/limits.ts";
import { type Answer, call, newUser, pagesOf } from "../../call.ts";

const MiB = 1024 * 1024;
/** A text of exactly `bytes` bytes of UTF-8, most of them in characters of two. */
const wide = (bytes: number): string => "é".repeat(Math.floor(bytes / 2)) + (bytes % 2 === 1 ? "x" : "");
/** A JSON string of exactly `bytes` bytes, quotes included. */
const jsonString = (bytes: number): string => wide(bytes - 2);

const kv = (user: string, key: string, more: object = { method: "PUT", json: 1 }) =>
  call(`/v1/users/${encodeURIComponent(user)}/kv/${encodeURIComponent(key)}`, more);
const remember = (memory: object) => call(`/v1/users/${newUser()}/memories`, { json: memory });
const recall = (query: object) => call(`/v1/users/${newUser()}/recall`, { json: query });
async function append(messages: unknown[]): Promise<Answer> {
  const { id } = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  return call(`/v1/threads/${id}/messages`, { json: { messages } });
}
const message = (bytes: number) => {
  const around = JSON.stringify({ role: "user", content: "" }).length;
  return { role: "user", content: wide(bytes - around) };
};
/** The id of a tool call that a conversation waits for, as long as it may be. */
const CALL = wide(256);
/** Appends to a conversation that waits for this call, with approvals. */
async function appendApproved(approvedToolCallIds: string[]): Promise<Answer> {
  const { id } = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  const asked = { role: "assistant", content: "", toolCalls: [{ id: CALL, name: "f", arguments: {} }] };
  await call(`/v1/threads/${id}/messages`, { json: { messages: [asked] } });
  return call(`/v1/threads/${id}/messages`, {
    json: { messages: [asked], validate: "strict", approvedToolCallIds },
  });
}
const HOUR = 3_600_000;
const lease = (json: object) => call(`/v1/cache/${crypto.randomUUID()}/lease`, { json });
async function getCached(query: string): Promise<Answer> {
  const path = `/v1/cache/${crypto.randomUUID()}`;
  await call(path, { method: "PUT", json: 1 });
  return call(`${path}?${query}`);
}
const resolve = (more: object) =>
  call("/v1/prompt-cache/resolve", { json: { provider: "openai", model: "m", hash: "h", ...more } });
const report = (cachedInputTokens: number) =>
  call("/v1/prompt-cache/report", {
    json: { provider: "openai", model: "m", cachedInputTokens, uncachedInputTokens: 0 },
  });
const tags = (n: number) => Array.from({ length: n }, (_, i) => `tag ${i}`);
const ofBytes = (bytes: number) => ({ a: jsonString(bytes - '{"a":}'.length) });

type Limit = {
  code: string;
  status: number;
  path: string;
  at: () => Promise<Answer>;
  past: () => Promise<Answer>;
};

describe.each<Limit>([
  {
    code: "limit_exceeded",
    status: 400,
    path: "path.user",
    at: () => kv(wide(256), "k"),
    past: () => kv(wide(257), "k"),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "path.key",
    at: () => kv(newUser(), wide(1024)),
    past: () => kv(newUser(), wide(1025)),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "query.ttlMs",
    at: () => call(`/v1/users/u/kv/k?ttlMs=${limits.ttlMs}`, { method: "PUT", json: 1 }),
    past: () => call(`/v1/users/u/kv/k?ttlMs=${limits.ttlMs + 1}`, { method: "PUT", json: 1 }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.messages",
    at: () => append(Array.from({ length: 1000 }, () => message(40))),
    past: () => append(Array.from({ length: 1001 }, () => message(40))),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.messages[0].role",
    at: () => append([{ role: "x".repeat(64), content: "x" }]),
    past: () => append([{ role: "x".repeat(65), content: "x" }]),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.approvedToolCallIds",
    at: () => appendApproved(Array.from({ length: 1000 }, () => CALL)),
    past: () => appendApproved(Array.from({ length: 1001 }, () => CALL)),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.approvedToolCallIds[0]",
    at: () => appendApproved([CALL]),
    past: () => appendApproved([`${CALL}x`]),
  },
  {
    code: "value_too_large",
    status: 413,
    path: "body.messages[0]",
    at: () => append([message(8 * MiB)]),
    past: () => append([message(8 * MiB + 1)]),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.text",
    at: () => remember({ text: wide(32 * 1024) }),
    past: () => remember({ text: wide(32 * 1024 + 1) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.tags",
    at: () => remember({ text: "x", tags: tags(32) }),
    past: () => remember({ text: "x", tags: tags(33) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.tags[0]",
    at: () => remember({ text: "x", tags: [wide(64)] }),
    past: () => remember({ text: "x", tags: [wide(65)] }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.metadata",
    at: () => remember({ text: "x", metadata: ofBytes(10 * 1024) }),
    past: () => remember({ text: "x", metadata: ofBytes(10 * 1024 + 1) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.query",
    at: () => recall({ query: wide(256 * 1024) }),
    past: () => recall({ query: wide(256 * 1024 + 1) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.title",
    at: () => call(`/v1/users/${newUser()}/threads`, { json: { title: wide(1024) } }),
    past: () => call(`/v1/users/${newUser()}/threads`, { json: { title: wide(1025) } }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.k",
    at: () => recall({ query: "x", k: 100 }),
    past: () => recall({ query: "x", k: 101 }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "query.limit",
    at: () => call("/v1/users/u/kv?limit=1000"),
    past: () => call("/v1/users/u/kv?limit=1001"),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "header.Cairn-Namespace",
    at: () => call("/v1/prompt-cache/stats", { headers: { "Cairn-Namespace": "x".repeat(256) } }),
    past: () => call("/v1/prompt-cache/stats", { headers: { "Cairn-Namespace": "x".repeat(257) } }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.leaseMs",
    at: () => lease({ leaseMs: 600_000 }),
    past: () => lease({ leaseMs: 600_001 }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.waitMs",
    at: () => lease({ leaseMs: 1, waitMs: 60_000 }),
    past: () => lease({ leaseMs: 1, waitMs: 60_001 }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "query.lease",
    at: () => getCached("lease=600000"),
    past: () => getCached("lease=600001"),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "query.wait",
    at: () => getCached("lease=1&wait=60000"),
    past: () => getCached("lease=1&wait=60001"),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.model",
    at: () => resolve({ provider: "google", model: wide(256) }),
    past: () => resolve({ model: wide(257) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.hash",
    at: () => resolve({ provider: "google", hash: "f".repeat(128) }),
    past: () => resolve({ hash: "f".repeat(129) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.regions",
    at: () => resolve({ hash: undefined, regions: tags(1000) }),
    past: () => resolve({ hash: undefined, regions: tags(1001) }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.ttl",
    at: () => resolve({ ttl: `${limits.ttlMs / HOUR}h` }),
    past: () => resolve({ ttl: `${limits.ttlMs / 1000 + 1}s` }),
  },
  {
    code: "limit_exceeded",
    status: 400,
    path: "body.cachedInputTokens",
    at: () => report(1_000_000_000),
    past: () => report(1_000_000_001),
  },
])("$code of $path", ({ code, status, path, at, past }) => {
  it("is not said at the limit", async () => {
    expect((await at()).status).toBeLessThan(300);
  });

  it("is said one past it, with the field", async () => {
    const answer = await past();
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe(code);
    expect(answer.body.error.details[0].path).toBe(path);
  });
});

it.each(["/v1/users/u/kv/k", "/v1/cache/k"])("%s takes a value of 1 MiB, and no byte more", async (path) => {
  const put = (bytes: number) => call(path, { method: "PUT", json: jsonString(bytes) });
  expect((await put(MiB)).status).toBe(200);
  expect((await call(path)).body).toBe(jsonString(MiB));
  const past = await put(MiB + 1);
  expect(past.status).toBe(413);
  expect(past.body.error.code).toBe("value_too_large");
});

it("appends 16 MiB in one call, and gives all of it back in pages", async () => {
  const { id } = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  const messages = [message(8 * MiB), message(100), message(8 * MiB - 100)];
  expect((await call(`/v1/threads/${id}/messages`, { json: { messages } })).status).toBe(201);
  const read: unknown[] = [];
  let pages = 0;
  for await (const { items } of pagesOf(`/v1/threads/${id}/messages?order=oldest`)) {
    read.push(...items.map((item: { message: unknown }) => item.message));
    pages++;
  }
  expect(read).toEqual(messages);
  expect(pages).toBeGreaterThan(1);
});

it("cuts a page of entries or memories short rather than answer with all of many large ones", async () => {
  const user = newUser();
  for (let i = 0; i < 10; i++)
    await call(`/v1/users/${user}/kv/${i}`, { method: "PUT", json: jsonString(MiB) });
  const entries = (await call(`/v1/users/${user}/kv?values=true&limit=1000`)).body;
  expect(entries.items).toHaveLength(8);
  expect((await call(`/v1/users/${user}/kv?values=true&cursor=${entries.cursor}`)).body.items).toHaveLength(
    2,
  );
  const hash = await userHash(user);
  const text = "x".repeat(32 * 1024);
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
     INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, trust, dedupe_key, created_at, updated_at,
       valid_from, recorded_at)
     SELECT ?, printf('m%04d', i), i, ?, 'fact', 'active', ?, 'user', i, i, i, i, i FROM n`,
  )
    .bind(hash, user, text)
    .run();
  const found: string[] = [];
  for await (const page of pagesOf(`/v1/users/${user}/memories?limit=1000`)) {
    expect(JSON.stringify(page).length).toBeLessThan(16 * MiB);
    found.push(...page.items.map((memory: { id: string }) => memory.id));
  }
  expect(found).toEqual(Array.from({ length: 600 }, (_, i) => `m${String(600 - i).padStart(4, "0")}`));
});

it("refuses metadata that are nested too deeply, before anything is stored", async () => {
  const user = newUser();
  const nested = (levels: number) => `${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}`;
  const put = (levels: number, path: string, more: string) =>
    call(`/v1/users/${user}/${path}`, { raw: `{${more}"metadata":{"a":${nested(levels)}}}` });
  for (const [path, more] of [
    ["memories", '"text":"x",'],
    ["threads", ""],
  ] as const) {
    expect((await put(64, path, more)).status).toBe(201);
    const past = await put(65, path, more);
    expect(past.status).toBe(400);
    expect(past.body.error.details[0].path).toBe("body.metadata");
  }
});

it("names the code of a tag that is too long in a query too", async () => {
  const answer = await call(`/v1/users/u/memories?tag=a&tag=${wide(65)}`);
  expect(answer.body.error).toMatchObject({ code: "limit_exceeded", details: [{ path: "query.tag[1]" }] });
});

it.each(["0", "-1", "1.5", "x", ""])("refuses a page of %s", async (limit) => {
  for (const path of ["/v1/users/u/kv", "/v1/users/u/threads", "/v1/users/u/memories"]) {
    const answer = await call(`${path}?limit=${limit}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("query.limit");
  }
});

it("refuses the user id that stands for all users", async () => {
  const answer = await call("/v1/users/*/kv");
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0]).toMatchObject({
    path: "path.user",
    message: expect.stringContaining("reserved"),
  });
});

it("refuses a lone surrogate, which UTF-8 would turn into another character", async () => {
  const answer = await remember({ text: "x", tags: ["\ud800"] });
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].message).toContain("surrogate");
});
