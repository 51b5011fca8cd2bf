// An erasure while its stores fail, lag and die in the middle.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  EMPTIED,
  STAYING,
  USER_TABLES,
} from "../../../../durable-objects/user-memory/erasure/erased-tables.ts";
import { ErasureLog } from "../../../../durable-objects/user-memory/erasure/erasure-log.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { databaseOf } from "../../../databases.ts";
import { clock, control, type D1Write, restore } from "../../../doubles/control.ts";
import { landHeld } from "../../../doubles/held-writes.ts";
import { bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
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
import { evict } from "../../../evict.ts";
import { list, patch, recallTexts, remember, remembered } from "../../../memory-calls.ts";
import { append, create, said, say, threadOf } from "../../../thread-calls.ts";

let vectorize: VectorizeDouble;
beforeEach(() => {
  // Each test has its own: a write is carried out after all before it, and a test ends hours ahead of the next one.
  vectorize = new VectorizeDouble(256, ["user", "kind", "scope", "model"]);
  bindVectorize(vectorize);
  // A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
  control.clockAt = clock() + 24 * 3600_000;
});
afterEach(restore);

const vectorsOf = async (user: string) => {
  const hash = await userHash(user);
  return vectorize.ids().filter((id) => id.startsWith(hash));
};

async function userWithVectors() {
  const user = newUser();
  const thread = await threadOf(user, ["I play the cello"]);
  for (const text of ["I moved to Lisbon", "I like tea"]) await remember(user, { text });
  for (let rung = 0; rung < 3; rung++) await ring(user);
  return { user, thread };
}

/** All stores hold nothing of what there was, and what was written since. */
async function expectEmptyBut(user: string, texts: string[]) {
  expect((await list(user)).map(({ text }) => text).toSorted()).toEqual(texts);
  expect((await rowsOf(user)).memories).toBe(texts.length);
  expect(await vectorsOf(user)).toHaveLength(texts.length);
  const aside = Object.keys(await tablesOf(user)).filter((name) => /erased_|erasures|erasing/.test(name));
  expect(aside).toEqual([]);
}

it("takes the vectors out of Vectorize, and is done only when they have read back as gone", async () => {
  const { user } = await userWithVectors();
  // The outbox has forgotten them: only the object's own table of vectors knows their names.
  for (let rung = 0; rung < 10; rung++) await ring(user);
  expect(await vectorsOf(user)).toHaveLength(2);
  control.vectorizeLag = 60_000;
  const { id } = (await eraseUser(user)).body;
  for (let rung = 0; rung < 4; rung++) await ring(user);
  const open = (await erasure(id)).steps.find(({ state }) => state === "open");
  expect(open?.store).toBe("vectors");
  await erased(user, id);
  await expectEmptyBut(user, []);
});

it("takes the vectors of messages out of Vectorize too, also where they are to have none any more", async () => {
  control.messageIndexing = "vectorize";
  for (const meanwhile of ["vectorize", "full"] as const) {
    control.messageIndexing = "vectorize";
    const { user } = await userWithVectors();
    for (let rung = 0; rung < 10; rung++) await ring(user);
    expect(await vectorsOf(user)).toHaveLength(3);
    const { id } = (await eraseUser(user)).body;
    control.messageIndexing = meanwhile;
    await evict(user);
    await erased(user, id);
    await expectEmptyBut(user, []);
    expect(await vectorsOf(user)).toEqual([]);
  }
});

it("takes out the vector of a message that was on its way, of a user without memories, and none that came since", async () => {
  control.messageIndexing = "vectorize";
  const user = newUser();
  await threadOf(user, ["I play the cello"]);
  control.vectorizeWrites = "late";
  for (let rung = 0; rung < 3; rung++) await ring(user);
  const { id } = (await eraseUser(user)).body;
  control.vectorizeWrites = "ok";
  await threadOf(user, ["and the harp"]);
  const done = await erased(user, id);
  expect(done.steps.every(({ state }) => state === "done")).toBe(true);
  for (let rung = 0; rung < 5; rung++) await ring(user);
  expect(await vectorsOf(user)).toHaveLength(1);
  expect(await recallTexts(user, { query: "cello harp" })).toEqual(["and the harp"]);
});

it("signs nothing for a thread before the vectors of its messages have read back as gone, and leaves those of others", async () => {
  control.messageIndexing = "vectorize";
  const { user, thread } = await userWithVectors();
  await threadOf(user, ["and the harp"]);
  control.vectorizeWrites = "late";
  await append(thread.id, [say("and the flute")]);
  for (let rung = 0; rung < 3; rung++) await ring(user);
  control.vectorizeWrites = "ok";
  control.vectorizeLag = 90_000;
  const { id } = (await eraseSome(user, { threadId: thread.id })).body;
  for (let rung = 0; rung < 4; rung++) await ring(user);
  expect((await erasure(id)).steps.filter(({ state }) => state === "open")).toMatchObject([
    { store: "vectors" },
  ]);
  const done = await erased(user, id);
  expect(done.steps.map(({ store, state }) => [store, state])).toEqual([
    ["object", "done"],
    ["threads", "done"],
    ["vectors", "done"],
  ]);
  // Two memories, and the message of the other thread.
  expect(await vectorsOf(user)).toHaveLength(3);
});

it("does not let an upsert that is carried out late bring a vector back", async () => {
  const user = newUser();
  control.vectorizeWrites = "late";
  await remember(user, { text: "I moved to Lisbon" });
  await ring(user);
  control.vectorizeWrites = "ok";
  const { id } = (await eraseUser(user)).body;
  await erased(user, id);
  expect(await vectorsOf(user)).toEqual([]);
});

it.each(["before", "hang-after"] as const)(
  "goes on when Vectorize fails (%s), and says so meanwhile",
  async (how) => {
    const { user } = await userWithVectors();
    const { id } = (await eraseUser(user)).body;
    control.vectorizeWrites = how;
    for (let rung = 0; rung < 5; rung++) await ring(user);
    expect((await erasure(id)).status).toBe("running");
    control.vectorizeWrites = "ok";
    await remember(user, { text: "new" });
    await erased(user, id);
    for (let rung = 0; rung < 3; rung++) await ring(user);
    await expectEmptyBut(user, ["new"]);
  },
);

it("answers 503 while D1 cannot take note of it; nothing is recalled all the same, and a retry is the same erasure", async () => {
  const { user, thread } = await userWithVectors();
  control.d1Writes = "before";
  const refused = await eraseUser(user);
  expect(refused).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
  expect(await recallTexts(user, { query: "Lisbon cello tea" })).toEqual([]);
  expect((await call(`/v1/threads/${thread.id}`)).status).toBe(404);
  // Nothing new is listed beside what is old: D1 would have to know of the erasure first.
  expect((await remember(user, { text: "new" })).status).toBe(503);
  control.d1Writes = "ok";
  const begun = await eraseUser(user);
  expect(begun.status).toBe(202);
  expect(
    (
      await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) =>
        sql.exec("SELECT 1 FROM erasures").toArray(),
      )
    ).length,
  ).toBe(1);
  await erased(user, begun.body.id);
  await expectEmptyBut(user, []);
});

