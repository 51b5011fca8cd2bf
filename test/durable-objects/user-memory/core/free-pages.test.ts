// Pages that a delete has left as they were, in the file of a user's object.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { FreePages } from "../../../../durable-objects/user-memory/core/free-pages.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { eraseSome, eraseUser, erased, objectOf, ring } from "../../../erasure-calls.ts";
import { evict } from "../../../evict.ts";
import { append, create, say, threadOf } from "../../../thread-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const MB = 1024 * 1024;

async function pagesOf(user: string): Promise<{ rounds: number; zeros: number; used: number }> {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => ({
    rounds: sql.exec<{ rounds: number }>("SELECT rounds FROM free_pages").one().rounds,
    zeros: sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM zeros").one().n,
    used: sql.databaseSize,
  }));
}

it("takes up all free pages with zeros, gives them back, and goes on wherever it was interrupted", async () => {
  const user = newUser();
  await create(user);
  const seen = await runInDurableObject(await objectOf(user), async (_, { storage: { sql } }) => {
    const before = sql.databaseSize;
    sql.exec("CREATE TABLE much (bytes BLOB)");
    for (let n = 0; n < 20; n++) sql.exec("INSERT INTO much VALUES (randomblob(?))", MB);
    new FreePages(sql).note();
    const most = sql.databaseSize;
    sql.exec("DROP TABLE much");
    const round = new FreePages(sql).next();
    const used: number[] = [];
    // Each as after an eviction.
    while (!(await new FreePages(sql, 1).overwrite(round))) used.push(sql.databaseSize);
    return { before, most, used, after: sql.databaseSize };
  });
  expect(seen.used.length).toBeGreaterThan(2);
  expect(Math.max(...seen.used)).toBeGreaterThan(seen.most - 4 * MB);
  expect(Math.max(...seen.used)).toBeLessThan(seen.most + MB);
  // The table may have split the last page of the schema, which stays.
  expect(seen.after - seen.before).toBeLessThanOrEqual(4_096);
});

it("overwrites anew for what is freed while the zeros are being removed", async () => {
  const user = newUser();
  await create(user);
  const used = await runInDurableObject(await objectOf(user), async (_, { storage: { sql } }) => {
    for (let n = 0; n < 8; n++) sql.exec(`CREATE TABLE much${n} AS SELECT zeroblob(${MB}) AS bytes`);
    const pages = new FreePages(sql, 1);
    pages.note();
    for (let n = 0; n < 7; n++) sql.exec(`DROP TABLE much${n}`);
    const isRemoving = () => sql.exec<{ filled: number }>("SELECT filled FROM free_pages").one().filled === 1;
    const first = pages.next();
    while (!isRemoving()) await pages.overwrite(first);
    sql.exec("DROP TABLE much7");
    const second = pages.next();
    while (!(await pages.overwrite(first)));
    const seen: number[] = [];
    while (!(await pages.overwrite(second))) seen.push(sql.databaseSize);
    return seen;
  });
  expect(Math.max(...used)).toBeGreaterThan(7 * MB);
});

it("counts the pages of a thread's messages that no alarm has seen", async () => {
  const user = newUser();
  const { id } = await create(user);
  for (let n = 0; n < 3; n++)
    expect((await append(id, [say(`${n} ${"long ".repeat(180_000)}`)])).status).toBe(201);
  const { used } = await pagesOf(user);
  expect((await eraseSome(user, { threadId: id })).status).toBe(202);
  const peak = await runInDurableObject(
    await objectOf(user),
    (_, { storage: { sql } }) => sql.exec<{ peak: number }>("SELECT peak FROM free_pages").one().peak,
  );
  expect(peak).toBeGreaterThanOrEqual(used);
});

