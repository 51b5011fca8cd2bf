// The storage of an object whose user was erased: deleted as a whole, and made anew with what stays.
import { createScheduledController, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { STAYING } from "../../../../durable-objects/user-memory/erasure/erased-tables.ts";
import { ErasedWrite } from "../../../../src/platform/d1/write-errors.ts";
import { D1ThreadCatalogue } from "../../../../src/platform/d1/thread-catalogue.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { eraseUser, erased, erasure, objectOf, ring, rowsOf, tablesOf } from "../../../erasure-calls.ts";
import { listTexts, recallTexts, remember, remembered } from "../../../memory-calls.ts";
import { append, create, said, say, threadOf } from "../../../thread-calls.ts";
import worker from "../../../worker.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const MB = 1024 * 1024;

/** The numbers of the user's that go on for ever, and how large the object's database is. */
async function numbersOf(user: string) {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => ({
    ...sql
      .exec<{ epoch: number; upTo: number }>("SELECT epoch, erased_up_to AS upTo FROM erasure_epoch")
      .one(),
    ...sql.exec<{ version: number }>("SELECT last_version AS version FROM memory_clock").one(),
    ...sql
      .exec<{ thread: number | null }>(
        "SELECT MAX(seq) AS thread FROM sqlite_sequence WHERE name = 'threads'",
      )
      .one(),
    size: sql.databaseSize,
  }));
}

/** Counts how often free pages were overwritten. */
const roundsOf = async (user: string): Promise<number> =>
  runInDurableObject(
    await objectOf(user),
    (_, { storage: { sql } }) => sql.exec<{ rounds: number }>("SELECT rounds FROM free_pages").one().rounds,
  );

/** A user with 5 MB of messages, and memories. */
async function largeUser(): Promise<string> {
  const user = newUser();
  const { id } = await create(user);
  for (let n = 0; n < 5; n++) await append(id, [say("herons ".repeat(MB / 8))]);
  for (const text of ["I moved to Lisbon", "I like tea"]) await remembered(user, { text });
  return user;
}

/** Rings the alarm until the object dies with its storage deleted, and nothing else committed. */
async function dieInReset(user: string): Promise<void> {
  control.clockAt = (control.clockAt ?? 0) + 1000;
  control.diesAfterDeleteAll = true;
  for (let rung = 0; control.diesAfterDeleteAll && rung < 50; rung++) await ring(user).catch(() => null);
  expect(control.diesAfterDeleteAll).toBe(false);
}

/** Threads and memories are written and read as those of any user. */
async function expectToWork(user: string): Promise<void> {
  const thread = await threadOf(user, ["hello"]);
  expect(await said(thread.id)).toEqual(["hello"]);
  const { items } = (await call("/v1/threads", { token: await token(user) })).body;
  expect(items.map(({ id }: { id: string }) => id)).toEqual([thread.id]);
  await expect.poll(async () => (await remember(user, { text: "I like coffee" })).status).toBeLessThan(300);
  expect([await listTexts(user), await recallTexts(user, { query: "coffee" })]).toEqual([
    ["I like coffee"],
    ["I like coffee"],
  ]);
}

it("is small after an erasure, and goes on with the numbers of threads, versions and the epoch", async () => {
  const user = await largeUser();
  const before = await numbersOf(user);
  expect(before.size).toBeGreaterThan(4 * MB);
  const { id } = (await eraseUser(user)).body;
  const done = await erased(user, id);
  expect(done.receipt).toBeTruthy();
  expect(done.steps[0]?.erased).toMatchObject({ threads: 1, messages: 5, memoryVersions: 2 });
  const after = await numbersOf(user);
  expect(after).toEqual({
    epoch: before.epoch + 1,
    upTo: before.version,
    version: before.version,
    thread: before.thread,
    size: expect.any(Number),
  });
  expect(after.size).toBeLessThan(500_000);
  // It is a new file, whose free pages nobody had to overwrite.
  expect(await roundsOf(user)).toBe(0);
  const names = Object.keys(await tablesOf(user));
  expect(names.filter((name) => !STAYING.some((one) => one === name))).toEqual([]);
  await expectToWork(user);
  const more = await numbersOf(user);
  expect([more.thread, more.version]).toEqual([(after.thread ?? 0) + 1, after.version + 1]);
});

it("still keeps out what was written in an earlier epoch and lands late", async () => {
  const user = await largeUser();
  const { epoch } = await numbersOf(user);
  await erased(user, (await eraseUser(user)).body.id);
  const hash = await userHash(user);
  const late = { id: `${hash}.late`, userHash: hash, userId: user, title: "late", agent: null } as const;
  const row = { ...late, resourceSlug: null, recordId: null, metadata: null, createdAt: 1, updatedAt: 1 };
  const landed = new D1ThreadCatalogue(env.DB).apply({ put: [{ ...row, epoch }], remove: [], epoch });
  await expect(landed).rejects.toBeInstanceOf(ErasedWrite);
  expect((await rowsOf(user)).threads).toBe(0);
  const imported = await runInDurableObject(await objectOf(user), (object) =>
    object.importItems({ hash, id: user }, { epoch, items: [] }),
  );
  expect(imported).toMatchObject({ ok: false, code: "erased_meanwhile" });
});

it("is made anew also while a page has been read in part", async () => {
  const user = await largeUser();
  const { id } = (await eraseUser(user)).body;
  const object = await objectOf(user);
  const pages: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  await runInDurableObject(object, (_, { storage: { sql } }) => {
    const page = sql.exec("SELECT name FROM sqlite_schema");
    page.next();
    pages.push(page);
    // SQLite takes it for a statement under way.
    expect(() => sql.exec("DROP TABLE zeros")).toThrow("SQLITE_LOCKED");
  });
  expect((await erased(user, id)).receipt).toBeTruthy();
  // It was held until now.
  expect([await roundsOf(user), pages.length]).toEqual([0, 1]);
  await expectToWork(user);
});

it("is left as it is where something was written since, whose free pages are overwritten", async () => {
  const user = await largeUser();
  const { id } = (await eraseUser(user)).body;
  const thread = await threadOf(user, ["hello"]);
  await erased(user, id);
  expect(await said(thread.id)).toEqual(["hello"]);
  expect(await roundsOf(user)).toBe(1);
});

it("begins behind the erasure if the object dies right after its storage was deleted, and gets its receipt", async () => {
  const user = await largeUser();
  const { epoch } = await numbersOf(user);
  const { id } = (await eraseUser(user)).body;
  await dieInReset(user);
  expect((await erasure(id)).status).toBe("running");
  expect((await numbersOf(user)).epoch).toBeGreaterThan(epoch + 1);
  await expectToWork(user);
  control.clockAt = (control.clockAt ?? 0) + 2 * 3600_000;
  await worker.scheduled(createScheduledController(), env);
  const done = await erased(user, id);
  expect(done.receipt).toBeTruthy();
  expect(done.steps[0]?.erased).toMatchObject({ threads: 1, messages: 5, memoryVersions: 2 });
  expect(await listTexts(user)).toEqual(["I like coffee"]);
});

it("takes over no erasure whose object was set back to a state from before it", async () => {
  const user = await largeUser();
  const { id } = (await eraseUser(user)).body;
  await dieInReset(user);
  await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    sql.exec("UPDATE erasure_epoch SET epoch = 1");
  });
  control.clockAt = (control.clockAt ?? 0) + 2 * 3600_000;
  await worker.scheduled(createScheduledController(), env);
  for (let rung = 0; rung < 3; rung++) await ring(user);
  expect((await erasure(id)).status).toBe("running");
});