it.each([0, 1])(
  "answers 503 while D1 lists an erased thread, be it the write number %i that fails",
  async (n) => {
    const user = newUser();
    const { id: threadId } = await create(user, { title: "a secret title" });
    const listed = async () => (await call("/v1/threads", { token: await token(user) })).text;
    control.d1NextWrites = [...Array.from({ length: n }, (): D1Write => "ok"), "before"];
    expect((await eraseSome(user, { threadId })).status).toBe(503);
    control.d1NextWrites = ["ok", "ok", "ok"];
    const again = await eraseSome(user, { threadId });
    expect(again.status).toBe(202);
    expect(await listed()).not.toContain("secret");
    const done = await erased(user, again.body.id);
    expect(done.steps[0]?.erased).toMatchObject({ threads: 1 });
  },
);

describe.each(["after", "late"] as const)("where D1 fails (%s)", (how) => {
  // The note and fence, memories, threads, users, and the receipt.
  it.each([0, 2, 4])("at its write number %i, all is erased in the end", async (n) => {
    const user = newUser();
    await threadOf(user, ["I play the cello"]);
    await remember(user, { text: "I like tea" });
    control.d1NextWrites = [...Array.from({ length: n }, (): D1Write => "ok"), how, how];
    await eraseUser(user);
    for (let rung = 0; rung < 2; rung++) await ring(user);
    await remember(user, { text: "new" });
    control.d1NextWrites = [];
    await remember(user, { text: "newer" });
    await landHeld();
    const { id } = (await call(`/v1/users/${user}`, { method: "DELETE" })).body;
    await landHeld();
    await erased(user, id);
    for (let rung = 0; rung < 4; rung++) await ring(user);
    await expectEmptyBut(user, []);
    expect(await rowsOf(user)).toEqual({ memories: 0, threads: 0, users: 0 });
  });
});