it("counts no zeros as what the user holds", async () => {
  const user = newUser();
  const { id } = await create(user);
  const object = await objectOf(user);
  const before = (await pagesOf(user)).used;
  await runInDurableObject(object, async (_, { storage: { sql } }) => {
    sql.exec("CREATE TABLE much (bytes BLOB)");
    for (let n = 0; n < 20; n++) sql.exec("INSERT INTO much VALUES (zeroblob(?))", MB);
    const pages = new FreePages(sql, 4);
    pages.note();
    sql.exec("DROP TABLE much");
    await pages.overwrite(pages.next());
    expect(Math.abs(sql.databaseSize - pages.bytes - before)).toBeLessThan(30_000);
    // Some are removed already.
    sql.exec("DELETE FROM zeros WHERE rowid <= 5");
    expect(Math.abs(sql.databaseSize - pages.bytes - before)).toBeLessThan(30_000);
  });
  expect((await pagesOf(user)).used).toBeGreaterThan(before + 10 * MB);
  control.storageBytes = before + 100_000;
  control.quotas = { entries: null, memories: null, threads: null, bytes: before + 100_000 };
  expect((await append(id, [say("hello")])).status).toBe(201);
  expect((await append(id, [say("x".repeat(200_000))])).body.error.code).toBe("quota_bytes");
});

it.each([
  [
    "a user who writes on",
    async (user: string) => {
      const begun = await eraseUser(user);
      await create(user);
      return begun;
    },
  ],
  ["a thread", async (user: string) => eraseSome(user, { threadId: (await threadOf(user, ["one"])).id })],
  ["a scope", (user: string) => eraseSome(user, { scope: "work" })],
])("the receipt of the erasure of %s waits for it, also over an eviction", async (_, begin) => {
  const user = newUser();
  const { id: kept } = await create(user);
  await append(kept, [say("x".repeat(2 * MB))]);
  await ring(user);
  const { id } = (await begin(user)).body;
  const before = await pagesOf(user);
  await evict(user);
  expect((await erased(user, id)).status).toBe("done");
  expect(await pagesOf(user)).toMatchObject({ rounds: before.rounds + 1, zeros: 0 });
});

it("overwrites a message that is deleted alone, also what further rows hold of it, before it is removed", async () => {
  const user = newUser();
  const { id } = await create(user);
  await append(id, [say("x".repeat(2.5 * MB))]);
  const object = await objectOf(user);
  await runInDurableObject(object, (_, { storage: { sql } }) => {
    sql.exec("CREATE TABLE removed (bytes INTEGER, zeros INTEGER)");
    for (const table of ["messages", "message_parts"])
      sql.exec(`CREATE TRIGGER ${table}_removed BEFORE DELETE ON ${table} BEGIN
        INSERT INTO removed VALUES (LENGTH(OLD.body), OLD.body = zeroblob(LENGTH(OLD.body)));
      END`);
  });
  expect((await call(`/v1/threads/${id}/messages/1`, { method: "DELETE" })).status).toBe(204);
  const removed = await runInDurableObject(object, (_, { storage: { sql } }) =>
    sql.exec("SELECT zeros, bytes >= ? AS whole FROM removed ORDER BY bytes DESC", MB).toArray(),
  );
  expect(removed).toEqual([
    { zeros: 1, whole: 1 },
    { zeros: 1, whole: 1 },
    { zeros: 1, whole: 0 },
  ]);
});

it("are as many as before after an erasure that could not begin", async () => {
  const user = newUser();
  await create(user);
  const hash = await userHash(user);
  await runInDurableObject(await objectOf(user), async (instance, { storage: { sql } }) => {
    const row = "INSERT INTO memory_usage (folded_at, log, counters) VALUES (0, '', zeroblob(1785000))";
    for (let i = 0; i < 2; i++) sql.exec(row);
    const peak = () => Number(sql.exec("SELECT peak FROM free_pages").one().peak);
    const size = sql.databaseSize;
    // A table that is being read cannot be dropped.
    const open = sql.exec("SELECT * FROM memory_usage");
    open.next();
    await expect(instance.eraseUser({ hash, id: user })).rejects.toThrow("SQLITE_LOCKED");
    expect(() => open.toArray()).toThrow("SQLITE_ABORT");
    expect(peak()).toBeLessThan(size);
    expect((await instance.eraseUser({ hash, id: user })).ok).toBe(true);
    expect(peak()).toBeGreaterThanOrEqual(size);
  });
});
