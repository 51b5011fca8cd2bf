// Words of what is gone, in the tables of the full-text index itself: a delete there is only noted until segments are merged.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WordIndex } from "../../../../durable-objects/user-memory/search-index/word-index.ts";
import { WordMerger } from "../../../../durable-objects/user-memory/search-index/word-merger.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { eraseSome, eraseUser, erased, objectOf, ring } from "../../../erasure-calls.ts";
import { evict } from "../../../evict.ts";
import { forget, forgetAll, forgetWhere, patch, remember, remembered } from "../../../memory-calls.ts";
import { append, fork, said, say, threadOf } from "../../../thread-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const HOUR_MS = 3600_000;

/**
 * Words that no stemmer changes, and that begin like no other word: FTS5 leaves out of a term only its beginning, as far as the
 * term before it has that too, so that the rest is found among the bytes of a page.
 */
const GONE = "zqvxgone17";
const STAYS = "jwkystays23";

/** Which of some words are among the bytes of the tables that FTS5 keeps in the user's object. */
async function readable(user: string, ...words: string[]): Promise<string[]> {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const decoder = new TextDecoder("latin1");
    const tables = sql
      .exec<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*words_*'")
      .toArray();
    const bytes = tables.flatMap(({ name }) =>
      [...sql.exec(`SELECT * FROM ${name}`).raw()].flatMap((row) =>
        row.map((value) => (value instanceof ArrayBuffer ? decoder.decode(value) : String(value))),
      ),
    );
    return words.filter((word) => bytes.some((text) => text.includes(word)));
  });
}

/** Which of some words any row of the user's object holds, in any table and in any column. */
async function stored(user: string, ...words: string[]): Promise<string[]> {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const decoder = new TextDecoder("latin1");
    const tables = sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB '_cf*'",
      )
      .toArray();
    const held = tables.flatMap(({ name }) =>
      [...sql.exec(`SELECT * FROM ${name}`).raw()].flatMap((row) =>
        row.map((value) => (value instanceof ArrayBuffer ? decoder.decode(value) : String(value))),
      ),
    );
    return words.filter((word) => held.some((text) => text.includes(word)));
  });
}

/** Rings the user's alarm as often as it is due within an hour. */
async function passAnHour(user: string): Promise<void> {
  const end = (control.clockAt ?? 0) + HOUR_MS;
  const object = await objectOf(user);
  for (let rung = 0; rung < 200; rung++) {
    const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    if (due === null || due > end) break;
    await ring(user);
  }
  control.clockAt = end;
}

/** A memory and a message that stay, beside what is to go. */
async function userWithSomeThatStays(): Promise<string> {
  const user = newUser();
  await remember(user, { text: `I keep the ${STAYS}` });
  await threadOf(user, [`I told of the ${STAYS}`]);
  return user;
}

const deletions: Record<string, (user: string) => Promise<{ status: number } | undefined>> = {
  "forget by id": async (user) => {
    const { id } = await remembered(user, { text: `I lost the ${GONE}` });
    return forget(user, id);
  },
  "forget by filter": async (user) => {
    await remember(user, { text: `I lost the ${GONE}`, scope: "work" });
    return forgetWhere(user, { scope: ["work"] });
  },
  "forget of a memory that was corrected before": async (user) => {
    const { id } = await remembered(user, { text: `I lost the ${GONE}` });
    await patch(user, id, { text: "I lost something" });
    return forget(user, id);
  },
  "forget of a fact that another superseded": async (user) => {
    const fact = { subject: "I", predicate: "lost", cardinality: "one" };
    const { id } = await remembered(user, { ...fact, object: GONE });
    await remember(user, { ...fact, object: "nothing" });
    return forget(user, id);
  },
  "forget of a memory with an idempotency key": async (user) => {
    const { body } = await remember(user, { text: `I lost the ${GONE}` }, { "Idempotency-Key": "k" });
    return forget(user, body.id);
  },
  expiry: async (user) => {
    const expiresAt = (control.clockAt ?? 0) + 1_000;
    await remember(user, { text: `I lost the ${GONE}`, expiresAt });
    control.clockAt = expiresAt + 1;
    await ring(user);
    return undefined;
  },
  "delete of a message": async (user) => {
    const { id } = await threadOf(user, ["I lost it", `it was the ${GONE}`]);
    return call(`/v1/threads/${id}/messages/2`, { method: "DELETE" });
  },
  "delete of a thread": async (user) => {
    const { id } = await threadOf(user, [`I lost the ${GONE}`, "it was mine"]);
    return call(`/v1/threads/${id}`, { method: "DELETE" });
  },
};

