import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { packed, unpacked } from "../../../../src/domain/usage/shown-memories.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { usedLikelyBy, wordHashes } from "../../../../src/domain/usage/used-likely.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { evict } from "../../../evict.ts";
import { forget, remembered } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

afterEach(restore);

const DAY = 24 * 60 * 60_000;
const recall = async (user: string, query: string, more = {}) =>
  (await call(`/v1/users/${user}/recall`, { json: { query, ...more } })).body;
const outcome = (id: string, json: object) => call(`/v1/recalls/${id}/outcome`, { json });
const usage = async (user: string, query = "") => (await call(`/v1/users/${user}/usage?${query}`)).body.items;

describe("usedLikelyBy", () => {
  it.each([
    ["user lives in Porto", "You live in Porto.", "where do I live?", true],
    ["The budget is 600 euros", "You can spend 600.", "what may it cost?", true],
    ["We deploy with wrangler from GitHub Actions", "Actions runs wrangler.", "how do we deploy?", true],
    ["the kitchen has wooden cupboards", "Wooden ones in the kitchen.", "?", true],
    ["the kitchen has wooden cupboards", "The kitchen is warm.", "?", false],
    ["the kitchen has wooden cupboards", "The wooden kitchen.", "is it wooden?", false],
    ["user lives in Porto", "I do not know.", "where do I live?", false],
    ["user lives in Porto", "Porto is nice.", "is Porto nice?", false],
    ["I like green tea", "The weather is fine.", "what do I drink?", false],
    ["私は京都に住んでいます", "東京です", "どこ", false],
  ])("%s | %s", (memory, answer, query, expected) => {
    expect(usedLikelyBy(answer, wordHashes(query))(memory)).toBe(expected);
  });

  it("reads 20,000 characters of an answer, and 1,000 of a memory, whatever follows", () => {
    const isUsed = (memory: string, answer: string) => usedLikelyBy(answer, [])(memory);
    expect(isUsed("user lives in Porto", `${"a ".repeat(9_990)}Porto`)).toBe(true);
    expect(isUsed("user lives in Porto", `${"a ".repeat(10_000)}Porto`)).toBe(false);
    expect(isUsed(`${"a ".repeat(490)}Porto`, "In Porto.")).toBe(true);
    expect(isUsed(`${"a ".repeat(500)}Porto`, "In Porto.")).toBe(false);
  });
});

