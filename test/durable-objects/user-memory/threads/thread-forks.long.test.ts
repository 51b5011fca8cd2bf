// Forks, deletion of threads and of messages that forks share, compactions.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, pagesOf } from "../../../call.ts";
import { evict } from "../../../evict.ts";
import { append, contents, create, fork, read, said, say, threadOf } from "../../../thread-calls.ts";

const count = async (user: string, table: string): Promise<number> =>
  runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) =>
    Number(storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n),
  );
const remove = (path: string) => call(path, { method: "DELETE" });
/** The hits that have the word itself, and not only a neighbour that has it. */
const recalled = async (user: string, query: string) => {
  const { hits } = (await call(`/v1/users/${user}/recall`, { json: { query } })).body;
  return (hits as { text: string; threadId: string }[]).filter(({ text }) => text.includes(query));
};

describe("a fork", () => {
  it("shares the messages up to the one named, copies none, and goes its own way", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["a", "b", "c"]);
    const made = await fork(origin.id, { at: 2 });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ length: 2, forkedFrom: { threadId: origin.id, seq: 2 }, userId: user });
    expect(await count(user, "messages")).toBe(3);
    expect((await append(made.body.id, [say("x")])).body).toEqual({ length: 3, firstSeq: 3, lastSeq: 3 });
    await append(origin.id, [say("d")]);
    expect(await said(made.body.id)).toEqual(["a", "b", "x"]);
    expect(await said(origin.id)).toEqual(["a", "b", "c", "d"]);
    expect((await read(made.body.id)).items.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it("is made at the last message unless told, and takes over what is said of the thread", async () => {
    const user = newUser();
    const origin = await create(user, { title: "Plans", agent: "a", metadata: { x: 1 } });
    await append(origin.id, [say("a"), say("b")]);
    expect((await fork(origin.id)).body).toMatchObject({
      title: "Plans",
      agent: "a",
      metadata: { x: 1 },
      length: 2,
    });
    expect((await fork(origin.id, { title: "Other" })).body).toMatchObject({ title: "Other", agent: "a" });
    const empty = await create(user);
    expect((await fork(empty.id)).body).toMatchObject({ length: 0 });
  });

  it("pages like any other thread, across the message it was made at", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["1", "2", "3", "4", "5"]);
    const { id } = (await fork(origin.id, { at: 3 })).body;
    await append(id, [say("6"), say("7")]);
    for (const order of ["newest", "oldest"]) {
      const found: unknown[] = [];
      for await (const page of pagesOf(`/v1/threads/${id}/messages?limit=2&order=${order}`))
        found[order === "newest" ? "unshift" : "push"](...contents(page));
      expect(found).toEqual(["1", "2", "3", "6", "7"]);
    }
  });

  it("refuses a message that the thread does not have", async () => {
    const origin = await threadOf(newUser(), ["a"]);
    for (const at of [2, 0, 1.5]) {
      const answer = await fork(origin.id, { at });
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toBe("body.at");
    }
    expect((await fork(origin.id.replace(/.$/, (last: string) => (last === "0" ? "1" : "0")))).status).toBe(
      404,
    );
  });

  it("keeps what it shares when its origin is deleted; the last one to go takes the messages along", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["apple", "banana", "cherry"]);
    const { id: child } = (await fork(origin.id, { at: 2 })).body;
    const { id: grandchild } = (await fork(child, { at: 1 })).body;
    await append(child, [say("damson")]);
    await remove(`/v1/threads/${origin.id}`);
    expect((await call(`/v1/threads/${origin.id}`)).status).toBe(404);
    expect(await said(child)).toEqual(["apple", "banana", "damson"]);
    expect(await recalled(user, "cherry")).toEqual([]);
    expect((await recalled(user, "banana")).map((hit) => hit.threadId)).toEqual([child]);
    await remove(`/v1/threads/${child}`);
    expect(await said(grandchild)).toEqual(["apple"]);
    expect(await recalled(user, "banana")).toEqual([]);
    expect((await recalled(user, "apple")).map((hit) => hit.threadId)).toEqual([grandchild]);
    expect(await count(user, "messages")).toBe(1);
    await remove(`/v1/threads/${grandchild}`);
    for (const table of ["threads", "messages", "words", "hidden_messages"])
      expect(await count(user, table), table).toBe(0);
  });

  it("of a thread that was emptied shares nothing of the threads before it", async () => {
    const origin = await threadOf(newUser(), ["secret one", "secret two"]);
    const { id } = (await fork(origin.id)).body;
    for (const seq of [1, 2]) await remove(`/v1/threads/${id}/messages/${seq}`);
    const { body } = await fork(id);
    expect(body.length).toBe(0);
    expect(await said(body.id)).toEqual([]);
    await append(body.id, [say("fresh")]);
    expect(await said(body.id)).toEqual(["fresh"]);
  });

  it("is searched with what it shares, and nothing else", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["red fruit one", "red fruit two"]);
    const { id } = (await fork(origin.id, { at: 1 })).body;
    await append(id, [say("red fruit three")]);
    const { hits } = (await call(`/v1/users/${user}/recall`, { json: { query: "fruit", threadId: id } }))
      .body;
    expect(hits.map((hit: { text: string }) => hit.text).toSorted()).toEqual([
      "red fruit one",
      "red fruit three",
    ]);
    expect(hits.every((hit: { threadId: string }) => hit.threadId === id)).toBe(true);
  });
});