it("lets no write that was under way land behind it: neither a memory nor a thread", async () => {
  const user = newUser();
  control.d1NextWrites = ["late"];
  expect((await remember(user, { text: "I like tea" })).status).toBe(503);
  control.d1NextWrites = ["late"];
  await create(user, { title: "a secret title" });
  const { id } = (await eraseUser(user)).body;
  await erased(user, id);
  await landHeld();
  expect(await rowsOf(user)).toEqual({ memories: 0, threads: 0, users: 0 });
  // The list is 503 until the alarm has settled the thread that the catalogue did not take.
  const listed = async () => (await call("/v1/threads", { token: await token(user) })).body.items;
  for (let rung = 0; rung < 10 && (await listed()) === undefined; rung++) await ring(user);
  expect(await listed()).toEqual([]);
  expect(await rowsOf(user)).toEqual({ memories: 0, threads: 0, users: 0 });
});

it.each([
  ["the user", (user: string) => eraseUser(user)],
  ["its scope", (user: string) => eraseSome(user, { scope: "work" })],
])(
  "refuses a write that waits behind another one when %s is erased, and writes nothing of it",
  async (_, erase) => {
    const user = newUser();
    let release = (): void => {};
    const held = new Promise<void>((done) => void (release = done));
    const under = new Promise<void>((begun) => {
      control.duringD1Write = async () => {
        begun();
        await held;
      };
    });
    const first = remember(user, { text: "I like tea", scope: "work" });
    await under;
    const second = remember(user, { text: "I moved to Lisbon", scope: "work" });
    await expect
      .poll(() => control.embedded.flatMap(({ texts }) => texts).join())
      .toContain("moved to Lisbon");
    await scheduler.wait(100);
    control.duringD1Write = async () => {};
    const erasing = erase(user);
    await scheduler.wait(100);
    release();
    const { id } = (await erasing).body;
    expect((await first).status).toBe(201);
    expect(await second).toMatchObject({ status: 409, body: { error: { code: "erased_meanwhile" } } });
    await erased(user, id);
    expect(await list(user)).toEqual([]);
    expect(await recallTexts(user, { query: "tea Lisbon" })).toEqual([]);
    expect((await rowsOf(user)).memories).toBe(0);
  },
);

it("counts all that it removes, whatever fails between two slices", async () => {
  const user = newUser();
  const { id: thread } = await create(user);
  for (let i = 0; i < 3; i++)
    await append(
      thread,
      Array.from({ length: 900 }, (_, n) => say(`message ${i} ${n}`)),
    );
  const { id } = (await eraseUser(user)).body;
  for (let slice = 0; slice < 8; slice++) {
    [control.goodTransactions, control.failingTransactions] = [slice, 1];
    await ring(user);
  }
  [control.goodTransactions, control.failingTransactions] = [0, 0];
  expect((await erased(user, id)).steps[0]?.erased).toMatchObject({ messages: 2700 });
});

