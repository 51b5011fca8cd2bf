// Erasing a user, a thread or a scope, as its caller sees it, and what is left in the stores.
import { runInDurableObject } from "cloudflare:test";
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import {
  eraseSome,
  eraseUser,
  erased,
  erasure,
  objectOf,
  ring,
  rowsOf,
  tablesOf,
} from "../../../erasure-calls.ts";
import { get, list, recallTexts, remember, remembered } from "../../../memory-calls.ts";
import { append, create, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { hash16 } from "../../../../src/domain/hash.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const LIKE = { subject: "I", predicate: "like", cardinality: "one" };

/** A user with something of everything. */
async function busyUser() {
  const user = newUser();
  const thread = await threadOf(user, ["I play the cello", "and the harp"]);
  await call(`/v1/threads/${thread.id}/compactions`, { json: { summary: "instruments", to: 1 } });
  await call(`/v1/users/${user}/kv/colour`, { method: "PUT", json: "green" });
  const memory = await remembered(user, { text: "I moved to Lisbon", scope: "home" });
  await remember(user, { ...LIKE, object: "tea" }, { "Idempotency-Key": "k" });
  return { user, thread, memory };
}

/** All that can be read of a user. */
async function reads(user: string, threadId: string, memoryId: string) {
  const at = `/v1/users/${user}`;
  return {
    memory: (await get(user, memoryId)).status,
    history: (await call(`${at}/memories/${memoryId}/history`)).status,
    memories: await list(user),
    recalled: await recallTexts(user, { query: "Lisbon cello tea green", k: 100 }),
    entry: (await call(`${at}/kv/colour`)).status,
    entries: (await call(`${at}/kv`)).body.items,
    threads: (await call(`${at}/threads`)).body.items,
    thread: (await call(`/v1/threads/${threadId}`)).status,
    messages: (await call(`/v1/threads/${threadId}/messages`)).status,
    compactions: (await call(`/v1/threads/${threadId}/compactions`)).status,
    catalogue: (await call("/v1/threads", { token: await token(user) })).body.items,
  };
}
const NOTHING = {
  memory: 404,
  history: 404,
  memories: [],
  recalled: [],
  entry: 404,
  entries: [],
  threads: [],
  thread: 404,
  messages: 404,
  compactions: 404,
  catalogue: [],
};

describe("DELETE /v1/users/:user", () => {
  it("answers 202 and shows nothing of the user from then on, before any alarm has rung", async () => {
    const { user, thread, memory } = await busyUser();
    const begun = await eraseUser(user);
    expect(begun.status).toBe(202);
    expect(begun.body).toMatchObject({ status: "running", of: { what: "user" } });
    expect(await reads(user, thread.id, memory.id)).toEqual(NOTHING);
    expect((await rowsOf(user)).memories).toBe(2);
  });

  it("empties every store, and tells what was in it", async () => {
    const { user } = await busyUser();
    const done = await erased(user, (await eraseUser(user)).body.id);
    expect(await rowsOf(user)).toEqual({ memories: 0, threads: 0, users: 0 });
    expect(await tablesOf(user)).toEqual({
      applied_migrations: expect.any(Number),
      memory_clock: 1,
      erasure_epoch: 1,
      index_state: 1,
      models: 1,
      free_pages: 1,
      word_merge: 1,
      entry_count: 1,
    });
    expect(done.steps.map(({ store, state, erased: counts }) => [store, state, counts])).toEqual([
      [
        "object",
        "done",
        expect.objectContaining({ threads: 1, messages: 2, compactions: 1, entries: 1, memoryVersions: 2 }),
      ],
      ["memories", "done", { rows: 2 }],
      ["threads", "done", { rows: 1 }],
      ["users", "done", { rows: 1 }],
      ["signIns", "done", { grants: 0, tokens: 0 }],
    ]);
  });

  it("makes tables, indexes and triggers anew as they were, and leaves none of what was put aside", async () => {
    const { user } = await busyUser();
    const schema = async () =>
      runInDurableObject(await objectOf(user), (_, { storage: { sql } }) =>
        sql
          .exec<{ type: string; name: string; tbl_name: string; sql: string }>(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE '_cf%' ORDER BY name",
          )
          .toArray(),
      );
    const before = await schema();
    const { id } = (await eraseUser(user)).body;
    const begun = (await schema()).filter(({ tbl_name: table }) => !table.startsWith("erased_"));
    expect(begun).toEqual(before);
    await erased(user, id);
    expect(await schema()).toEqual(before);
  });

  it("counts for quotas what is there from the 202 on, also while the rest is removed", async () => {
    const { user } = await busyUser();
    control.quotas = { entries: 1, memories: 1, threads: 1, bytes: null };
    const put = async (key: string) =>
      (await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 1 })).status;
    const tell = async (text: string) => (await remember(user, { text })).status;
    const begin = async () => (await call(`/v1/users/${user}/threads`, { json: {} })).status;
    expect([await put("b"), await tell("one"), await begin()]).toEqual([403, 403, 403]);
    const { id } = (await eraseUser(user)).body;
    expect([await put("b"), await tell("one"), await begin()]).toEqual([200, 201, 201]);
    await erased(user, id);
    expect([await put("c"), await tell("two"), await begin()]).toEqual([403, 403, 403]);
    await call(`/v1/users/${user}/kv/b`, { method: "DELETE" });
    expect(await put("c")).toBe(200);
  });

  it("finds by meaning, and with every filter, what is said after it", async () => {
    const { user } = await busyUser();
    await recallTexts(user, { query: "Lisbon", k: 100 });
    const { id } = (await eraseUser(user)).body;
    await remember(user, { text: "I moved to Porto", scope: "home" });
    await remember(user, { ...LIKE, object: "coffee" });
    const texts = ["I like coffee", "I moved to Porto"];
    control.clockAt = (control.clockAt ?? 0) + 1000;
    for (const more of [{}, { kinds: ["fact"] }, { asOf: control.clockAt }])
      expect((await recallTexts(user, { query: "what do I like?", k: 100, ...more })).toSorted()).toEqual(
        texts,
      );
    await erased(user, id);
    expect((await recallTexts(user, { query: "Lisbon cello tea", k: 100 })).toSorted()).toEqual(texts);
  });

  it("leaves no word of the user in the records, the receipt and the object", async () => {
    const { user } = await busyUser();
    const done = await erased(user, (await eraseUser(user)).body.id);
    const payload = new TextDecoder().decode(
      Uint8Array.from(
        atob((done.receipt?.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")),
        (one) => one.charCodeAt(0),
      ),
    );
    expect(JSON.stringify(done) + payload).not.toContain(user);
    expect(payload).toContain(await userHash(user));
  });

  it("signs a receipt that the public keys verify, and nothing that was changed", async () => {
    const user = newUser();
    const { id, receipt = "", requestedAt, finishedAt } = await erased(user, (await eraseUser(user)).body.id);
    const open = await call("/.well-known/jwks.json", { token: null });
    const keys = createLocalJWKSet(open.body);
    const { payload } = await compactVerify(receipt, keys);
    expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
      jti: id,
      sub: await userHash(user),
      of: { what: "user" },
      requestedAt,
      finishedAt,
      erased: expect.arrayContaining([{ store: "memories", counts: { rows: 0 } }]),
      statement: expect.arrayContaining([
        expect.stringContaining("30 days"),
        expect.stringContaining("Exports that the tenant made"),
      ]),
    });
    expect(decodeProtectedHeader(receipt).alg).toBe("EdDSA");
    expect(open.text).not.toContain('"d"');
    const [header, , signature] = receipt.split(".");
    const forged = `${header}.${btoa(JSON.stringify({ sub: "x" })).replaceAll("=", "")}.${signature}`;
    await expect(compactVerify(forged, keys)).rejects.toThrow("signature verification failed");
  });

  it("keeps what is written after the 202, and does not mix it with what was there", async () => {
    const { user, thread } = await busyUser();
    const { body } = await eraseUser(user);
    // The same fact has the same id as the one that is being erased.
    const tea = await remember(user, { ...LIKE, object: "coffee" });
    expect(tea.status).toBe(201);
    const fresh = await threadOf(user, ["hello again"]);
    await call(`/v1/users/${user}/kv/colour`, { method: "PUT", json: "blue" });
    expect((await call(`/v1/users/${user}/memories/${tea.body.id}/history`)).body.items).toHaveLength(1);
    await erased(user, body.id);
    await ring(user);
    expect((await list(user)).map(({ text }) => text)).toEqual(["I like coffee"]);
    expect(await recallTexts(user, { query: "coffee tea hello cello", k: 100 })).toEqual([
      "I like coffee",
      "hello again",
    ]);
    expect(await said(fresh.id)).toEqual(["hello again"]);
    expect((await call(`/v1/users/${user}/kv/colour`)).body).toBe("blue");
    expect((await call(`/v1/threads/${thread.id}`)).status).toBe(404);
    expect(await rowsOf(user)).toEqual({ memories: 1, threads: 1, users: 1 });
    expect((await call(`/v1/threads/${fresh.id}`)).body.userId).toBe(user);
  });

  it("is the same erasure when it is asked for again, until something is written", async () => {
    const { user } = await busyUser();
    const { id } = (await eraseUser(user)).body;
    expect((await eraseUser(user)).body.id).toBe(id);
    await remember(user, { text: "a new beginning" });
    const second = (await eraseUser(user)).body.id;
    expect(second).not.toBe(id);
    expect(await list(user)).toEqual([]);
    const [one, two] = [await erased(user, id), await erased(user, second)];
    expect([one.status, two.status]).toEqual(["done", "done"]);
    expect((await rowsOf(user)).memories).toBe(0);
  });

  it("is kept in no cache, however far it is", async () => {
    const user = newUser();
    const begun = await eraseUser(user);
    const some = await eraseSome(user, { scope: "work" });
    const read = await call(`/v1/erasures/${begun.body.id}`);
    for (const { headers } of [begun, some, read]) expect(headers.get("Cache-Control")).toBe("no-store");
  });

  it("gives an unknown user a receipt of nothing", async () => {
    const user = newUser();
    const done = await erased(user, (await eraseUser(user)).body.id);
    expect(done.steps[0]?.erased).toEqual({});
  });

  it("answers an idempotency key of before anew", async () => {
    const { user } = await busyUser();
    await eraseUser(user);
    const again = await remember(user, { ...LIKE, object: "tea" }, { "Idempotency-Key": "k" });
    expect(again.status).toBe(201);
  });

  it("begins also where pages were read in part, which hold the tables", async () => {
    const { user, thread, memory } = await busyUser();
    for (const key of ["a", "b", "c"]) await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 1 });
    for (const path of [`users/${user}/kv?limit=1`, `threads/${thread.id}/messages?limit=1`])
      expect((await call(`/v1/${path}`)).body.cursor).toBeTruthy();
    const begun = await eraseUser(user);
    expect(begun.status).toBe(202);
    expect(await reads(user, thread.id, memory.id)).toEqual(NOTHING);
    for (const key of ["a", "b", "c"]) await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 2 });
    await call(`/v1/users/${user}/kv?limit=1`);
    expect((await erased(user, begun.body.id)).steps[0]?.erased).toMatchObject({ entries: 4, messages: 2 });
    expect((await call(`/v1/users/${user}/kv/a`)).body).toBe(2);
  });

  it("takes a user id of any characters", async () => {
    const user = `${newUser()}/é ü`;
    await remember(user, { text: "x" });
    expect((await eraseUser(user)).status).toBe(202);
  });
});

