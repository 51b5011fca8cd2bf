// Eviction in the middle of everything: what was answered is there, what was not is whole or not at all, and who reads,
// waits or drains goes on, or is told that it does not.
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, token } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { evict } from "../../evict.ts";
import { append, create, fork, read, said, say, threadOf } from "../../thread-calls.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const remove = (path: string) => call(path, { method: "DELETE" });

describe("a stream of a thread, with the object evicted between its pages,", () => {
  const PAGE = 1_000;
  const PAGES = 8;

  async function longThread(user: string): Promise<string> {
    const { id } = await create(user);
    for (let page = 0; page < PAGES; page++)
      await append(
        id,
        Array.from({ length: PAGE }, (_, i) => say(`${page * PAGE + i}`)),
      );
    return id;
  }

  async function stream(id: string, query = ""): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const response = await exports.default.fetch(`https://cairn.test/v1/threads/${id}/messages?${query}`, {
      headers: { Authorization: `Bearer ${await token("*")}`, Accept: "application/x-ndjson" },
    });
    if (response.body === null) throw new Error("the answer has no body");
    return response.body.getReader();
  }

  /** Reads on to the end, with `between` after each chunk. Answers the seqs of the lines, or the error. */
  async function rest(reader: ReadableStreamDefaultReader<Uint8Array>, between: () => Promise<unknown>) {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      await between();
    }
    return text
      .trimEnd()
      .split("\n")
      .map((line): number => JSON.parse(line).seq);
  }

  it.each(["", "view=sanitized", "view=compacted"])("goes on to the end (%s)", async (query) => {
    const user = newUser();
    const id = await longThread(user);
    const seqs = await rest(await stream(id, query), () => evict(user));
    expect(seqs).toEqual(Array.from({ length: PAGES * PAGE }, (_, i) => i + 1));
  });

  it("goes on when the object dies, too", async () => {
    const user = newUser();
    const id = await longThread(user);
    const seqs = await rest(await stream(id), () => abortAllDurableObjects());
    expect(seqs).toHaveLength(PAGES * PAGE);
  });

  it("ends with an error, and never short, when the thread has gone meanwhile", async () => {
    const user = newUser();
    const id = await longThread(user);
    const reading = rest(await stream(id), async () => {
      await remove(`/v1/threads/${id}`);
    });
    await expect(reading).rejects.toThrow("could not be read on");
  });
});

describe("a fork, with the object evicted", () => {
  const SIDES = ["before", "between", "after"] as const;

  it.each(SIDES)("%s it and the appends on both sides, goes its own way", async (moment) => {
    const user = newUser();
    const origin = await threadOf(user, ["1", "2", "3"]);
    const at = async (now: (typeof SIDES)[number]) => now === moment && evict(user);
    await at("before");
    const { id } = (await fork(origin.id, { at: 2 })).body;
    await at("between");
    await append(origin.id, [say("origin's")]);
    await at("between");
    await append(id, [say("fork's")]);
    await at("after");
    expect(await said(origin.id)).toEqual(["1", "2", "3", "origin's"]);
    expect(await said(id)).toEqual(["1", "2", "fork's"]);
    expect((await read(id)).items.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await call(`/v1/threads/${id}`)).body).toMatchObject({ length: 3, userId: user });
    const found = (await call(`/v1/users/${user}/recall`, { json: { query: "fork", threadId: id } })).body
      .hits;
    expect(found.map((hit: { text: string }) => hit.text)).toContain("fork's");
  });

  it("between the deletes of those that share its messages, keeps them for the last", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["1", "2", "3"]);
    const { id } = (await fork(origin.id)).body;
    await remove(`/v1/threads/${id}/messages/2`);
    await evict(user);
    await remove(`/v1/threads/${origin.id}`);
    await evict(user);
    expect(await said(id)).toEqual(["1", "3"]);
    await remove(`/v1/threads/${id}`);
    await evict(user);
    const left = await runInDurableObject(await objectOf(user), (_, { storage }) =>
      ["threads", "messages", "hidden_messages"].flatMap((table) =>
        storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    );
    expect(left).toEqual([]);
  });
});

it("shows a compaction, and makes it once for its key, whenever the object is evicted", async () => {
  const user = newUser();
  const { id } = await threadOf(user, ["1", "2", "3"]);
  const headers = { "Idempotency-Key": "c" };
  const compact = () => call(`/v1/threads/${id}/compactions`, { json: { summary: "1-2", to: 2 }, headers });
  await evict(user);
  const made = await compact();
  await evict(user);
  expect((await compact()).text).toBe(made.text);
  await append(id, [say("4")]);
  await evict(user);
  expect(await said(id, "view=compacted")).toEqual(["1-2", "3", "4"]);
  expect((await call(`/v1/threads/${id}/compactions`)).body.items).toEqual([made.body]);
});