it("refuses a correction that waits for its vector when it begins", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "I like tea" });
  let erasing = "";
  control.duringEmbed = async () => {
    control.duringEmbed = async () => {};
    erasing = (await eraseUser(user)).body.id;
  };
  const corrected = await patch(user, id, { text: "I like coffee" });
  expect(corrected).toMatchObject({ status: 409, body: { error: { code: "erased_meanwhile" } } });
  await erased(user, erasing);
  expect(await list(user)).toEqual([]);
});

it("undoes nothing that was written since, when what deletes lands late", async () => {
  const { user } = await userWithVectors();
  const { id } = (await eraseUser(user)).body;
  control.d1NextWrites = ["late", "late", "late"];
  await ring(user);
  const fresh = await threadOf(user, ["hello"]);
  await remember(user, { text: "I like tea" });
  await landHeld();
  await erased(user, id);
  expect((await list(user)).map(({ text }) => text)).toEqual(["I like tea"]);
  expect(await said(fresh.id)).toEqual(["hello"]);
  expect((await call("/v1/threads", { token: await token(user) })).body.items).toHaveLength(1);
});

it("goes on from where it was when the object is evicted between any two alarms", async () => {
  const { user } = await userWithVectors();
  const { id } = (await eraseUser(user)).body;
  for (let rung = 0; rung < 6; rung++) {
    await evict(user);
    await ring(user);
  }
  expect((await erased(user, id)).steps.every(({ state }) => state === "done")).toBe(true);
  await expectEmptyBut(user, []);
});

it("is undone as a whole when its transaction fails: nothing is erased, and nothing lost", async () => {
  const { user, thread } = await userWithVectors();
  // It is tried three times more.
  control.failingTransactions = 100;
  expect((await eraseUser(user)).status).toBe(500);
  control.failingTransactions = 0;
  expect(await recallTexts(user, { query: "Lisbon cello tea" })).toHaveLength(3);
  expect(await said(thread.id)).toEqual(["I play the cello"]);
  await erased(user, (await eraseUser(user)).body.id);
  await expectEmptyBut(user, []);
});

it("goes on with the last one where many began in one millisecond, whose ids have no order", async () => {
  const user = newUser();
  for (let round = 0; round < 10; round++) {
    await remember(user, { text: `round ${round}` });
    expect((await eraseUser(user)).status).toBe(202);
  }
  await remember(user, { text: "the last" });
  control.d1Writes = "before";
  expect((await eraseUser(user)).status).toBe(503);
  control.d1Writes = "ok";
  expect((await list(user)).map(({ text }) => text)).toEqual(["the last"]);
  expect((await eraseUser(user)).status).toBe(202);
  expect(await list(user)).toEqual([]);
});

it("erases a scope through an outage of D1, with its vectors, as one erasure", async () => {
  const user = newUser();
  await remember(user, { text: "I like tea", scope: "home" });
  await remember(user, { text: "The office is in Lisbon", scope: "work" });
  for (let rung = 0; rung < 3; rung++) await ring(user);
  control.d1Writes = "before";
  expect((await eraseSome(user, { scope: "work" })).status).toBe(503);
  expect(await recallTexts(user, { query: "Lisbon tea" })).toEqual(["I like tea"]);
  control.d1Writes = "ok";
  const { id } = (await eraseSome(user, { scope: "work" })).body;
  const done = await erased(user, id);
  expect(done.steps[0]?.erased).toEqual({ memoryVersions: 1 });
  await expectEmptyBut(user, ["I like tea"]);
});

