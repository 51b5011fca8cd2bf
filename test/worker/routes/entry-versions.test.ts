// Versions and conditions, batches, deletion by prefix, counts, sliding expiry, idempotency.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { endOf, keysUnder } from "../../../durable-objects/storage/key-range.ts";
import type { SqlPart } from "../../../durable-objects/storage/sql.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { limits } from "../../../src/domain/limits.ts";
import { call, newUser, pagesOf, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { anyCharacter } from "../../any-character.ts";

afterEach(restore);

const at = (user: string, key: string) => `/v1/users/${user}/kv/${encodeURIComponent(key)}`;
const put = (user: string, key: string, value: unknown, headers: Record<string, string> = {}, query = "") =>
  call(at(user, key) + query, { method: "PUT", json: value, headers });
const remove = (user: string, key: string, headers: Record<string, string>) =>
  call(at(user, key), { method: "DELETE", headers });
const get = (user: string, key: string, headers: Record<string, string> = {}) =>
  call(at(user, key), { headers });
const batch = (user: string, operations: unknown[], headers: Record<string, string> = {}) =>
  call(`/v1/users/${user}/kv/batch`, { json: { operations }, headers });

describe("conditions", () => {
  it("let a writer replace only the version that it has read", async () => {
    const user = newUser();
    const first = (await put(user, "k", 1)).headers.get("ETag") ?? "";
    const second = await put(user, "k", 2, { "If-Match": first });
    expect(second.status).toBe(200);
    expect(second.headers.get("ETag")).not.toBe(first);
    const late = await put(user, "k", 3, { "If-Match": first });
    expect(late.status).toBe(412);
    expect(late.body.error.code).toBe("precondition_failed");
    expect(late.body.error.message).toContain(second.body.version);
    expect((await get(user, "k")).body).toBe(2);
    expect((await put(user, "k", 4, { "If-Match": `"other", ${second.headers.get("ETag")}` })).status).toBe(
      200,
    );
  });

  it("let a writer create only, also where the entry before has expired", async () => {
    const user = newUser();
    const create = { "If-None-Match": "*" };
    expect((await put(user, "k", 1, create, "?ttlMs=1000")).status).toBe(200);
    expect((await put(user, "k", 2, create)).status).toBe(412);
    control.clockAhead = 2_000;
    expect((await put(user, "k", 3, create)).status).toBe(200);
  });

  it("let exactly one of many creators win", async () => {
    const user = newUser();
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, i) => put(user, "k", i, { "If-None-Match": "*" })),
    );
    expect(tries.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await get(user, "k")).body).toBe(tries.findIndex(({ status }) => status === 200));
  });

  it("hold for deletes too", async () => {
    const user = newUser();
    const { version } = (await put(user, "k", 1)).body;
    expect((await remove(user, "k", { "If-Match": '"other"' })).status).toBe(412);
    expect((await remove(user, "k", { "If-Match": `"${version}"` })).status).toBe(204);
    expect((await remove(user, "k", { "If-Match": "*" })).status).toBe(412);
    expect((await put(user, "k", 1, { "If-Match": "*" })).status).toBe(412);
  });

  it("spare a reader the value that it has", async () => {
    const user = newUser();
    const tag = (await put(user, "k", 1)).headers.get("ETag") ?? "";
    const same = await get(user, "k", { "If-None-Match": tag });
    expect(same.status).toBe(304);
    expect(same.text).toBe("");
    expect(same.headers.get("ETag")).toBe(tag);
    expect((await get(user, "k", { "If-None-Match": '"other"' })).body).toBe(1);
    expect((await get(user, "k", { "If-Match": '"other"' })).status).toBe(412);
  });

  it.each(["v1", `"v1" "v2"`, `W/v1`])("refuse the header %j", async (value) => {
    const answer = await put(newUser(), "k", 1, { "If-Match": value });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("header.If-Match");
  });

  it("take a weak version for a read, as proxies make them", async () => {
    const user = newUser();
    const weak = `W/${(await put(user, "k", 1)).headers.get("ETag")}`;
    expect((await get(user, "k", { "If-None-Match": weak })).status).toBe(304);
  });

  it("never see a version twice, not even after a delete", async () => {
    const user = newUser();
    const versions = new Set<string>();
    for (let i = 0; i < 10; i++) {
      versions.add((await put(user, "k", i)).body.version);
      if (i % 2 === 0) await remove(user, "k", {});
    }
    expect(versions.size).toBe(10);
  });

  it("see the same version where a put changed nothing", async () => {
    const user = newUser();
    const { version } = (await put(user, "k", { a: 1 })).body;
    const updatedAt = async () => (await call(`/v1/users/${user}/kv`)).body.items[0].updatedAt;
    const before = await updatedAt();
    control.clockAt = clock() + 60_000;
    expect((await put(user, "k", { a: 1 })).body).toEqual({ version });
    expect(await updatedAt()).toBe(before);
    const changed = [
      await put(user, "k", { a: 2 }),
      await put(user, "k", { a: 2 }, {}, "?ttlMs=60000"),
      await put(user, "k", { a: 2 }, {}, "?ttlMs=60000"),
      await put(user, "k", { a: 2 }),
    ];
    expect(new Set([version, ...changed.map(({ body }) => body.version)]).size).toBe(5);
  });

  it("let one of two conditional puts succeed, though neither changes the value", async () => {
    const user = newUser();
    const { version } = (await put(user, "k", 1)).body;
    const both = await Promise.all([1, 2].map(() => put(user, "k", 1, { "If-Match": `"${version}"` })));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 412]));
  });
});