describe("the outcome of a recall", () => {
  it("counts what was used, once, also after an eviction", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const tea = await remembered(user, { text: "The user lives on tea" });
    const { recallId, hits } = await recall(user, "where does the user live?");
    expect(hits).toHaveLength(2);
    await remembered(user, { text: "The user has a cat" });
    await evict(user);
    for (let i = 0; i < 2; i++) {
      const { status, body } = await outcome(recallId, { used: [porto.id] });
      expect([status, body]).toEqual([200, { used: [porto.id], usedLikely: [] }]);
    }
    const counted = await usage(user);
    expect(counted).toContainEqual({
      memoryId: porto.id,
      recalled: 1,
      injected: 0,
      used: 1,
      usedLikely: 0,
      lastRecalledAt: expect.any(Number),
      lastUsedAt: expect.any(Number),
    });
    expect(counted).toContainEqual(expect.objectContaining({ memoryId: tea.id, recalled: 1, used: 0 }));
  });

  it("is found in the answer where nobody names the memories", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const { recallId } = await recall(user, "where does the user live?");
    const { body } = await outcome(recallId, { answer: "You live in Porto." });
    expect(body).toEqual({ used: [], usedLikely: [porto.id] });
    expect(await usage(user)).toMatchObject([{ usedLikely: 1 }]);
  });

  it("takes one common word of a memory for no use", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "the kitchen has wooden cupboards" });
    const told = async (answer: string) => {
      const { recallId } = await recall(user, "what about the cupboards?");
      return (await outcome(recallId, { answer })).body.usedLikely;
    };
    expect(await told("The kitchen is warm.")).toEqual([]);
    expect(await told("Those of the kitchen are wooden.")).toEqual([id]);
  });

  it.each([
    ["the ids of memories", (id: string) => ({ used: [id] }), { used: 1, usedLikely: 0 }],
    ["an answer", () => ({ answer: "You live in Porto." }), { used: 0, usedLikely: 1 }],
  ])(
    "counts by %s, and the recall with it, when the object was evicted before a write",
    async (_, told, counts) => {
      const user = newUser();
      const porto = await remembered(user, { text: "The user lives in Porto" });
      const tea = await remembered(user, { text: "The user lives on tea" });
      const { recallId } = await recall(user, "where does the user live?");
      await evict(user);
      for (let i = 0; i < 2; i++) expect((await outcome(recallId, told(porto.id))).status).toBe(200);
      const counted = await usage(user);
      expect(counted).toContainEqual(expect.objectContaining({ memoryId: porto.id, recalled: 1, ...counts }));
      expect(counted).toContainEqual(expect.objectContaining({ memoryId: tea.id, recalled: 1, used: 0 }));
    },
  );

  it("counts of a context when the object was evicted before a write", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const { recallId } = (await call(`/v1/users/${user}/context`, { json: { query: "Where do I live?" } }))
      .body;
    await evict(user);
    // A word of the query tells nothing, also when only the id knows the query.
    const likely = await outcome(recallId, { answer: "To live is nice." });
    expect(likely.body).toEqual({ used: [], usedLikely: [] });
    expect(await usage(user)).toMatchObject([{ memoryId: porto.id, injected: 1, recalled: 0 }]);
  });

  it("counts nothing of a memory that was forgotten, nor of a user who was erased, since", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const tea = await remembered(user, { text: "The user lives on tea" });
    const { recallId } = await recall(user, "where does the user live?");
    await evict(user);
    await forget(user, porto.id);
    // One memory of the recall is gone, so one other id may be its.
    for (const used of [["anything at all"], [porto.id, crypto.randomUUID()]]) {
      const { status, body } = await outcome(recallId, { used });
      expect([status, body.error.details[0].path]).toEqual([400, `body.used[${used.length - 1}]`]);
    }
    expect((await outcome(recallId, { used: [porto.id, tea.id] })).status).toBe(200);
    expect(await usage(user)).toMatchObject([{ memoryId: tea.id, recalled: 1, used: 1 }]);
    const later = await recall(user, "where does the user live?");
    await call(`/v1/users/${user}`, { method: "DELETE" });
    await evict(user);
    expect((await outcome(later.recallId, { used: [tea.id] })).status).toBe(404);
    expect(await usage(user)).toEqual([]);
  });

  it("is refused for an id that Cairn has not made", async () => {
    const [alice, bob] = [newUser(), newUser()];
    await remembered(alice, { text: "The user lives in Porto" });
    await remembered(bob, { text: "The user lives in Faro" });
    const [ofAlice, ofBob] = await Promise.all(
      [alice, bob].map(async (user) => (await recall(user, "where does the user live?")).recallId.split(".")),
    );
    const [owner, uuid, sealed] = ofAlice;
    const other = sealed.startsWith("A") ? "B" : "A";
    for (const forged of [
      `${ofBob[0]}.${uuid}.${sealed}`,
      `${owner}.${ofBob[1]}.${sealed}`,
      `${owner}.${uuid}.${other}${sealed.slice(1)}`,
      `${owner}.${uuid}.${sealed.slice(0, -4)}`,
      `${owner}.${uuid}`,
    ])
      expect([forged, (await outcome(forged, { used: [] })).status]).toEqual([forged, 404]);
    expect((await outcome(`${owner}.${uuid}.${sealed}`, { used: [] })).status).toBe(200);
  });

  it("is told of a context, whose turn keeps its id", async () => {
    const user = newUser();
    const { id: threadId } = await create(user);
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const json = { query: "Where do I live?", threadId };
    const first = (await call(`/v1/users/${user}/context`, { json })).body;
    const again = (await call(`/v1/users/${user}/context`, { json })).body;
    expect(again.recallId).toBe(first.recallId);
    expect((await outcome(first.recallId, { used: [porto.id] })).status).toBe(200);
    expect(await usage(user)).toMatchObject([{ injected: 1, recalled: 0, used: 1 }]);
  });

  it("is refused for what is no recall of the caller's, or no memory of it", async () => {
    const [alice, bob] = [newUser(), newUser()];
    await remembered(alice, { text: "The user lives in Porto" });
    const { recallId } = await recall(alice, "where does the user live?");
    const foreign = await call(`/v1/recalls/${recallId}/outcome`, {
      json: { used: [] },
      token: await tokenWith({ user: bob }),
    });
    expect(foreign.status).toBe(404);
    const unknown = `${recallId.split(".")[0]}.019a0000-0000-7000-8000-000000000000`;
    expect((await outcome(unknown, { used: [] })).status).toBe(404);
    const { status, body } = await outcome(recallId, { used: ["m"] });
    expect([status, body.error.details[0].path]).toEqual([400, "body.used[0]"]);
    expect((await outcome(recallId, {})).body.error.details[0].path).toBe("body.used");
  });

  it("is absent where no memory was shown", async () => {
    const user = newUser();
    expect((await recall(user, "anything?")).recallId).toBeUndefined();
    await remembered(user, { text: "The user lives in Porto" });
    expect((await recall(user, "where do I live?", { minScore: 1 })).recallId).toBeUndefined();
  });
});