it("erases what only D1 has of a scope, with its history and its vector, before it says that it begins", async () => {
  const user = newUser();
  await remember(user, { text: "I like tea", scope: "work" });
  const { id } = await remembered(user, { text: "I like coffee", scope: "work" });
  await patch(user, id, { text: "I like much coffee" });
  for (let rung = 0; rung < 3; rung++) await ring(user);
  expect(await vectorsOf(user)).toHaveLength(3);
  // The object was set back to a state before it.
  await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    sql.exec("DELETE FROM vectors WHERE n IN (SELECT version FROM memories WHERE id = ?)", id);
    sql.exec("DELETE FROM vector_outbox WHERE n IN (SELECT version FROM memories WHERE id = ?)", id);
    sql.exec("DELETE FROM memories WHERE id = ?", id);
  });
  const begun = await eraseSome(user, { scope: "work" });
  expect(begun.status).toBe(202);
  expect((await rowsOf(user)).memories).toBe(0);
  await remember(user, { text: "I like water", scope: "work" });
  expect((await erased(user, begun.body.id)).status).toBe("done");
  await expectEmptyBut(user, ["I like water"]);
});

it("waits between two looks at what D1 still has of a scope", async () => {
  const user = newUser();
  await remember(user, { text: "I like tea", scope: "work" });
  const { id } = (await eraseSome(user, { scope: "work" })).body;
  await runInDurableObject(
    await objectOf(user),
    (_, { storage: { sql } }) =>
      void sql.exec(
        `UPDATE erasures SET state = json_set(state, '$.steps[0].state', 'done', '$.steps[2].state', 'done')`,
      ),
  );
  const database = await databaseOf(user);
  const stuck = (await remember(user, { text: "stuck", scope: "work" })).body;
  await database.prepare("UPDATE memories SET version = 1 WHERE text = 'stuck'").run();
  // A row that D1 does not let go.
  for (const change of ["UPDATE", "DELETE"])
    await database.exec(
      `CREATE TRIGGER stuck_${change} BEFORE ${change} ON memories WHEN OLD.id = '${stuck.id}' BEGIN SELECT RAISE(IGNORE); END`,
    );
  const from = control.clockAt ?? 0;
  for (let rung = 0; rung < 10; rung++) await ring(user);
  expect((await erasure(id)).status).toBe("running");
  expect((control.clockAt ?? 0) - from).toBeGreaterThanOrEqual(20_000);
  for (const change of ["UPDATE", "DELETE"]) await database.exec(`DROP TRIGGER stuck_${change}`);
  expect((await erased(user, id)).status).toBe("done");
});

it("takes note of more versions than one statement can bind", async () => {
  const user = newUser();
  await remember(user, { text: "x" });
  const versions = Array.from({ length: 600_000 }, (_, n) => 10 ** 15 + n);
  const noted = await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const log = new ErasureLog(sql, { scheduleBy: () => {} });
    log.addVersions("id", versions);
    const { all } = log.versions("id");
    sql.exec("DELETE FROM erasing_versions");
    return all;
  });
  expect(noted).toBe(versions.length);
});

it("names no store in a receipt that nobody looked at: vectors, where the index is unbound", async () => {
  const { user } = await userWithVectors();
  const { user: other } = await userWithVectors();
  const begun = (await eraseUser(other)).body;
  expect(begun.steps.map(({ store }: { store: string }) => store)).toContain("vectors");
  const unbound = async (whose: string, id: () => Promise<string>) => {
    bindVectorize(null);
    try {
      await evict(whose);
      const done = await erased(whose, await id());
      const [, payload = ""] = (done.receipt ?? "").split(".");
      const { erased: named } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
      return named.map(({ store }: { store: string }) => store);
    } finally {
      bindVectorize(vectorize);
    }
  };
  const stores = ["object", "memories", "threads", "users", "signIns"];
  expect(await unbound(user, async () => (await eraseUser(user)).body.id)).toEqual(stores);
  expect(await unbound(other, async () => begun.id)).toEqual(stores);
});