describe("POST /v1/users/:user/erasures", () => {
  it("erases a thread but for what its fork shows, and says how much that is", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["one", "two", "three"]);
    const branch = (await fork(origin.id, { at: 2 })).body;
    const begun = await eraseSome(user, { threadId: origin.id });
    expect(begun.status).toBe(202);
    expect((await call(`/v1/threads/${origin.id}`)).status).toBe(404);
    const done = await erased(user, begun.body.id);
    expect(done.of).toEqual({ what: "thread", threadId: origin.id });
    expect(done.steps[0]).toMatchObject({ erased: { threads: 1, messages: 1 }, kept: { messages: 2 } });
    expect(await said(branch.id)).toEqual(["one", "two"]);
    expect((await eraseSome(user, { threadId: origin.id })).status).toBe(404);
  });

  it("counts what others show of a thread after it, also what was hidden, and what stood for it", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["one", "two", "three", "four", "five"]);
    const compact = (id: string, from: number, to: number) =>
      call(`/v1/threads/${id}/compactions`, { json: { summary: "some", from, to } });
    await compact(origin.id, 1, 2);
    const branch = (await fork(origin.id, { at: 3 })).body;
    await append(branch.id, [say("six")]);
    await compact(origin.id, 3, 4);
    // One is hidden where the thread is erased, and one where it goes on.
    for (const [{ id }, seq] of [
      [origin, 2],
      [branch, 1],
    ] as const)
      await call(`/v1/threads/${id}/messages/${seq}`, { method: "DELETE" });
    const counts = async (threadId: string) =>
      (await erased(user, (await eraseSome(user, { threadId })).body.id)).steps[0];
    expect(await counts(origin.id)).toMatchObject({
      erased: { threads: 1, messages: 3, compactions: 2 },
      kept: { messages: 2 },
    });
    expect(await said(branch.id)).toEqual(["two", "three", "six"]);
    expect(await counts(branch.id)).toMatchObject({
      erased: { threads: 1, messages: 3, compactions: 1 },
      kept: { messages: 0 },
    });
  });

  it("counts as kept what the thread shows that one was forked from", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["one", "two"]);
    const branch = (await fork(origin.id, { at: 2 })).body;
    await append(branch.id, [say("three")]);
    await call(`/v1/threads/${branch.id}/messages/1`, { method: "DELETE" });
    const { steps } = await erased(user, (await eraseSome(user, { threadId: branch.id })).body.id);
    expect(steps[0]).toMatchObject({ erased: { messages: 1 }, kept: { messages: 2 } });
  });

  it("lists a thread no more from the 202 on, with however many changes of the catalogue before it", async () => {
    const user = newUser();
    const thread = await create(user, { title: "a secret title" });
    const hash = await userHash(user);
    const header = { format: "cairn-export", version: 1, userId: user, userHash: hash };
    const lines = Array.from({ length: 150 }, (_, n) => ({
      type: "thread",
      id: `${hash}.019a0000-0000-7000-8000-${String(n).padStart(12, "0")}`,
      title: "t",
      lastSeq: 0,
      createdAt: 1,
      updatedAt: 1,
    }));
    const raw = [header, ...lines].map((line) => JSON.stringify(line)).join("\n");
    const headers = { "Content-Type": "application/x-ndjson" };
    await call(`/v1/users/${user}/import?part=true`, { raw, headers });
    control.clockAt = (control.clockAt ?? 0) + 10;
    expect((await eraseSome(user, { threadId: thread.id })).status).toBe(202);
    const { text } = await call("/v1/threads?limit=1000", { token: await token(user) });
    expect(text).not.toContain("secret");
  });

  it("erases a thread again that was brought back meanwhile, and ends both times", async () => {
    const user = newUser();
    const thread = await threadOf(user, ["one"]);
    const exported = (await call(`/v1/users/${user}/export`)).text;
    const bringBack = () =>
      call(`/v1/users/${user}/import`, {
        raw: exported,
        headers: { "Content-Type": "application/x-ndjson" },
      });
    const first = (await eraseSome(user, { threadId: thread.id })).body.id;
    await bringBack();
    const second = (await eraseSome(user, { threadId: thread.id })).body.id;
    expect(second).not.toBe(first);
    expect((await call(`/v1/threads/${thread.id}`)).status).toBe(404);
    expect((await eraseSome(user, { threadId: thread.id })).body.id).toBe(second);
    await bringBack();
    for (const id of [first, second])
      expect((await erased(user, id)).steps[0]?.erased).toMatchObject({ threads: 1, messages: 1 });
    expect(await said(thread.id)).toEqual(["one"]);
    expect((await rowsOf(user)).threads).toBe(1);
  });

  it.each([
    ["erased", (user: string, threadId: string) => eraseSome(user, { threadId })],
    ["deleted", (_: string, id: string) => call(`/v1/threads/${id}`, { method: "DELETE" })],
  ])("plays no answer back of a thread that was %s", async (_, remove) => {
    const user = newUser();
    const key = (name: string) => ({ "Idempotency-Key": name });
    const thread = (await call(`/v1/users/${user}/threads`, { json: {}, headers: key("begin") })).body;
    const calls = {
      append: () => append(thread.id, [say("one"), say("two")], {}, key("append")),
      compact: () =>
        call(`/v1/threads/${thread.id}/compactions`, {
          json: { summary: "numbers", to: 1 },
          headers: key("compact"),
        }),
      fork: () => call(`/v1/threads/${thread.id}/fork`, { json: {}, headers: key("fork") }),
    };
    for (const write of Object.values(calls)) {
      const { status, body } = await write();
      expect(status).toBeLessThan(300);
      expect((await write()).body).toEqual(body);
    }
    await remove(user, thread.id);
    expect((await calls.append()).status).toBe(404);
    expect((await calls.compact()).status).toBe(404);
    // Its fork is a thread of its own.
    expect((await calls.fork()).status).toBe(201);
    const begun = await call(`/v1/users/${user}/threads`, { json: {}, headers: key("begin") });
    expect(begun.body.id).not.toBe(thread.id);
  });

  it("of a scope that no memory has says that there was nothing, as a scope is a word and no thing", async () => {
    const { user, memory } = await busyUser();
    const begun = await eraseSome(user, { scope: "hoem" });
    expect(begun.status).toBe(202);
    const { steps } = await erased(user, begun.body.id);
    expect(steps.find(({ store }) => store === "object")?.erased).toEqual({ memoryVersions: 0 });
    expect((await get(user, memory.id)).status).toBe(200);
  });

  it("erases the memories of a scope with their history, and no others", async () => {
    const user = newUser();
    for (const object of ["tea", "coffee"]) await remember(user, { ...LIKE, object, scope: "work" });
    await remember(user, { text: "I moved to Lisbon", scope: "home" });
    const begun = await eraseSome(user, { scope: "work" });
    expect(begun.status).toBe(202);
    expect((await list(user)).map(({ text }) => text)).toEqual(["I moved to Lisbon"]);
    await remember(user, { ...LIKE, object: "water", scope: "work" });
    const done = await erased(user, begun.body.id);
    expect(done.of).toEqual({ what: "scope", scopeHash: await hash16("cairn:scope:work") });
    expect(done.steps[0]?.erased).toEqual({ memoryVersions: 2 });
    expect((await list(user, "sort=createdAt&order=asc")).map(({ text }) => text)).toEqual([
      "I moved to Lisbon",
      "I like water",
    ]);
  });

  it("refuses both, neither and a thread of another user, and names the field", async () => {
    const [user, other] = [newUser(), newUser()];
    const { id } = await create(other);
    for (const json of [{}, { threadId: id, scope: "x" }])
      expect(await eraseSome(user, json)).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_request", details: [{ path: "body.threadId" }] } },
      });
    expect(await eraseSome(user, { threadId: id })).toMatchObject({
      status: 404,
      body: { error: { details: [{ path: "body.threadId" }] } },
    });
  });
});

it("shows an erasure to its own user only", async () => {
  const [alice, bob] = [newUser(), newUser()];
  const { id } = (await eraseUser(alice)).body;
  const as = async (user: string) => (await call(`/v1/erasures/${id}`, { token: await token(user) })).status;
  expect([await as(alice), await as(bob)]).toEqual([200, 404]);
  expect((await call("/v1/erasures/nonsense")).status).toBe(404);
  await erased(alice, id);
  expect([await as(alice), await as(bob)]).toEqual([200, 404]);
  expect((await erasure(id)).status).toBe("done");
});

it("erases more rows than one slice holds", async () => {
  const user = newUser();
  const { id } = await create(user);
  for (let i = 0; i < 3; i++)
    await append(
      id,
      Array.from({ length: 900 }, (_, n) => say(`message ${i} ${n}`)),
    );
  const done = await erased(user, (await eraseUser(user)).body.id);
  expect(done.steps[0]?.erased).toMatchObject({ messages: 2700 });
});