describe("what a recall showed", () => {
  const version = fc.integer({ min: 1, max: 2 ** 31 - 1 });
  it("is read from its id as it was written, in less than 4,000 characters", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(version, { minLength: 1, maxLength: 500 }),
        fc.boolean(),
        fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 }),
        (versions, injected, query) => {
          const text = packed({ versions, injected, query });
          expect(unpacked(text)).toEqual({ versions: versions.toSorted((a, b) => a - b), injected, query });
          expect(text.length).toBeLessThan(3_800);
        },
      ),
    );
    for (const torn of ["", "AA", "AAo", "not one"]) expect(unpacked(torn)?.versions ?? []).toEqual([]);
  });
});

it("a recall, and a context without a thread, write no row and set no alarm", async () => {
  const user = newUser();
  await remembered(user, { text: "The user lives in Porto" });
  const object = env.USER_MEMORY.getByName(await userHash(user));
  const written = () =>
    runInDurableObject(object, async (_, { storage }) => ({
      rows: storage.sql.exec("SELECT total_changes() AS n").one()["n"],
      alarm: await storage.getAlarm(),
    }));
  await recall(user, "a first one");
  await runDurableObjectAlarm(object);
  const before = await written();
  for (let i = 0; i < 3; i++) {
    expect((await recall(user, "where does the user live?")).recallId).toBeDefined();
    const { recallId } = (await call(`/v1/users/${user}/context`, { json: { query: "Where do I live?" } }))
      .body;
    expect(recallId).toBeDefined();
  }
  expect(await written()).toEqual(before);
  expect(await usage(user)).toMatchObject([{ recalled: 4, injected: 3 }]);
});

describe("the turns of two days", () => {
  /** The rows that each of 20 turns changes, for a user who recalls in each turn, or does not; the object dies after each. */
  async function rowsOf({ recalls, days }: { recalls: boolean; days: number }) {
    const user = newUser();
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    const ask = (path: string, json: object) => call(path, { token, json });
    for (let i = 0; i < 5; i++) await remembered(user, { text: `The user lives in house ${i}` });
    const { id } = await create(user);
    // The first recall of an object notes its model.
    await recall(user, "nothing stored answers this", { kinds: ["episode"] });
    let rows = 0;
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const changes = () =>
      runInDurableObject(object, (_, { storage }) =>
        Number(storage.sql.exec("SELECT total_changes() AS n").one()["n"]),
      );
    for (let day = 0; day < days; day++) {
      for (let turn = 0; turn < 10; turn++) {
        await evict(user);
        const before = await changes();
        if (recalls) await ask(`/v1/users/${user}/recall`, { query: "where does the user live?" });
        await ask(`/v1/threads/${id}/messages`, { messages: [say(`turn ${turn}`)] });
        rows += (await changes()) - before;
      }
      control.clockAhead += 25 * 60 * 60_000;
    }
    const { items } = (await call(`/v1/users/${user}/usage`, { token })).body;
    return { user, rows, items };
  }

  it("cost a row a day for all recalls, each of which is counted", async () => {
    const [without, withRecalls] = [
      await rowsOf({ recalls: false, days: 2 }),
      await rowsOf({ recalls: true, days: 2 }),
    ];
    expect(withRecalls.rows - without.rows).toBe(2);
    expect(withRecalls.items.map(({ recalled }: { recalled: number }) => recalled)).toEqual([
      20, 20, 20, 20, 20,
    ]);
    expect(without.items).toEqual([]);
  });

  it("leave what an append took along if the append is undone", async () => {
    const user = newUser();
    await remembered(user, { text: "The user lives in Porto" });
    const { id } = await create(user);
    await recall(user, "where does the user live?");
    control.failingTransactions = 1;
    expect((await append(id, [say("one")])).status).toBe(500);
    expect((await append(id, [say("one")])).status).toBe(201);
    await evict(user);
    expect(await usage(user)).toMatchObject([{ recalled: 1 }]);
  });

  it("count an outcome once of a recall that an append took along", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const { id } = await create(user);
    const { recallId } = await recall(user, "where does the user live?");
    await append(id, [say("one")]);
    await evict(user);
    for (let i = 0; i < 2; i++) expect((await outcome(recallId, { used: [porto.id] })).status).toBe(200);
    expect(await usage(user)).toMatchObject([{ recalled: 1, used: 1 }]);
  });

  it("are counted where they are too many for a thread's row, and for one row of the log", async () => {
    const user = newUser();
    await remembered(user, { text: "The user lives in Porto" });
    const { id } = await create(user);
    const object = env.USER_MEMORY.getByName(await userHash(user));
    await recall(user, "where does the user live?");
    await append(id, [say("one")]);
    await runInDurableObject(object, (_, { storage }) => {
      const [{ recalls } = { recalls: "" }] = storage.sql
        .exec<{ recalls: string }>("SELECT recalls FROM threads")
        .toArray();
      const [one] = JSON.parse(recalls) as object[];
      const long = JSON.stringify(Array.from({ length: 600 }, () => one));
      storage.sql.exec("UPDATE threads SET recalls = ?", long);
      storage.sql.exec(
        "UPDATE memory_usage SET log = ?",
        JSON.stringify(Array.from({ length: 9_000 }, () => one)),
      );
    });
    for (let i = 0; i < 2; i++) {
      await recall(user, "where does the user live?");
      expect((await append(id, [say(`more ${i}`)])).status).toBe(201);
    }
    const rows = () =>
      runInDurableObject(
        object,
        (_, { storage }) => storage.sql.exec("SELECT n FROM memory_usage").toArray().length,
      );
    expect(await rows()).toBe(2);
    expect(await usage(user)).toMatchObject([{ recalled: 9_602 }]);
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    control.clockAhead += 25 * 60 * 60_000;
    const json = { query: "where does the user live?" };
    expect((await call(`/v1/users/${user}/recall`, { token, json })).status).toBe(200);
    await call(`/v1/threads/${id}/messages`, { token, json: { messages: [say("the day after")] } });
    expect(await rows()).toBe(1);
    const { items } = (await call(`/v1/users/${user}/usage`, { token })).body;
    expect(items).toMatchObject([{ recalled: 9_603 }]);
  });
});