it("knows of every table of the object whether it goes with the user", async () => {
  const user = newUser();
  await remember(user, { text: "x" });
  const names = await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) =>
    sql
      .exec<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name),
  );
  const own = names.filter((name) => !/^(sqlite_|_cf|words_)/.test(name));
  expect(own.toSorted()).toEqual([...Object.keys(USER_TABLES), ...EMPTIED, ...STAYING].toSorted());
});

it("reads no row of D1 that is older than the fence, in any list", async () => {
  const user = newUser();
  const fact = { subject: "I", predicate: "like", cardinality: "one" };
  const old = await remember(user, { ...fact, object: "tea", expiresAt: (control.clockAt ?? 0) + 1 });
  await eraseUser(user);
  // The same id, while the old version is still in D1 and has expired.
  control.clockAt = (control.clockAt ?? 0) + 60_000;
  const fresh = await remember(user, { ...fact, object: "coffee" });
  expect(fresh.body.id).toBe(old.body.id);
  const database = await databaseOf(user);
  const { results } = await database
    .prepare("SELECT version FROM memories WHERE user_hash = ?")
    .bind(await userHash(user))
    .all();
  expect(results).toHaveLength(2);
  expect((await list(user)).map(({ text }) => text)).toEqual(["I like coffee"]);
  expect((await list(user, `asOf=${control.clockAt}`)).map(({ text }) => text)).toEqual(["I like coffee"]);
});

describe("the receipt of a thread", () => {
  const MINUTE = 60_000;
  /** The time that the receipt takes by the tests' clock. */
  const took = async (user: string, threadId: string) => {
    const { id } = (await eraseSome(user, { threadId })).body;
    const { requestedAt, finishedAt = Infinity } = await erased(user, id);
    return finishedAt - requestedAt;
  };

  it("waits for no write where D1 has answered them all", async () => {
    const user = newUser();
    const { id } = await create(user, { title: "a secret title" });
    await append(id, [say("I play the cello")]);
    await call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "another title" } });
    expect(await took(user, id)).toBeLessThan(MINUTE / 4);
    expect((await rowsOf(user)).threads).toBe(0);
  });

  it.each([
    ["its change", "late"],
    ["its change, for which the object died", "hang-late"],
  ] as const)(
    "waits until the lost write of %s has landed, and the row does not come back",
    async (_, how) => {
      const user = newUser();
      const { id } = await create(user, { title: "a secret title" });
      control.d1NextWrites = [how];
      const change = call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "another title" } });
      await expect.poll(() => control.d1NextWrites).toEqual([]);
      if (how === "hang-late")
        await runInDurableObject(await objectOf(user), (_object, state) => state.abort()).catch(() => null);
      await change.catch(() => null);
      // A later write that D1 answers says nothing of the lost one.
      await call(`/v1/threads/${id}`, { method: "PATCH", json: { title: "a third title" } });
      const { id: erasing } = (await eraseSome(user, { threadId: id })).body;
      await ring(user);
      await landHeld();
      expect((await rowsOf(user)).threads).toBe(1);
      const { requestedAt, finishedAt = 0 } = await erased(user, erasing);
      expect(finishedAt - requestedAt).toBeGreaterThanOrEqual(MINUTE);
      expect((await rowsOf(user)).threads).toBe(0);
    },
  );

  it("waits until the lost write of its beginning has landed, though D1 has taken the thread since", async () => {
    const user = newUser();
    control.d1NextWrites = ["late"];
    const { id } = await create(user, { title: "a secret title" });
    for (let rung = 0; rung < 5 && (await rowsOf(user)).threads === 0; rung++) await ring(user);
    expect((await rowsOf(user)).threads).toBe(1);
    const { id: erasing } = (await eraseSome(user, { threadId: id })).body;
    await ring(user);
    expect((await erasure(erasing)).status).toBe("running");
    await landHeld();
    await erased(user, erasing);
    expect((await rowsOf(user)).threads).toBe(0);
  });
});
