// A batch of entries that reads and appends messages of threads, in the same step.
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { clock, restore } from "../../../doubles/control.ts";

afterEach(restore);

const batch = (user: string, operations: object[], more: object = {}) =>
  call(`/v1/users/${user}/kv/batch`, { method: "POST", json: { operations }, ...more });
const said = (content: string) => ({ role: "user", content });

async function begin() {
  const user = newUser();
  const { body } = await call(`/v1/users/${user}/threads`, { method: "POST", json: {} });
  return { user, threadId: body.id as string };
}
const messagesOf = async (threadId: string): Promise<unknown[]> =>
  (await call(`/v1/threads/${threadId}/messages`)).body.items.map(
    ({ message }: { message: { content: unknown } }) => message.content,
  );

describe("a batch", () => {
  it("stores messages and an entry about them, and reads both in one step", async () => {
    const { user, threadId } = await begin();
    const written = await batch(user, [
      { op: "append", threadId, messages: [said("one"), said("two")], ifLastSeq: 0 },
      { op: "set", key: "about", value: { seq: 2 } },
    ]);
    expect(written.body.results[0]).toEqual({ threadId, length: 2, firstSeq: 1, lastSeq: 2 });
    const read = await batch(user, [
      { op: "get", key: "about" },
      { op: "messages", threadId, limit: 1 },
    ]);
    expect(read.body.results).toMatchObject([
      { key: "about", found: true, value: { seq: 2 } },
      { threadId, found: true, length: 2, lastSeq: 2, messages: [{ seq: 2, message: said("two") }] },
    ]);
    const recalled = await call(`/v1/users/${user}/recall`, { method: "POST", json: { query: "two" } });
    expect(recalled.body.hits[0]).toMatchObject({ threadId, seq: 2 });
  });

  it("appends nothing if one of its conditions fails, and sets nothing either", async () => {
    const { user, threadId } = await begin();
    const append = { op: "append", threadId, messages: [said("one")] };
    const set = { op: "set", key: "k", value: 1 };
    const late = await batch(user, [set, { ...append, ifLastSeq: 3 }]);
    expect([late.status, late.body.error.code]).toEqual([412, "precondition_failed"]);
    expect(late.body.error.details[0].path).toBe("body.operations[1]");
    const taken = await batch(user, [append, { ...set, ifVersion: "another" }]);
    expect(taken.body.error.code).toBe("precondition_failed");
    expect(await messagesOf(threadId)).toEqual([]);
    expect((await call(`/v1/users/${user}/kv/k`)).status).toBe(404);
  });

  it("appends no more than a call of its own may", async () => {
    const { user, threadId } = await begin();
    const append = { op: "append", threadId, messages: Array.from({ length: 501 }, () => said("x")) };
    const { status, body } = await batch(user, [append, append]);
    expect([status, body.error.code, body.error.details[0].path]).toEqual([
      400,
      "limit_exceeded",
      "body.operations",
    ]);
    expect(await messagesOf(threadId)).toEqual([]);
  });

  it("tells what is odd of a message as an append does, and where a time is wrong", async () => {
    const { user, threadId } = await begin();
    const append = { op: "append", threadId, messages: [{ role: "human", content: "hi" }] };
    const { body } = await batch(user, [{ op: "get", key: "a" }, append]);
    expect(body.results[1].notes).toMatchObject([{ index: 0, code: "unknown_role" }]);
    const late = await batch(user, [{ ...append, createdAt: clock() + 2 * 24 * 3600 * 1000 }]);
    expect([late.status, late.body.error.details[0].path]).toEqual([400, "body.operations[0].createdAt"]);
  });

  it("keeps no answer of a key longer than the thread, and takes a key for one thread only", async () => {
    const { user, threadId } = await begin();
    const other = (await call(`/v1/users/${user}/threads`, { method: "POST", json: {} })).body.id;
    const append = { op: "append", threadId, messages: [said("one")] };
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    expect((await batch(user, [append], { headers })).body).toEqual(
      (await batch(user, [append], { headers })).body,
    );
    expect(await messagesOf(threadId)).toEqual(["one"]);
    await call(`/v1/threads/${threadId}`, { method: "DELETE" });
    expect((await batch(user, [append], { headers })).status).toBe(404);
    const both = await batch(user, [append, { ...append, threadId: other }], {
      headers: { "Idempotency-Key": "k" },
    });
    expect([both.status, both.body.error.details[0].path]).toEqual([400, "header.Idempotency-Key"]);
  });

  it("gives no seq twice, though the last message was deleted", async () => {
    const { user, threadId } = await begin();
    const append = { op: "append", threadId, messages: [said("one")] };
    await batch(user, [append]);
    await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE" });
    const read = await batch(user, [{ op: "messages", threadId }]);
    expect(read.body.results).toEqual([{ threadId, found: true, length: 0, lastSeq: 1, messages: [] }]);
    expect((await batch(user, [{ ...append, ifLastSeq: 0 }])).status).toBe(412);
    const again = await batch(user, [{ ...append, ifLastSeq: 1 }]);
    expect(again.body.results[0]).toMatchObject({ firstSeq: 2 });
  });

  it("appends once under an idempotency key", async () => {
    const { user, threadId } = await begin();
    const operations = [{ op: "append", threadId, messages: [said("one")] }];
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const [first, second] = [
      await batch(user, operations, { headers }),
      await batch(user, operations, { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(await messagesOf(threadId)).toEqual(["one"]);
    const reads = await batch(user, [{ op: "messages", threadId }], {
      headers: { "Idempotency-Key": crypto.randomUUID() },
    });
    expect(reads.body.error.code).toBe("invalid_request");
  });

  it("reaches no thread of another user, and no thread that is gone", async () => {
    const [{ threadId }, { user }] = [await begin(), await begin()];
    const read = await batch(user, [{ op: "messages", threadId }]);
    expect(read.body.results).toEqual([{ threadId, found: false }]);
    const append = await batch(user, [
      { op: "set", key: "k", value: 1 },
      { op: "append", threadId, messages: [said("x")] },
    ]);
    expect([append.status, append.body.error.code]).toEqual([404, "not_found"]);
    expect((await call(`/v1/users/${user}/kv/k`)).status).toBe(404);
    expect(await messagesOf(threadId)).toEqual([]);
  });

  it("refuses a message of no role, and a time in the future, and keeps a message's bytes", async () => {
    const { user, threadId } = await begin();
    const append = { op: "append", threadId, messages: [said("one")] };
    const odd = await batch(user, [{ ...append, messages: [{ content: "x" }] }]);
    expect(odd.body.error.details[0].path).toBe("body.operations[0].messages[0].role");
    const ahead = await batch(user, [{ ...append, createdAt: clock() + 10 * 86_400_000 }]);
    expect(ahead.status).toBe(400);
    const raw = `{"operations":[{"op":"append","threadId":"${threadId}","messages":[{ "role": "user", "content": "n", "n": 12345678901234567890 }]}]}`;
    expect((await call(`/v1/users/${user}/kv/batch`, { method: "POST", raw })).status).toBe(200);
    const read = await batch(user, [{ op: "messages", threadId }]);
    expect(read.text).toContain('{ "role": "user", "content": "n", "n": 12345678901234567890 }');
  });
});