describe("an expiry that reads renew", () => {
  it("lasts as long as it is read, and no longer", async () => {
    const user = newUser();
    const start = clock();
    control.clockAt = start;
    await put(user, "k", 1, {}, "?ttlMs=1000&refreshOnRead=true");
    for (let i = 1; i <= 5; i++) {
      control.clockAt = start + i * 900;
      expect((await get(user, "k")).body).toBe(1);
    }
    control.clockAt = start + 5 * 900 + 1000;
    expect((await call(`/v1/users/${user}/kv`)).body.items).toHaveLength(1);
    control.clockAt += 1;
    expect((await get(user, "k")).status).toBe(404);
  });

  it("needs a time to live", async () => {
    const answer = await put(newUser(), "k", 1, {}, "?refreshOnRead=true");
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("query.refreshOnRead");
  });
});

describe("the last millisecond", () => {
  it("is alive in every read, and the next is gone from every read", async () => {
    const user = newUser();
    const start = clock();
    const alive = async () => [
      (await get(user, "k")).status === 200,
      (await call(`/v1/users/${user}/kv`)).body.items.length === 1,
      (await call(`/v1/users/${user}/kv?count=true`)).body.count === 1,
      (await batch(user, [{ op: "get", key: "k" }])).body.results[0].found,
    ];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 10_000 }), async (ttlMs) => {
        control.clockAt = start;
        await put(user, "k", 1, {}, `?ttlMs=${ttlMs}`);
        control.clockAt = start + ttlMs;
        expect(await alive()).toEqual([true, true, true, true]);
        control.clockAt = start + ttlMs + 1;
        expect(await alive()).toEqual([false, false, false, false]);
      }),
      { numRuns: 20 },
    );
  });
});

describe("a lone dot", () => {
  it("is a key like any other, though URL parsers resolve it away", async () => {
    const user = newUser();
    expect((await put(user, ".", "dot")).status).toBe(200);
    expect((await get(user, ".")).body).toBe("dot");
    expect((await call(`/v1/users/${user}/kv/%2e`)).body).toBe("dot");
    expect((await call(`/v1/users/${user}/kv`)).body.items).toMatchObject([{ key: "." }]);
    expect((await remove(user, ".", {})).status).toBe(204);
    const shared = crypto.randomUUID();
    await call("/v1/cache/.", { method: "PUT", json: shared });
    expect((await call("/v1/cache/.")).body).toBe(shared);
  });

  it("twice is a key of batches only, and in a path deletes nothing", async () => {
    const user = newUser();
    await batch(user, [{ op: "set", key: "..", value: 1 }]);
    expect((await call(at(user, ".."), { method: "DELETE" })).status).toBe(404);
    expect((await batch(user, [{ op: "get", key: ".." }])).body.results[0]).toMatchObject({
      found: true,
      value: 1,
    });
  });
});