describe("deleting one message", () => {
  it("takes it from the thread and from recall, and leaves the seqs of the others", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["keep this", "forget the walrus", "keep that"]);
    expect((await remove(`/v1/threads/${id}/messages/2`)).status).toBe(204);
    expect((await read(id)).items.map(({ seq }) => seq)).toEqual([1, 3]);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(2);
    expect(await recalled(user, "walrus")).toEqual([]);
    expect((await append(id, [say("next")])).body).toEqual({ length: 3, firstSeq: 4, lastSeq: 4 });
    for (const seq of ["2", "9"])
      expect((await remove(`/v1/threads/${id}/messages/${seq}`)).status).toBe(404);
    for (const seq of ["0", "-1", "x", "1.5"]) {
      const answer = await remove(`/v1/threads/${id}/messages/${seq}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toBe("path.seq");
    }
  });

  it("takes a shared one from one thread only", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["a", "b walrus", "c"]);
    const { id } = (await fork(origin.id)).body;
    await remove(`/v1/threads/${id}/messages/2`);
    expect(await said(id)).toEqual(["a", "c"]);
    expect(await said(origin.id)).toEqual(["a", "b walrus", "c"]);
    const { id: late } = (await fork(id)).body;
    expect(await said(late)).toEqual(["a", "c"]);
    await remove(`/v1/threads/${origin.id}/messages/3`);
    expect(await said(origin.id)).toEqual(["a", "b walrus"]);
    expect(await said(id)).toEqual(["a", "c"]);
    expect((await recalled(user, "walrus")).map((hit) => hit.threadId)).toEqual([origin.id]);
    const within = await call(`/v1/users/${user}/recall`, { json: { query: "walrus", threadId: id } });
    expect(within.body.hits).toEqual([]);
  });
});

it("removes a shared message for good when the last thread that showed it lets go of it", async () => {
  const user = newUser();
  const origin = await threadOf(user, ["a heron", "b"]);
  const { id: one } = (await fork(origin.id)).body;
  const { id: two } = (await fork(origin.id)).body;
  await remove(`/v1/threads/${origin.id}/messages/1`);
  await remove(`/v1/threads/${one}/messages/1`);
  expect(await count(user, "messages")).toBe(2);
  await remove(`/v1/threads/${two}`);
  expect([
    await count(user, "messages"),
    await count(user, "words"),
    await count(user, "hidden_messages WHERE position > 0"),
  ]).toEqual([1, 1, 0]);
  await remove(`/v1/threads/${origin.id}`);
  expect(await said(one)).toEqual(["b"]);
  await remove(`/v1/threads/${one}/messages/2`);
  expect(await count(user, "messages")).toBe(0);
  // A fork's notes on hidden messages stay as long as the fork.
  await remove(`/v1/threads/${one}`);
  expect(await count(user, "hidden_messages")).toBe(0);
});

describe("threads and forks under any sequence of operations", () => {
  type Model = { id: string; messages: { seq: number; text: string }[]; last: number };
  const pick = fc.nat(1_000);
  const step = fc.oneof(
    fc.record({ op: fc.constant("append" as const), thread: pick, n: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ op: fc.constant("fork" as const), thread: pick, at: pick }),
    fc.record({ op: fc.constant("deleteMessage" as const), thread: pick, at: pick }),
    fc.record({ op: fc.constant("deleteThread" as const), thread: pick }),
    fc.record({ op: fc.constant("evict" as const), thread: pick }),
  );

  it("hold what a plain list of messages would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const user = newUser();
        let texts = 0;
        const first = await create(user);
        const threads: Model[] = [{ id: first.id, messages: [], last: 0 }];
        for (const one of steps) {
          const thread = threads[one.thread % threads.length];
          if (thread === undefined) break;
          if (one.op === "evict") {
            await evict(user);
          } else if (one.op === "append") {
            const fresh = Array.from({ length: one.n }, () => `text ${++texts}`);
            await append(
              thread.id,
              fresh.map((text) => say(text)),
            );
            for (const text of fresh) thread.messages.push({ seq: ++thread.last, text });
          } else if (one.op === "deleteThread" && threads.length > 1) {
            await remove(`/v1/threads/${thread.id}`);
            threads.splice(threads.indexOf(thread), 1);
          } else if (one.op === "fork" && thread.messages.length === 0) {
            const { id } = (await fork(thread.id)).body;
            threads.push({ id, messages: [], last: 0 });
          } else if (one.op !== "deleteThread" && thread.messages.length > 0) {
            const at = thread.messages[one.at % thread.messages.length]?.seq ?? 0;
            if (one.op === "fork") {
              const { id } = (await fork(thread.id, { at })).body;
              threads.push({ id, messages: thread.messages.filter(({ seq }) => seq <= at), last: at });
            } else {
              await remove(`/v1/threads/${thread.id}/messages/${at}`);
              thread.messages = thread.messages.filter(({ seq }) => seq !== at);
            }
          }
        }
        // Nothing is kept that no thread shows.
        const shown = new Set(threads.flatMap(({ messages }) => messages.map(({ text }) => text)));
        expect(await count(user, "messages")).toBe(shown.size);
        expect(await count(user, "words")).toBe(shown.size);
        for (const { id, messages } of threads) {
          expect((await read(id)).items.map(({ seq, message }) => ({ seq, text: message.content }))).toEqual(
            messages,
          );
          expect((await call(`/v1/threads/${id}`)).body.length).toBe(messages.length);
        }
        for (const { id } of threads) await remove(`/v1/threads/${id}`);
        for (const table of ["messages", "threads", "words", "hidden_messages"])
          expect(await count(user, table)).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});

describe("a compaction", () => {
  const compact = (id: string, body: object) => call(`/v1/threads/${id}/compactions`, { json: body });

  it("stands for its range in the compacted view, and nowhere else", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4", "5"]);
    const made = await compact(id, { summary: "one to three", to: 3 });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ from: 1, to: 3, summary: { role: "system", content: "one to three" } });
    const page = await read(id, "view=compacted");
    expect(contents(page)).toEqual(["one to three", "4", "5"]);
    expect(page.items[0]).toMatchObject({ seq: 3, compaction: { id: made.body.id, from: 1, to: 3 } });
    expect(await said(id)).toEqual(["1", "2", "3", "4", "5"]);
    expect((await call(`/v1/threads/${id}/compactions`)).body.items).toEqual([made.body]);
  });

  it("pages like messages do, in both orders", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4", "5", "6", "7"]);
    await compact(id, { summary: { role: "assistant", content: "2-3", kind: "summary" }, from: 2, to: 3 });
    await compact(id, { summary: "5-6", from: 5, to: 6 });
    for (const order of ["newest", "oldest"]) {
      const found: unknown[] = [];
      const query = `view=compacted&limit=2&order=${order}`;
      for await (const page of pagesOf(`/v1/threads/${id}/messages?${query}`))
        found[order === "newest" ? "unshift" : "push"](...contents(page));
      expect(found).toEqual(["1", "2-3", "4", "5-6", "7"]);
    }
  });

  it("may hold older ones, but not cut through one nor lie in one", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4", "5"]);
    await compact(id, { summary: "2-3", from: 2, to: 3 });
    for (const range of [
      { from: 3, to: 4 },
      { from: 1, to: 2 },
      { from: 3, to: 3 },
    ]) {
      const cut = await compact(id, { summary: "x", ...range });
      expect(cut.status).toBe(409);
      expect(cut.body.error.code).toBe("compaction_overlap");
    }
    await compact(id, { summary: "1-4", to: 4 });
    expect(await said(id, "view=compacted")).toEqual(["1-4", "5"]);
    await compact(id, { summary: "1-4 again", to: 4 });
    expect(await said(id, "view=compacted")).toEqual(["1-4 again", "5"]);
  });

  it("is shared by forks made behind it, and not by those made before its end", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4"]);
    await compact(id, { summary: "1-2", to: 2 });
    const behind = (await fork(id, { at: 3 })).body;
    const before = (await fork(id, { at: 1 })).body;
    expect(await said(behind.id, "view=compacted")).toEqual(["1-2", "3"]);
    expect(await said(before.id, "view=compacted")).toEqual(["1"]);
  });

  it("is taken away again, from its own thread only, and what it stood for is shown", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4"]);
    const inner = (await compact(id, { summary: "1-2", to: 2 })).body;
    const outer = (await compact(id, { summary: "1-3", to: 3 })).body;
    const { id: forked } = (await fork(id)).body;
    const take = (thread: string, one: { id: string }) =>
      remove(`/v1/threads/${thread}/compactions/${one.id}`);
    expect((await take(id, outer)).status).toBe(204);
    expect(await said(id, "view=compacted")).toEqual(["1-2", "3", "4"]);
    expect(await said(forked, "view=compacted")).toEqual(["1-3", "4"]);
    expect((await take(id, outer)).status).toBe(404);
    expect((await take(id, { id: "unknown" })).status).toBe(404);
    expect((await take(id, inner)).status).toBe(204);
    expect(await said(id, "view=compacted")).toEqual(["1", "2", "3", "4"]);
    expect((await call(`/v1/threads/${id}/compactions`)).body.items).toEqual([]);
  });

  it("is listed in pages, and takes a summary of 1 MiB but no more", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3"]);
    const around = JSON.stringify({ role: "system", content: "" }).length;
    expect((await compact(id, { summary: "x".repeat(1024 * 1024 - around), to: 1 })).status).toBe(201);
    const past = await compact(id, { summary: "x".repeat(1024 * 1024 - around + 1), to: 1 });
    expect(past.status).toBe(413);
    expect(past.body.error).toMatchObject({ code: "value_too_large", details: [{ path: "body.summary" }] });
    for (let i = 0; i < 9; i++)
      await compact(id, { summary: "x".repeat(1_000_000), to: 1 + (i % 3 === 2 ? 2 : 0) });
    const found: string[] = [];
    for await (const { items } of pagesOf(`/v1/threads/${id}/compactions?limit=1000`))
      found.push(...items.map((one: { id: string }) => one.id));
    expect(new Set(found).size).toBe(found.length);
    expect(found.length).toBeGreaterThan(3);
    expect((await call(`/v1/threads/${id}/compactions?cursor=x`)).body.error.code).toBe("invalid_cursor");
  });

  it("refuses a range that the thread does not have, and a summary that is none", async () => {
    const { id } = await threadOf(newUser(), ["1", "2"]);
    const wrong: [object, string][] = [
      [{ summary: "x", to: 3 }, "body.to"],
      [{ summary: "x", from: 2, to: 1 }, "body.from"],
      [{ summary: "x", to: 0 }, "body.to"],
      [{ summary: "", to: 1 }, "body.summary"],
      [{ summary: { content: "no role" }, to: 1 }, "body.summary"],
    ];
    for (const [body, path] of wrong) {
      const answer = await compact(id, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toMatch(path);
    }
  });
});