describe("the fold of a day", () => {
  /** A user with 40,000 recalls of the last hour in one row, and 20 counted ones of yesterday: the next write folds. */
  async function busy() {
    const user = newUser();
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    const json = { query: "where does the user live?" };
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const asks = () => call(`/v1/users/${user}/recall`, { token, json });
    const writes = async (text: string) =>
      (await call(`/v1/users/${user}/memories`, { token, json: { text } })).status;
    const counts = async () => (await call(`/v1/users/${user}/usage`, { token })).body.items[0].recalled;
    const rows = () =>
      runInDurableObject(object, (_, { storage }) =>
        storage.sql
          .exec<{ size: number }>(
            "SELECT length(log) + length(counters) AS size FROM memory_usage ORDER BY n",
          )
          .toArray()
          .map(({ size }) => size),
      );
    await remembered(user, { text: "The user lives in Porto" });
    await asks();
    await writes("The user has a cat");
    control.clockAhead += 24 * 60 * 60_000 - 60_000;
    await asks();
    await writes("The user has a dog");
    await runInDurableObject(object, (_, { storage }) => {
      const { log } = storage.sql.exec<{ log: string }>("SELECT log FROM memory_usage").one();
      const [first, last] = JSON.parse(log) as object[];
      const many = [first, ...Array.from({ length: 30_000 }, () => last)];
      storage.sql.exec("UPDATE memory_usage SET log = ?", JSON.stringify(many));
    });
    control.clockAhead += 120_000;
    await asks();
    return { asks, writes, counts, rows, object };
  }

  it("makes no row of more than a megabyte, and loses no recall", async () => {
    const { asks, writes, counts, rows } = await busy();
    expect(Math.max(...(await rows()))).toBeGreaterThan(1_500_000);
    expect(await writes("The user has a fish")).toBe(201);
    const folded = await rows();
    expect(folded.length).toBeGreaterThan(3);
    expect(Math.max(...folded)).toBeLessThan(1_000_000);
    expect(await counts()).toBe(30_002);
    await asks();
    expect(await writes("The user has a bird")).toBe(201);
    expect(await counts()).toBe(30_003);
  });

  it("that fails fails no write, counts nothing twice, and is made later", async () => {
    const { asks, writes, counts, rows, object } = await busy();
    await runInDurableObject(
      object,
      (_, { storage }) =>
        void storage.sql.exec(
          `CREATE TRIGGER full BEFORE INSERT ON memory_usage WHEN NEW.n = 2 BEGIN SELECT RAISE(ABORT, 'full'); END`,
        ),
    );
    expect(await writes("The user has a fish")).toBe(201);
    expect(await counts()).toBe(30_002);
    expect(await rows()).toHaveLength(2);
    await runInDurableObject(object, (_, { storage }) => void storage.sql.exec("DROP TRIGGER full"));
    control.clockAhead += 61 * 60_000;
    await asks();
    expect(await writes("The user has a bird")).toBe(201);
    expect((await rows()).length).toBeGreaterThan(3);
    expect(await counts()).toBe(30_003);
  });
});

