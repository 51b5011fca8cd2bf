// The cost of reading a thread that was forked many times, in rows that SQLite reads: a count, so that no test is timed.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { Removals } from "../../../../durable-objects/user-memory/core/removals.ts";
import { ThreadStores } from "../../../../durable-objects/user-memory/threads/thread-stores.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { append, fork, said, say, threadOf } from "../../../thread-calls.ts";

const LINKS = 100;

/** A chain of forks, each made at the last message of the one before, with a message of its own. */
async function chain(user: string, links: number): Promise<string[]> {
  const ids = [(await threadOf(user, ["0"])).id as string];
  for (let i = 1; i < links; i++) {
    const { id } = (await fork(ids.at(-1) ?? "")).body;
    await append(id, [say(`${i}`)]);
    ids.push(id);
  }
  return ids;
}

/** Rows that the statements of `act` read, of a user's threads. */
async function rowsRead(user: string, act: (stores: ThreadStores) => unknown): Promise<number> {
  return runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) => {
    const cursors: { rowsRead: number }[] = [];
    const sql = {
      exec: (query: string, ...bindings: SqlStorageValue[]) => {
        const cursor = storage.sql.exec(query, ...bindings);
        cursors.push(cursor);
        return cursor;
      },
    };
    // The stores call nothing but `exec`.
    act(new ThreadStores(sql as unknown as SqlStorage, new Removals(sql as unknown as SqlStorage, () => 0)));
    return cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
  });
}

const deleteThread = (id: string) => call(`/v1/threads/${id}`, { method: "DELETE" });
const found = (stores: ThreadStores, id: string) => {
  const thread = stores.threads.get(id);
  if (thread === null) throw new Error("there is no such thread");
  return thread;
};

const page = (id: string, limit: number, order: "newest" | "oldest") => (stores: ThreadStores) =>
  stores.reader.page(found(stores, id), { order, limit, view: "raw", wholeTurns: false });

it("reads the last messages of a chain of forks at the cost of the last links only", async () => {
  const user = newUser();
  const ids = await chain(user, LINKS);
  const last = ids.at(-1) ?? "";
  expect(await said(last)).toEqual(Array.from({ length: LINKS }, (_, i) => `${i}`));
  const few = await rowsRead(user, page(last, 5, "newest"));
  expect(few).toBeLessThan(60);
  // The same as after a tenth of the forks.
  expect(await rowsRead(user, page(ids[LINKS / 10] ?? "", 5, "newest"))).toBe(few);
  expect(await rowsRead(user, page(last, 5, "oldest"))).toBeLessThan(8 * LINKS);
});

it("reads the last messages of a long thread at the cost of those of a short one", async () => {
  const user = newUser();
  const texts = Array.from({ length: 1_000 }, (_, i) => `${i}`);
  const [short, long] = [await threadOf(user, texts.slice(0, 100)), await threadOf(user, texts)];
  await append(
    long.id,
    texts.map((text) => say(text)),
  );
  const cost = await rowsRead(user, page(short.id, 50, "newest"));
  expect(cost).toBeLessThan(60);
  expect(await rowsRead(user, page(long.id, 50, "newest"))).toBe(cost);
});

it("reads the last messages at a cost that does not follow what is hidden of the others", async () => {
  const user = newUser();
  const origin = await threadOf(
    user,
    Array.from({ length: 100 }, (_, i) => `${i}`),
  );
  const { id } = (await fork(origin.id)).body;
  await call(`/v1/threads/${id}/messages/1`, { method: "DELETE" });
  const before = await rowsRead(user, page(id, 5, "newest"));
  for (let seq = 2; seq <= 80; seq++) await call(`/v1/threads/${id}/messages/${seq}`, { method: "DELETE" });
  expect(await rowsRead(user, page(id, 5, "newest"))).toBe(before);
  expect(await said(id)).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 80}`));
});

it("counts what a fork begins with on the side of its message where there are fewer", async () => {
  const user = newUser();
  const texts = Array.from({ length: 500 }, (_, i) => `${i}`);
  const { id } = await threadOf(user, texts);
  await call(`/v1/threads/${id}/messages/3`, { method: "DELETE" });
  const count = async (upTo: number) =>
    rowsRead(user, (stores) => stores.lineage.count(found(stores, id), upTo));
  expect(await count(500)).toBeLessThan(5);
  expect(await count(495)).toBeLessThan(20);
  expect(await count(5)).toBeLessThan(20);
  const lengths = [500, 499, 250, 249, 4, 2, 1].map(async (at) => (await fork(id, { at })).body.length);
  expect(await Promise.all(lengths)).toEqual([499, 498, 249, 248, 3, 2, 1]);
});

it("deletes a thread at a cost that does not follow what other threads hide", async () => {
  const user = newUser();
  const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
  const origin = await threadOf(user, texts);
  const { id: other } = (await fork(origin.id)).body;
  for (let seq = 1; seq <= 100; seq++)
    await call(`/v1/threads/${other}/messages/${seq}`, { method: "DELETE" });
  const { id } = await threadOf(user, ["alone"]);
  const removes = (stores: ThreadStores) => {
    for (const range of stores.shared.deleteThread(found(stores, id)).left) stores.messages.delete(range);
  };
  expect(await rowsRead(user, removes)).toBeLessThan(20);
  // Nobody shows them any more, now that the one that did not hide them goes.
  await deleteThread(origin.id);
  const left = await runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) =>
    ["messages", "hidden_messages WHERE position > 0"].map(
      (table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray().length,
    ),
  );
  expect(left).toEqual([0, 0]);
});

it("lists a page of compactions at the cost of the page", async () => {
  const user = newUser();
  const { id } = await threadOf(user, ["1", "2"]);
  for (let i = 0; i < 40; i++)
    await call(`/v1/threads/${id}/compactions`, { json: { summary: `${i}`, to: 1 } });
  const list = (stores: ThreadStores) => stores.compactions.list(found(stores, id), { limit: 2 });
  expect(await rowsRead(user, list)).toBeLessThan(12);
});

it("keeps of a deleted thread its place in the line of its forks, and nothing that was said of it", async () => {
  const user = newUser();
  const { id } = (
    await call(`/v1/users/${user}/threads`, {
      json: {
        title: "secret",
        agent: "secret",
        resourceSlug: "secret",
        recordId: "secret",
        metadata: { secret: 1 },
      },
    })
  ).body;
  await append(id, [say("kept")]);
  const { id: forked } = (
    await fork(id, { title: "a", agent: "a", resourceSlug: "a", recordId: "a", metadata: {} })
  ).body;
  await deleteThread(id);
  expect(await said(forked)).toEqual(["kept"]);
  const rows = await runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) =>
    storage.sql.exec("SELECT * FROM threads").toArray(),
  );
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain("secret");
});

it("shows a message that is found in a fork that has it, not in one that was made before it", async () => {
  const user = newUser();
  const origin = await threadOf(user, ["early", "the late kestrel"]);
  await fork(origin.id, { at: 1 });
  const { id } = (await fork(origin.id, { at: 2 })).body;
  await deleteThread(origin.id);
  const { hits } = (await call(`/v1/users/${user}/recall`, { json: { query: "kestrel" } })).body;
  expect(hits[0]).toMatchObject({ text: "the late kestrel", threadId: id });
  expect(hits.filter((hit: { text: string }) => hit.text === "the late kestrel")).toHaveLength(1);
});
