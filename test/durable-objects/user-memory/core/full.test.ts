// A database, and an object, without room: what is refused, what goes on, and that nothing is left half-done.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { FullDatabase, withWriteErrors } from "../../../../src/platform/d1/write-errors.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { type Answer, call, newUser, token } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { forget, forgetAll, forgetWhere, patch, remember, rememberMany } from "../../../memory-calls.ts";
import { append, create, fork, say } from "../../../thread-calls.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const write = (user: string, text: string) => remember(user, { text });
const listed = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories`)).body.items.map(({ text }: { text: string }) => text);
const recalled = async (user: string, query: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/recall`, { json: { query } })).body.hits.map(
    ({ text }: { text: string }) => text,
  );
const openIntents = async (user: string): Promise<number> =>
  runInDurableObject(
    await objectOf(user),
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM intents").one().n,
  );
const codeOf = ({ body, status }: Answer): string | number => body?.error?.code ?? status;

describe("a full D1", () => {
  it("refuses a memory with a code of its own, which asks for no retry, and stores nothing of it", async () => {
    const user = newUser();
    control.d1Writes = "full";
    const refused = await write(user, "no room for this");
    expect([refused.status, codeOf(refused)]).toEqual([507, "storage_full"]);
    expect(refused.headers.get("Retry-After")).toBeNull();
    expect(await openIntents(user)).toBe(0);
    control.d1Writes = "ok";
    await runDurableObjectAlarm(await objectOf(user));
    expect([await listed(user), await recalled(user, "room")]).toEqual([[], []]);
  });

  it("holds up no later write, and no forget", async () => {
    const user = newUser();
    const { id } = (await write(user, "old")).body;
    control.d1NextWrites = ["full"];
    expect(codeOf(await write(user, "too large"))).toBe("storage_full");
    expect((await write(user, "small enough")).status).toBe(201);
    control.d1Writes = "full";
    expect((await forget(user, id)).status).toBe(204);
    expect(await listed(user)).toEqual(["small enough"]);
  });

  it("keeps what an earlier try had written when its answer was lost", async () => {
    const user = newUser();
    control.d1NextWrites = ["after"];
    expect((await write(user, "it landed")).status).toBe(503);
    control.d1NextWrites = ["full"];
    expect((await write(user, "another")).status).toBe(201);
    expect(await listed(user)).toEqual(["another", "it landed"]);
    expect(await recalled(user, "landed")).toContain("it landed");
    expect(await openIntents(user)).toBe(0);
  });

  it("gives an earlier try up that D1 never had", async () => {
    const user = newUser();
    control.d1NextWrites = ["before"];
    expect((await write(user, "it got lost")).status).toBe(503);
    control.d1NextWrites = ["full"];
    expect((await write(user, "another")).status).toBe(201);
    expect(await listed(user)).toEqual(["another"]);
    expect(await openIntents(user)).toBe(0);
  });

  it("lets no thread begin, and leaves the list of all threads as it was", async () => {
    const user = newUser();
    const { id } = await create(user);
    const list = { token: await token(user) };
    control.d1Writes = "full";
    const refused = [await call(`/v1/users/${user}/threads`, { json: {} }), await fork(id)];
    for (const answer of refused) expect([answer.status, codeOf(answer)]).toEqual([507, "storage_full"]);
    expect((await append(id, [say("hello")])).status).toBe(201);
    expect((await call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "new" } })).status).toBe(200);
    const during = await call("/v1/threads", list);
    expect([during.status, during.body.items]).toMatchObject([200, [{ id }]]);
    expect((await call(`/v1/users/${user}/threads`)).body.items).toHaveLength(1);
    control.d1Writes = "ok";
    const { id: next } = await create(user);
    expect((await call("/v1/threads", list)).body.items).toMatchObject([{ id: next }, { id }]);
  });

  it("lets a user be erased: the memories that go make room for the note of it", async () => {
    const user = newUser();
    await write(user, "goes");
    let writes = 0;
    control.duringD1Write = async () => {
      if (writes++ === 0) throw new Error("D1_ERROR: Exceeded maximum DB size");
    };
    const erased = await call(`/v1/users/${user}`, { method: "DELETE" });
    expect(erased.status).toBe(202);
    expect(await listed(user)).toEqual([]);
  });

  it.each([
    "D1_ERROR: database or disk is full: SQLITE_FULL",
    "D1_ERROR: Exceeded maximum DB size",
    "D1_ERROR: Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to raise your limit",
  ])("is known by what D1 says: %s", async (message) => {
    const fails = () => Promise.reject(new Error("Failed query", { cause: new Error(message) }));
    await expect(withWriteErrors(fails)).rejects.toBeInstanceOf(FullDatabase);
  });
});