describe("the words of what is gone leave the full-text index", () => {
  it.each(Object.entries(deletions))("within an hour of a %s", async (_, remove) => {
    const user = await userWithSomeThatStays();
    expect((await remove(user))?.status ?? 200).toBeLessThan(300);
    await passAnHour(user);
    expect(await readable(user, GONE, STAYS)).toEqual([STAYS]);
    expect(await stored(user, GONE, STAYS)).toEqual([STAYS]);
  });

  it("within an hour of forgetting everything", async () => {
    const user = newUser();
    await threadOf(user, [`I told of the ${STAYS}`]);
    await remember(user, { text: `I lost the ${GONE}` });
    await forgetAll(user);
    await passAnHour(user);
    expect(await readable(user, GONE, STAYS)).toEqual([STAYS]);
  });

  it("also when the object is evicted before it begins", async () => {
    const user = await userWithSomeThatStays();
    await deletions["forget by id"]?.(user);
    await evict(user);
    await passAnHour(user);
    expect(await readable(user, GONE, STAYS)).toEqual([STAYS]);
  });

  it.each([
    [
      "a thread",
      async (user: string) => ({
        threadId: (await threadOf(user, [`I lost the ${GONE}`, "it was mine"])).id,
      }),
    ],
    [
      "a scope",
      async (user: string) => {
        const { id } = await remembered(user, { text: `I lost the ${GONE}`, scope: "work" });
        await patch(user, id, { text: "I lost something" });
        return { scope: "work" };
      },
    ],
  ])("before the receipt of the erasure of %s is given", async (_, begin) => {
    const user = await userWithSomeThatStays();
    const { id } = (await eraseSome(user, await begin(user))).body;
    await erased(user, id);
    expect(await readable(user, GONE, STAYS)).toEqual([STAYS]);
    expect(await stored(user, GONE, STAYS)).toEqual([STAYS]);
  });

  it("before the receipt of the erasure of a user is given", async () => {
    const user = await userWithSomeThatStays();
    await deletions["forget by id"]?.(user);
    const { id } = (await eraseUser(user)).body;
    await erased(user, id);
    expect(await readable(user, GONE, STAYS)).toEqual([]);
    expect(await stored(user, GONE, STAYS)).toEqual([]);
  });
});

it("merges some pages at a time, wherever it was interrupted, and ends while more is written and deleted", async () => {
  const user = await userWithSomeThatStays();
  const alarms = await runInDurableObject(await objectOf(user), async (_, { storage: { sql } }) => {
    // Each as after an eviction.
    const merger = () =>
      new WordMerger({
        sql,
        words: new WordIndex(sql),
        alarms: { scheduleBy: () => {} },
        now: () => 0,
        pages: 1,
      });
    const put = (n: number, text: string) =>
      sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", 2 ** 40 + n, text);
    const remove = (n: number) => sql.exec("DELETE FROM words WHERE rowid = ?", 2 ** 40 + n);
    for (let n = 0; n < 1000; n++)
      put(n, Array.from({ length: 40 }, (_word, i) => `w${(n * 31 + i * 977) % 9973}`).join(" "));
    put(1000, `I lost the ${GONE}`);
    remove(1000);
    const round = merger().startRound();
    for (let alarm = 1; alarm < 1000; alarm++) {
      await merger().run();
      if (merger().hasEnded(round)) return alarm;
      put(1000 + alarm, `note ${alarm}`);
      remove(alarm);
      merger().startRound();
    }
    return null;
  });
  expect(alarms).toBeGreaterThan(1);
  expect(await readable(user, GONE, STAYS)).toEqual([STAYS]);
});

it("finds what stays after a merge, and nothing that is gone", async () => {
  const user = newUser();
  const origin = await threadOf(user, [`I kept the ${STAYS}`, `I lost the ${GONE}`]);
  const branch = (await fork(origin.id, { at: 1 })).body;
  await append(branch.id, [say("and the rest")]);
  await erased(user, (await eraseSome(user, { threadId: origin.id })).body.id);
  expect(await said(branch.id)).toEqual([`I kept the ${STAYS}`, "and the rest"]);
  const texts = async (query: string) =>
    (await call(`/v1/users/${user}/recall`, { json: { query, k: 10 } })).body.hits.map(
      ({ text }: { text: string }) => text,
    );
  expect(await texts(STAYS)).toContain(`I kept the ${STAYS}`);
  expect(await texts(GONE)).not.toContain(`I lost the ${GONE}`);
});
