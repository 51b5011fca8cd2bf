// An object whose storage is older than D1: after a restore, or made anew. An acknowledged write is in D1 all the same.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { D1MemoryRecords } from "../../../../src/platform/d1/memory-records.ts";
import { ErasedWrite, OvertakenWrite } from "../../../../src/platform/d1/write-errors.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { databaseOf } from "../../../databases.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { listTexts, recallTexts, remember } from "../../../memory-calls.ts";
import { create } from "../../../thread-calls.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));

/** Loses the object's storage, and rebuilds it from D1. */
async function loseAndReindex(user: string): Promise<void> {
  const lose = async (_: unknown, state: DurableObjectState) => {
    await state.storage.deleteAll();
    await state.storage.sync();
    state.abort("lost");
  };
  await runInDurableObject(await objectOf(user), lose).catch(() => null);
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  await runDurableObjectAlarm(await objectOf(user));
  expect((await call(`/v1/users/${user}/reindex`)).body.status).toBe("done");
}

it("puts a write into D1 whose number D1 has passed already", async () => {
  const user = newUser();
  control.clockAt = clock();
  await remember(user, { text: "an otter in the river" });
  await loseAndReindex(user);
  // The next machine's clock is behind, and the object has forgotten the number of its last write.
  control.clockAt -= 3_600_000;
  expect((await remember(user, { text: "a heron in the reeds" })).status).toBe(201);
  expect(await listTexts(user)).toEqual(["a heron in the reeds", "an otter in the river"]);
  expect(await recallTexts(user, { query: "otter heron" })).toEqual(await listTexts(user));
});

it("knows a fact that D1 has again, with a clock that is behind", async () => {
  const user = newUser();
  const fact = { text: "the boat is in Porto", subject: "the boat", predicate: "is in", object: "Porto" };
  control.clockAt = clock();
  const { body } = await remember(user, fact);
  await loseAndReindex(user);
  control.clockAt -= 3_600_000;
  const again = await remember(user, fact);
  expect([again.status, again.body.id, again.body.version]).toEqual([200, body.id, body.version]);
  const { items } = (await call(`/v1/users/${user}/memories/${body.id}/history`)).body;
  expect(items).toHaveLength(1);
});

it("acknowledges no write of versions that D1 knows to be erased, and takes the next try", async () => {
  const user = newUser();
  await remember(user, { text: "before the erasure" });
  await call(`/v1/users/${user}`, { method: "DELETE" });
  await runDurableObjectAlarm(await objectOf(user));
  await loseAndReindex(user);
  const first = await remember(user, { text: "after it" });
  expect([first.status, first.body.error.message]).toEqual([
    503,
    expect.stringContaining("nothing was stored"),
  ]);
  expect((await remember(user, { text: "after it" })).status).toBe(201);
  expect([await listTexts(user), await recallTexts(user, { query: "after" })]).toEqual([
    ["after it"],
    ["after it"],
  ]);
  const { items } = (await call("/v1/users?limit=1000")).body;
  expect(items.map(({ userId }: { userId: string }) => userId)).toContain(user);
});

it("rejects a write of D1 that came after a later one, with the later number, and one of erased versions", async () => {
  const records = new D1MemoryRecords(env.DB);
  const owner = { hash: await userHash(newUser()), id: "someone" };
  const nothing = { owner, put: [], forget: [] };
  await records.write({ ...nothing, seq: 7 });
  const overtaken = records.write({ ...nothing, seq: 6 });
  await expect(overtaken).rejects.toBeInstanceOf(OvertakenWrite);
  await expect(overtaken).rejects.toMatchObject({ seq: 7 });
  const user = newUser();
  const memory = (await remember(user, { text: "kept" })).body;
  const { hash } = { hash: await userHash(user) };
  const [row] = await records.all(hash, { limit: 1 });
  await env.DB.prepare("UPDATE memory_writes SET erased_up_to = ?, epoch = 3 WHERE user_hash = ?")
    .bind(memory.version, hash)
    .run();
  const erased = records.write({
    owner: { hash, id: user },
    seq: 2 ** 50,
    put: row ? [row] : [],
    forget: [],
  });
  await expect(erased).rejects.toBeInstanceOf(ErasedWrite);
  await expect(erased).rejects.toMatchObject({ upTo: memory.version, epoch: 3 });
});