describe("a full object", () => {
  it("refuses whatever adds something, and keeps room for deletes of every kind", async () => {
    const user = newUser();
    const [kept, gone] = [(await create(user)).id, (await create(user)).id];
    await append(kept, [say("hello"), say("hi", "assistant")]);
    const { id } = (await remember(user, { text: "old", tags: ["a"] })).body;
    await remember(user, { text: "older", tags: ["b"] });
    const kv = `/v1/users/${user}/kv`;
    for (const key of ["one", "two"]) await call(`${kv}/${key}`, { method: "PUT", json: 1 });
    control.storageBytes = 0;

    const refused = {
      entry: await call(`${kv}/three`, { method: "PUT", json: 1 }),
      batch: await call(`${kv}/batch`, { json: { operations: [{ op: "set", key: "x", value: 1 }] } }),
      thread: await call(`/v1/users/${user}/threads`, { json: {} }),
      fork: await fork(kept),
      message: await append(kept, [say("more")]),
      compaction: await call(`/v1/threads/${kept}/compactions`, { json: { summary: "s", from: 1, to: 1 } }),
      memory: await remember(user, { text: "new" }),
      memories: await rememberMany(user, [{ text: "new" }]),
      change: await patch(user, id, { text: "changed" }),
    };
    for (const [what, answer] of Object.entries(refused))
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 507, "storage_full"]);

    const deleted = {
      message: await call(`/v1/threads/${kept}/messages/1`, { method: "DELETE" }),
      thread: await call(`/v1/threads/${gone}`, { method: "DELETE" }),
      entry: await call(`${kv}/one`, { method: "DELETE" }),
      prefix: await call(`${kv}?prefix=t`, { method: "DELETE" }),
      memory: await forget(user, id),
      filtered: await forgetWhere(user, { tags: ["b"] }),
      memories: await forgetAll(user),
      user: await call(`/v1/users/${user}`, { method: "DELETE" }),
    };
    for (const [what, { status }] of Object.entries(deleted))
      expect([what, status < 300]).toEqual([what, true]);
    control.storageBytes = null;
    expect((await remember(user, { text: "new" })).status).toBe(201);
  });

  it("goes on reading, and embeds nothing meanwhile", async () => {
    const user = newUser();
    control.embedder = "fail";
    await write(user, "the heron is grey");
    control.embedder = "ok";
    control.storageBytes = 0;
    control.clockAhead = 60_000;
    await runDurableObjectAlarm(await objectOf(user));
    const answer = await call(`/v1/users/${user}/recall`, { json: { query: "heron" } });
    expect(answer.body).toMatchObject({ hits: [{ text: "the heron is grey" }], freshness: { pending: 1 } });
    control.storageBytes = null;
    control.clockAhead = 10 * 60_000;
    await runDurableObjectAlarm(await objectOf(user));
    expect(
      (await call(`/v1/users/${user}/recall`, { json: { query: "heron" } })).body.freshness.pending,
    ).toBe(0);
  });

  it("says so where SQLite itself finds no room", async () => {
    const user = newUser();
    const { id } = await create(user);
    const operations = [{ op: "set", key: "a", value: 1 }];
    control.transactionFailure = "database or disk is full: SQLITE_FULL";
    const writes = {
      message: () => append(id, [say("hello")]),
      entries: () => call(`/v1/users/${user}/kv/batch`, { json: { operations } }),
      memory: () => write(user, "hello"),
    };
    for (const [what, refused] of Object.entries(writes)) {
      control.failingTransactions = 1;
      const answer = await refused();
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 507, "storage_full"]);
    }
  });
});