it("reads of the store what the page needs, wherever in the store it lies", async () => {
  const user = newUser();
  const keys = Array.from({ length: 900 }, (_, i) => `${i % 3}/${String(i).padStart(4, "0")}`);
  await batch(
    user,
    keys.map((key) => ({ op: "set", key, value: 1 })),
  );
  const rowsRead = async (columns: string, { sql, bindings }: SqlPart, order = "") =>
    runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) => {
      const cursor = storage.sql.exec(`SELECT ${columns} FROM entries WHERE ${sql} ${order}`, ...bindings);
      cursor.toArray();
      return cursor.rowsRead;
    });
  expect(await rowsRead("key", keysUnder("1/01"), "ORDER BY key")).toBeLessThan(40);
  expect(await rowsRead("COUNT(*)", keysUnder("1/01"))).toBeLessThan(40);
  expect(await rowsRead("key", keysUnder("2/", "2/0890"), "ORDER BY key")).toBeLessThan(10);
});

describe("a prefix", () => {
  it("is a range that holds exactly the keys that begin with it", () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 6 }).filter((one) => one.isWellFormed());
    const bytes = (one: string) => new TextEncoder().encode(one);
    const before = (a: string, b: string) => {
      const [x, y] = [bytes(a), bytes(b)];
      const i = x.findIndex((byte, at_) => byte !== y[at_]);
      return i === -1 ? x.length < y.length : (x[i] ?? 0) < (y[i] ?? -1);
    };
    fc.assert(
      fc.property(text, text, fc.boolean(), (prefix, other, extended) => {
        const key = extended ? prefix + other : other;
        const end = endOf(prefix);
        const inside = !before(key, prefix) && (end === null || before(key, end));
        expect(inside).toBe(key.startsWith(prefix));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(["\u{10ffff}", "a\u{10ffff}", "\ud7ff", "a%", "_"])(
    "of %j deletes and counts what it holds",
    async (prefix) => {
      const user = newUser();
      const under = [prefix, `${prefix}x`, `${prefix}\u{10ffff}`];
      const others = ["\u0001", "a", "b", "z", "\ue000"].filter((key) => !key.startsWith(prefix));
      await batch(
        user,
        [...under, ...others].map((key) => ({ op: "set", key, value: 1 })),
      );
      const list = `/v1/users/${user}/kv?prefix=${encodeURIComponent(prefix)}`;
      expect((await call(`${list}&count=true&limit=1`)).body.count).toBe(3);
      expect((await call(list, { method: "DELETE" })).body).toEqual({ deleted: 3 });
      const left = (await call(`/v1/users/${user}/kv?count=true`)).body;
      expect(left.count).toBe(others.length);
    },
  );

  it("has to be said, to delete by it; the empty one is everything", async () => {
    const user = newUser();
    await put(user, "k", 1);
    const unsaid = await call(`/v1/users/${user}/kv`, { method: "DELETE" });
    expect(unsaid.status).toBe(400);
    expect(unsaid.body.error.details[0].path).toBe("query.prefix");
    expect((await call(`/v1/users/${user}/kv?prefix=`, { method: "DELETE" })).body).toEqual({ deleted: 1 });
  });

  it("lists completely, without repetition, while keys come and go", async () => {
    const user = newUser();
    const kept = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(2, "0")}`);
    await batch(
      user,
      kept.map((key) => ({ op: "set", key, value: 1 })),
    );
    const found: string[] = [];
    let page = 0;
    for await (const { items } of pagesOf(`/v1/users/${user}/kv?prefix=k&limit=7`)) {
      found.push(...items.map(({ key }: { key: string }) => key));
      await batch(user, [
        { op: "set", key: `k${page}-new`, value: 1 },
        { op: "delete", key: `k${page - 1}-new` },
      ]);
      page++;
    }
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((key) => !key.endsWith("-new"))).toEqual(kept);
  });
});

describe("a batch", () => {
  it("gets, sets and deletes in order, and tells what each did", async () => {
    const user = newUser();
    const { body, status } = await batch(user, [
      { op: "get", key: "a" },
      { op: "set", key: "a", value: { n: 0 }, ttlMs: 60_000 },
      { op: "get", key: "a" },
      { op: "delete", key: "a" },
      { op: "delete", key: "a" },
      { op: "set", key: "b", value: null },
      { op: "get", key: "b" },
    ]);
    expect(status).toBe(200);
    const version = expect.any(String);
    const expiresAt = expect.any(Number);
    expect(body.results).toEqual([
      { key: "a", found: false },
      { key: "a", version, expiresAt },
      { key: "a", found: true, version, expiresAt, value: { n: 0 } },
      { key: "a", deleted: true },
      { key: "a", deleted: false },
      { key: "b", version },
      { key: "b", found: true, version, value: null },
    ]);
  });

  it("keeps the bytes of its values", async () => {
    const user = newUser();
    const raw =
      '{"operations":[{"op":"get","key":"a"},{"value": {"n":12345678901234567890, "m":1.0} ,"key":"a","op":"set"}]}';
    await call(`/v1/users/${user}/kv/batch`, { raw });
    expect((await get(user, "a")).text).toBe('{"n":12345678901234567890, "m":1.0}');
  });

  it("keeps 0, '', false and null apart from misses", async () => {
    const user = newUser();
    const values = [0, "", false, null, [], {}];
    await batch(
      user,
      values.map((value, i) => ({ op: "set", key: `${i}`, value })),
    );
    const { results } = (
      await batch(
        user,
        [...values.keys(), 99].map((i) => ({ op: "get", key: `${i}` })),
      )
    ).body;
    expect(results.map((result: { found: boolean }) => result.found)).toEqual([
      ...values.map(() => true),
      false,
    ]);
    expect(results.slice(0, -1).map((result: { value: unknown }) => result.value)).toEqual(values);
  });

  it("does all or nothing, and names the operation that could not be done", async () => {
    const user = newUser();
    const { version } = (await put(user, "a", 1)).body;
    const failed = await batch(user, [
      { op: "set", key: "a", value: 2, ifVersion: version },
      { op: "set", key: "b", value: 2 },
      { op: "set", key: "a", value: 3, ifVersion: version },
    ]);
    expect(failed.status).toBe(412);
    expect(failed.body.error.details[0].path).toBe("body.operations[2]");
    expect((await get(user, "a")).body).toBe(1);
    expect((await get(user, "b")).status).toBe(404);
    expect((await batch(user, [{ op: "set", key: "a", value: 9, ifVersion: null }])).status).toBe(412);
    expect((await batch(user, [{ op: "delete", key: "a", ifVersion: version }])).body.results).toEqual([
      { key: "a", deleted: true },
    ]);
  });

  it("needs the scope write only if it writes", async () => {
    const user = newUser();
    const reader = await token(user, ["read"]);
    const send = (operations: unknown[]) =>
      call(`/v1/users/${user}/kv/batch`, { json: { operations }, token: reader });
    expect((await send([{ op: "get", key: "a" }])).status).toBe(200);
    expect(
      (
        await send([
          { op: "get", key: "a" },
          { op: "delete", key: "a" },
        ])
      ).status,
    ).toBe(403);
  });

  it.each([
    [{ op: "put", key: "a" }, "body.operations[0].op"],
    [{ op: "get" }, "body.operations[0].key"],
    [{ op: "get", key: "" }, "body.operations[0].key"],
    [{ op: "set", key: "a" }, "body.operations[0].value"],
    [{ op: "set", key: "a", value: 1, ttlMs: -1 }, "body.operations[0].ttlMs"],
    [{ op: "set", key: "a", value: 1, ttlMs: 1.5 }, "body.operations[0].ttlMs"],
    [{ op: "set", key: "a", value: 1, ttl: 1 }, "body.operations[0].ttl"],
    [{ op: "set", key: "a", value: 1, refreshOnRead: true }, "body.operations[0].refreshOnRead"],
    [{ op: "set", key: "\ud800", value: 1 }, "body.operations[0].key"],
  ])("refuses %j and names the field", async (operation, path) => {
    const answer = await batch(newUser(), [operation]);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it("takes 1,000 operations and 16 MiB of values, and not one more", async () => {
    const user = newUser();
    const sets = (n: number) => Array.from({ length: n }, (_, i) => ({ op: "set", key: `${i}`, value: i }));
    expect((await batch(user, sets(limits.operationsPerBatch))).status).toBe(200);
    expect((await batch(user, sets(limits.operationsPerBatch + 1))).body.error.code).toBe("limit_exceeded");
    const large = "x".repeat(limits.value - 2);
    await batch(
      user,
      Array.from({ length: 15 }, (_, i) => ({ op: "set", key: `large ${i}`, value: large })),
    );
    for (let i = 15; i < 17; i++) await put(user, `large ${i}`, large);
    const gets = (n: number) => Array.from({ length: n }, (_, i) => ({ op: "get", key: `large ${i}` }));
    expect((await batch(user, gets(16))).body.results).toHaveLength(16);
    const past = await batch(user, gets(17));
    expect(past.status).toBe(413);
    expect(past.body.error).toMatchObject({
      code: "batch_too_large",
      details: [{ path: "body.operations[16]" }],
    });
    const value = await batch(user, [{ op: "set", key: "k", value: `${large}x` }]);
    expect(value.status).toBe(413);
    expect(value.body.error.code).toBe("value_too_large");
  });
});

describe("an idempotency key", () => {
  it("gives the same request the same answer, and does it once", async () => {
    const user = newUser();
    const operations = [{ op: "set", key: "a", value: 1 }];
    const headers = { "Idempotency-Key": "once" };
    const first = await batch(user, operations, headers);
    await put(user, "a", 2);
    const again = await batch(user, operations, headers);
    expect(again.body).toEqual(first.body);
    expect((await get(user, "a")).body).toBe(2);
    control.clockAhead = 24 * 3_600_000 + 1_000;
    expect((await batch(user, operations, headers)).body).not.toEqual(first.body);
    expect((await get(user, "a")).body).toBe(1);
  });

  it("is another's when the request is another, and is free again after a failure", async () => {
    const user = newUser();
    const headers = { "Idempotency-Key": "k" };
    const failed = await batch(user, [{ op: "delete", key: "a", ifVersion: "none" }], headers);
    expect(failed.status).toBe(412);
    expect((await batch(user, [{ op: "set", key: "a", value: 1 }], headers)).status).toBe(200);
    const conflict = await batch(user, [{ op: "set", key: "a", value: 2 }], headers);
    expect(conflict.status).toBe(409);
    expect(conflict.body.error.code).toBe("idempotency_conflict");
    expect((await batch(newUser(), [{ op: "set", key: "a", value: 2 }], headers)).status).toBe(200);
  });

  it.each(["two words", "x".repeat(256)])("is refused if it is %j", async (key) => {
    const answer = await batch(newUser(), [{ op: "set", key: "a", value: 1 }], { "Idempotency-Key": key });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("header.Idempotency-Key");
  });

  it("does not go with a batch that reads", async () => {
    const answer = await batch(newUser(), [{ op: "get", key: "a" }], { "Idempotency-Key": "k" });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("header.Idempotency-Key");
  });
});