const listedThreads = async (user: string): Promise<string[]> =>
  (await call("/v1/threads", { token: await token(user) })).body.items.map(({ id }: { id: string }) => id);
const epochOf = async (user: string): Promise<number> =>
  runInDurableObject(
    await objectOf(user),
    (_, { storage }) => storage.sql.exec<{ epoch: number }>("SELECT epoch FROM erasure_epoch").one().epoch,
  );
/** Raises D1's fence above the object's epoch, as when the object is set back to before an erasure. */
async function erasedSince(user: string): Promise<void> {
  await (
    await databaseOf(user)
  )
    .prepare(
      `INSERT INTO memory_writes (user_hash, seq, erased_up_to, epoch) VALUES (?1, 0, 0, ?2)
       ON CONFLICT (user_hash) DO UPDATE SET epoch = ?2`,
    )
    .bind(await userHash(user), (await epochOf(user)) + 3)
    .run();
}

describe("the catalogue of an object that was set back to before an erasure", () => {
  it("lists a new thread before it can be read, then all others, and the user", async () => {
    const user = newUser();
    const { id: older } = await create(user);
    await erasedSince(user);
    expect(await listedThreads(user)).toEqual([]);
    const [first, second] = await Promise.all([create(user), create(user)]);
    expect(await listedThreads(user)).toEqual(expect.arrayContaining([first.id, second.id]));
    await runDurableObjectAlarm(await objectOf(user));
    expect(new Set(await listedThreads(user))).toEqual(new Set([older, first.id, second.id]));
    const { items } = (await call("/v1/users?limit=1000")).body;
    expect(items.map(({ userId }: { userId: string }) => userId)).toContain(user);
  });

  it("follows a change of a thread that was there", async () => {
    const user = newUser();
    const { id } = await create(user);
    await erasedSince(user);
    await call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "changed" } });
    expect(await listedThreads(user)).toEqual([id]);
  });

  it("follows a write of a memory that D1 refuses", async () => {
    const user = newUser();
    const { id } = await create(user);
    const { version } = (await remember(user, { text: "before" })).body;
    await erasedSince(user);
    await (
      await databaseOf(user)
    )
      .prepare("UPDATE memory_writes SET erased_up_to = ? WHERE user_hash = ?")
      .bind(version + 1, await userHash(user))
      .run();
    expect((await remember(user, { text: "after" })).status).toBe(503);
    await runDurableObjectAlarm(await objectOf(user));
    expect(await listedThreads(user)).toEqual([id]);
  });

  it("begins no thread that the user's own erasure overtakes", async () => {
    const user = newUser();
    await create(user);
    await erasedSince(user);
    let writes = 0;
    control.duringD1Write = async () => {
      // The first try was refused, and the second is on its way.
      if (writes++ === 1) await call(`/v1/users/${user}`, { method: "DELETE" });
    };
    const begun = await call(`/v1/users/${user}/threads`, { json: {} });
    expect([begun.status, begun.body.error.code]).toEqual([409, "erased_meanwhile"]);
    expect((await call(`/v1/users/${user}/threads`)).body.items).toEqual([]);
  });
});

it("lists with a reindex the threads, and the user, that a restored D1 has lost", async () => {
  const user = newUser();
  const [kept, gone] = [(await create(user)).id, (await create(user)).id];
  await call(`/v1/threads/${gone}`, { method: "DELETE" });
  const database = await databaseOf(user);
  for (const table of ["threads", "users"])
    await database
      .prepare(`DELETE FROM ${table} WHERE user_hash = ?`)
      .bind(await userHash(user))
      .run();
  expect(await listedThreads(user)).toEqual([]);
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  await runDurableObjectAlarm(await objectOf(user));
  expect(await listedThreads(user)).toEqual([kept]);
  const { items } = (await call("/v1/users?limit=1000")).body;
  expect(items.map(({ userId }: { userId: string }) => userId)).toContain(user);
});
