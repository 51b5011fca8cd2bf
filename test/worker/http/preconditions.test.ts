// Conditional headers: honoured where the API describes them, refused everywhere else, and weak as Cloudflare's edge makes
// the ETags of the answers that it compresses.
import { describe, expect, it } from "vitest";
import { PRECONDITIONS } from "../../../src/worker/http/conditions.ts";
import { type Answer, call, newUser } from "../../call.ts";
import { operations, pathOf } from "../../operations.ts";

const THREAD = `${"A".repeat(22)}.019a0000-0000-7000-8000-000000000000`;
const TIME = "Sun, 06 Nov 1994 08:49:37 GMT";
const valueOf = (header: string) => (header.endsWith("Since") ? TIME : '"1"');
const refusal = (header: string) => ({
  code: "precondition_unsupported",
  details: [{ path: `header.${header}`, message: "is not supported here" }],
});

const all = await operations();

it.each(all.filter(({ scope }) => scope === undefined))(
  "$method $path, which needs no token, ignores conditions",
  async ({ method, path }) => {
    for (const header of PRECONDITIONS) {
      const answer = await call(path, { method, token: null, headers: { [header]: valueOf(header) } });
      expect(answer.status).toBe(200);
    }
  },
);

it.each(all.filter(({ scope }) => scope !== undefined))(
  "$method $path refuses each condition that it does not describe",
  async (operation) => {
    const { method, hasBody, headers } = operation;
    const path = pathOf(operation, { user: newUser(), threadId: THREAD });
    for (const header of PRECONDITIONS.filter((one) => !headers.includes(one.toLowerCase()))) {
      const answer = await call(path, {
        method,
        headers: { [header]: valueOf(header) },
        ...(hasBody && { json: {} }),
      });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject(refusal(header));
    }
  },
);

it.each(PRECONDITIONS)("MCP refuses %s", async (header) => {
  const answer = await call("/mcp", { json: {}, headers: { [header]: valueOf(header) } });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject(refusal(header));
});

it("the pages for browsers are served to a browser that asks whether they changed", async () => {
  for (const path of ["/docs", "/docs/swagger-ui.css", "/openapi.json"]) {
    const { headers } = await call(path, { token: null });
    const again = await call(path, {
      token: null,
      headers: { "If-None-Match": headers.get("ETag") ?? '"any"', "If-Modified-Since": TIME },
    });
    expect([200, 304]).toContain(again.status);
  }
});

/** The ETag as Cloudflare's edge gives it to a caller whose answer it compressed. */
const weakTag = ({ headers }: Answer) => `W/${headers.get("ETag")}`;
const ifMatch = (tag: string) => ({ headers: { "If-Match": tag } });

describe("a weak version, as Cloudflare's edge makes of ours", () => {
  it.each([
    ["an entry", () => `/v1/users/${newUser()}/kv/k`],
    ["a registry entry", () => `/v1/cache/${crypto.randomUUID()}`],
  ])("is compared for a write, a read and a delete of %s", async (_, at) => {
    const path = at();
    const first = weakTag(await call(path, { method: "PUT", json: 1 }));
    const second = await call(path, { method: "PUT", json: 2, ...ifMatch(first) });
    expect(second.status).toBe(200);
    expect((await call(path, { method: "PUT", json: 3, ...ifMatch(first) })).status).toBe(412);
    expect((await call(path, ifMatch(first))).status).toBe(412);
    expect((await call(path, { method: "DELETE", ...ifMatch(first) })).status).toBe(412);
    const either = `${first}, ${weakTag(second)}`;
    expect((await call(path, ifMatch(either))).body).toBe(2);
    expect((await call(path, { method: "DELETE", ...ifMatch(either) })).status).toBe(204);
  });

  it("is compared for every change of a memory", async () => {
    const memories = `/v1/users/${newUser()}/memories`;
    const fact = (object: string) => ({ subject: "Alice", predicate: "lives in", object });
    const begun = await call(memories, { json: fact("Lisbon") });
    const path = `${memories}/${begun.body.id}`;
    const first = weakTag(begun);
    const changes = [
      (tag: string) => call(path, { method: "PATCH", json: { object: "Braga" }, ...ifMatch(tag) }),
      (tag: string) => call(`${path}/restore`, { json: { version: begun.body.version }, ...ifMatch(tag) }),
      (tag: string) => call(memories, { json: fact("Porto"), ...ifMatch(tag) }),
      (tag: string) => call(`${path}/release`, { json: {}, ...ifMatch(tag) }),
    ];
    let current = first;
    for (const change of changes) {
      const changed = await change(current);
      expect(changed.status).toBe(200);
      current = weakTag(changed);
      expect((await change(first)).status).toBe(412);
    }
    expect((await call(path, ifMatch(current))).body.object).toBe("Porto");
    expect((await call(path, { method: "DELETE", ...ifMatch(first) })).status).toBe(412);
    expect((await call(path, { method: "DELETE", ...ifMatch(current) })).status).toBe(204);
  });
});