it("a recall answers also when its object can write nothing, and the latest hundred are counted later", async () => {
  const user = newUser();
  await remembered(user, { text: "The user lives in Porto" });
  await usage(user);
  control.failingTransactions = 1_000;
  for (let i = 0; i < 103; i++) {
    const { status, body } = await call(`/v1/users/${user}/recall`, { json: { query: "Porto" } });
    expect([i, status, typeof body.recallId]).toEqual([i, 200, "string"]);
  }
  expect(control.failingTransactions).toBe(997);
  control.failingTransactions = 0;
  expect(await usage(user)).toMatchObject([{ recalled: 100 }]);
});

describe("the counters", () => {
  it("are stored with the next write of the object", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    for (let i = 0; i < 3; i++) await recall(user, "where does the user live?");
    expect((await call(`/v1/users/${user}/kv/theme`, { method: "PUT", json: "dark" })).status).toBe(200);
    await evict(user);
    expect(await usage(user)).toMatchObject([{ memoryId: porto.id, recalled: 3 }]);
  });

  it("are stored by a later write if the next one is undone", async () => {
    const user = newUser();
    await remembered(user, { text: "The user lives in Porto" });
    await recall(user, "where does the user live?");
    const put = () => call(`/v1/users/${user}/kv/theme`, { method: "PUT", json: "dark" });
    control.failingTransactions = 1;
    expect((await put()).status).toBe(500);
    expect((await put()).status).toBe(200);
    expect(await usage(user)).toMatchObject([{ recalled: 1 }]);
  });

  it("keep the counts of a day when its recalls are gone", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const { recallId } = await recall(user, "where does the user live?");
    expect(await usage(user)).toMatchObject([{ memoryId: porto.id, recalled: 1 }]);
    control.clockAhead += 25 * 60 * 60_000;
    expect((await outcome(recallId, { used: [porto.id] })).status).toBe(404);
    await recall(user, "where does the user live?");
    expect(await usage(user)).toMatchObject([{ memoryId: porto.id, recalled: 2 }]);
  });

  it("list what was never used in some days", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const tea = await remembered(user, { text: "The user drinks tea" });
    expect(await usage(user, "unusedDays=30")).toEqual([]);
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    control.clockAhead += 31 * DAY;
    const read = async (path: string, json?: object) =>
      (await call(path, { token, ...(json && { json }) })).body;
    const ids = async () =>
      (await read(`/v1/users/${user}/usage?unusedDays=30`)).items.map(
        ({ memoryId }: { memoryId: string }) => memoryId,
      );
    expect((await ids()).toSorted()).toEqual([porto.id, tea.id].toSorted());
    const { recallId } = await read(`/v1/users/${user}/recall`, { query: "where does the user live?" });
    await read(`/v1/recalls/${recallId}/outcome`, { used: [porto.id] });
    expect(await ids()).toEqual([tea.id]);
  });

  it("are forgotten with the memory and with the user", async () => {
    const user = newUser();
    const porto = await remembered(user, { text: "The user lives in Porto" });
    const { recallId } = await recall(user, "where does the user live?");
    await outcome(recallId, { used: [porto.id] });
    await forget(user, porto.id);
    expect(await usage(user)).toEqual([]);
    await remembered(user, { text: "The user lives in Faro" });
    const later = await recall(user, "where does the user live?");
    await call(`/v1/users/${user}`, { method: "DELETE" });
    expect(await usage(user)).toEqual([]);
    expect((await outcome(later.recallId, { used: [] })).status).toBe(404);
  });

  it("are paged", async () => {
    const user = newUser();
    for (let i = 0; i < 5; i++) await remembered(user, { text: `The user lives in house ${i}` });
    await recall(user, "where does the user live?");
    const first = (await call(`/v1/users/${user}/usage?limit=3`)).body;
    const second = (await call(`/v1/users/${user}/usage?limit=3&cursor=${first.cursor}`)).body;
    expect(first.items).toHaveLength(3);
    expect(second.items).toHaveLength(2);
    expect(second.cursor).toBeUndefined();
  });
});