/** Sends a write that may or may not get through before all objects die; what came back, if anything did. */
async function dyingAfter(ms: number, write: () => Promise<unknown>): Promise<void> {
  const sent = write().catch(() => null);
  await scheduler.wait(ms);
  await abortAllDurableObjects();
  await sent;
  await scheduler.wait(10);
}

describe("a write whose object dies under it", () => {
  it("is done once by its retry, if it is an append with an Idempotency-Key", async () => {
    for (const ms of [0, 1, 2, 4, 8]) {
      const { id } = await create(newUser());
      const send = () => append(id, [say("a"), say("b")], {}, { "Idempotency-Key": "k" });
      await dyingAfter(ms, send);
      expect((await send()).body).toEqual({ length: 2, firstSeq: 1, lastSeq: 2 });
      expect(await said(id)).toEqual(["a", "b"]);
    }
  });

  it("is whole or not there, if it is a batch of entries, and done once by its retry", async () => {
    for (const ms of [0, 1, 2, 4, 8]) {
      const user = newUser();
      await call(`/v1/users/${user}/kv/c`, { method: "PUT", json: "old" });
      const operations = [
        { op: "set", key: "a", value: 1, ifVersion: null },
        { op: "set", key: "b", value: 2, ifVersion: null },
        { op: "delete", key: "c" },
      ];
      const batch = () =>
        call(`/v1/users/${user}/kv/batch`, { json: { operations }, headers: { "Idempotency-Key": "k" } });
      const keys = async () =>
        (await call(`/v1/users/${user}/kv`)).body.items.map(({ key }: { key: string }) => key);
      await dyingAfter(ms, batch);
      expect([["c"], ["a", "b"]]).toContainEqual(await keys());
      // Under another key, what was done would be refused: the entries are there.
      expect((await batch()).status).toBe(200);
      expect(await keys()).toEqual(["a", "b"]);
    }
  });

  it("reaches the catalogue of all threads with the alarm, if it was being written there", async () => {
    const user = newUser();
    const { id } = await create(user, { title: "Old" });
    control.duringD1Write = () => new Promise(() => {});
    await dyingAfter(20, () => call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "New" } }));
    control.duringD1Write = async () => {};
    expect((await call(`/v1/threads/${id}`)).body.title).toBe("New");
    expect(await runDurableObjectAlarm(await objectOf(user))).toBe(true);
    const { items } = (await call("/v1/threads", { token: await token(user) })).body;
    expect(items).toMatchObject([{ id, title: "New" }]);
  });
});

describe("a sweep of more than one alarm does, with the object evicted in between,", () => {
  const count = async (user: string, table: string) =>
    runInDurableObject(await objectOf(user), (_, { storage }) =>
      Number(storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n),
    );
  const set = (key: string, more: object) => ({ op: "set", key, value: 1, ...more });

  it("goes on until all that has expired is gone, and nothing else", async () => {
    const user = newUser();
    for (const part of ["a", "b"]) {
      const operations = Array.from({ length: 750 }, (_, i) => set(`${part}${i}`, { ttlMs: 1_000 }));
      await call(`/v1/users/${user}/kv/batch`, { json: { operations } });
    }
    await call(`/v1/users/${user}/kv/batch`, { json: { operations: [set("kept", {})] } });
    control.clockAhead = 120_000;
    const left: number[] = [];
    for (let i = 0; i < 2; i++) {
      await evict(user);
      expect(await runDurableObjectAlarm(await objectOf(user))).toBe(true);
      left.push(await count(user, "entries"));
    }
    expect(left).toEqual([501, 1]);
    await evict(user);
    expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
    expect((await call(`/v1/users/${user}/kv?count=true`)).body.count).toBe(1);
  });

  it("forgets the answers of idempotency keys after a day, in slices too", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1"]);
    const object = await objectOf(user);
    await runInDurableObject(object, (instance) => {
      for (let i = 0; i < 1_200; i++)
        instance.appendMessages(id, { bodies: [] }, { key: `${i}`, request: `${i}` });
    });
    control.clockAhead = 24 * 3_600_000 + 61_000;
    const left: number[] = [];
    for (let i = 0; i < 2; i++) {
      await evict(user);
      expect(await runDurableObjectAlarm(await objectOf(user))).toBe(true);
      left.push(await count(user, "answers"));
    }
    expect(left).toEqual([200, 0]);
    expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
  });
});