describe("a condition on a memory that is remembered", () => {
  const newMemories = () => `/v1/users/${newUser()}/memories`;
  const inPorto = { subject: "Alice", predicate: "lives in", object: "Porto" };
  const same = {
    "a fact": [{ ...inPorto, object: "Lisbon" }, inPorto],
    "a topic": [
      { key: "home", text: "Alice lives in Lisbon" },
      { key: "home", text: "Alice lives in Porto" },
    ],
    "a procedure": [
      { kind: "procedure", title: "deploy", text: "push" },
      { kind: "procedure", title: "deploy", text: "merge" },
    ],
    "an externalId": [
      { externalId: "1", text: "push" },
      { externalId: "1", text: "merge" },
    ],
    // A repeat keeps the first spelling.
    "a text": [
      { text: "Alice likes tea" },
      { text: "alice likes  tea", tags: ["taste"] },
      { text: "Alice likes tea", tags: ["taste"] },
    ],
  };

  it.each(Object.entries(same))(
    "is about the memory of the same name: %s",
    async (_, [old, changed, kept = changed]) => {
      const memories = newMemories();
      const none = await call(memories, { json: changed, ...ifMatch('"1"') });
      expect(none.status).toBe(412);
      expect((await call(memories)).body.items).toEqual([]);
      const create = { headers: { "If-None-Match": "*" } };
      const first = await call(memories, { json: old, ...create });
      expect(first.status).toBe(201);
      const refused = [
        await call(memories, { json: changed, ...create }),
        await call(memories, { json: changed, ...ifMatch('"999"') }),
      ];
      for (const { status, body } of refused) {
        expect(status).toBe(412);
        expect(body.error).toMatchObject({
          code: "precondition_failed",
          message: expect.stringContaining(`"${first.body.version}"`),
        });
      }
      expect((await call(memories)).body.items).toMatchObject([{ version: first.body.version }]);
      const second = await call(memories, { json: changed, ...ifMatch(first.headers.get("ETag") ?? "") });
      expect(second.status).toBe(200);
      expect(second.body).toMatchObject({ id: first.body.id, ...kept });
      const late = await call(memories, { json: old, ...ifMatch(first.headers.get("ETag") ?? "") });
      expect(late.status).toBe(412);
    },
  );

  it("lets exactly one of many writers supersede the version that all have read", async () => {
    const memories = newMemories();
    const tag = (await call(memories, { json: inPorto })).headers.get("ETag") ?? "";
    const tries = await Promise.all(
      Array.from({ length: 5 }, (_, i) =>
        call(memories, { json: { ...inPorto, object: `city ${i}` }, ...ifMatch(tag) }),
      ),
    );
    expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412]);
  });

  it("is per memory in a batch, which does all or nothing", async () => {
    const memories = newMemories();
    const { version } = (await call(memories, { json: inPorto })).body;
    const batch = (...ifVersions: (number | null)[]) =>
      call(`${memories}/batch`, {
        json: {
          memories: [
            { ...inPorto, object: "Braga", ifVersion: ifVersions[0] },
            { text: "Alice likes tea", ifVersion: ifVersions[1] },
          ],
        },
      });
    const stale = await batch(version + 1, null);
    expect(stale.status).toBe(412);
    expect(stale.body.error.details[0].path).toBe("body.memories[0].ifVersion");
    const missing = await batch(version, version);
    expect(missing.status).toBe(412);
    expect(missing.body.error.details[0].path).toBe("body.memories[1].ifVersion");
    expect((await call(memories)).body.items).toMatchObject([{ version }]);
    const done = await batch(version, null);
    expect(done.body.items).toMatchObject([
      { created: false, memory: { object: "Braga" } },
      { created: true },
    ]);
    expect((await batch(done.body.items[0].memory.version, null)).status).toBe(412);
  });

  it("is part of the request that an Idempotency-Key stands for", async () => {
    const memories = newMemories();
    const tag = (await call(memories, { json: inPorto })).headers.get("ETag") ?? "";
    const send = (condition: string) =>
      call(memories, {
        json: { ...inPorto, object: "Braga" },
        headers: { "If-Match": condition, "Idempotency-Key": "key" },
      });
    const first = await send(tag);
    expect(first.status).toBe(200);
    expect((await send(tag)).body.version).toBe(first.body.version);
    expect((await send(`"${first.body.version}"`)).body.error.code).toBe("idempotency_conflict");
  });
});

describe("a memory that is read", () => {
  it("is spared who has its version, and is kept by no browser", async () => {
    const memories = `/v1/users/${newUser()}/memories`;
    const { body } = await call(memories, { json: { text: "Alice likes tea" } });
    const path = `${memories}/${body.id}`;
    const read = await call(path);
    expect(read.headers.get("Cache-Control")).toBe("no-store");
    const same = await call(path, { headers: { "If-None-Match": weakTag(read) } });
    expect(same.status).toBe(304);
    expect(same.text).toBe("");
    expect(same.headers.get("ETag")).toBe(read.headers.get("ETag"));
    expect((await call(path, { headers: { "If-None-Match": '"0"' } })).status).toBe(200);
    expect((await call(path, ifMatch('"0"'))).status).toBe(412);
  });
});
