// Threads that are too long to be removed at once, while they are removed.
import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import { eraseSome, eraseUser, erased, erasure, objectOf, ring, tablesOf } from "../../../erasure-calls.ts";
import { evict } from "../../../evict.ts";
import { recallTexts } from "../../../memory-calls.ts";
import { append, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { exportOf, importTo } from "../../../transfer-calls.ts";

const vectorize = new VectorizeDouble(256, ["user", "kind", "scope", "model"]);
bindVectorize(vectorize);

beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const LONG = 15_000;
const FIRST = 2 ** 31;

/** A thread that begins with these, and goes on with as many as make it long, written by nobody. */
async function longThread(user: string, texts: string[]) {
  const thread = await threadOf(user, texts);
  await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const { n } = sql.exec<{ n: number }>("SELECT n FROM threads WHERE id = ?", thread.id).one();
    const rows = `WITH RECURSIVE c(v) AS (SELECT ${texts.length + 1} UNION ALL SELECT v + 1 FROM c WHERE v < ${LONG})`;
    const position = `${n * FIRST} + v`;
    for (const statement of [
      `messages (position, created_at, role, body) SELECT ${position}, 1, 'user', CAST('{"role":"user","content":"secret ' || v || '"}' AS BLOB) FROM c`,
      `words (rowid, text) SELECT ${position}, 'secret ' || v FROM c`,
      `vectors (n, model, vector) SELECT ${position}, 1, X'0000803F' || zeroblob(256) FROM c`,
    ])
      sql.exec(`${rows} INSERT INTO ${statement}`);
    sql.exec("UPDATE threads SET length = ?1, last_seq = ?1 WHERE n = ?2", LONG, n);
  });
  await evict(user);
  return thread;
}

const left = async (user: string) => {
  const { messages = 0, words = 0, vectors = 0, tombstones = 0 } = await tablesOf(user);
  return { messages, words, vectors, tombstones };
};
const EMPTY = { messages: 0, words: 0, vectors: 0, tombstones: 0 };
const remove = {
  deleted: async (_: string, id: string) => {
    expect((await call(`/v1/threads/${id}`, { method: "DELETE" })).status).toBe(204);
  },
  erased: async (user: string, threadId: string) => {
    expect((await eraseSome(user, { threadId })).status).toBe(202);
  },
};

describe.each(["deleted", "erased"] as const)("a long thread that is %s", (how) => {
  it("is removed some at a time, and nothing of it is read from the answer on", async () => {
    const user = newUser();
    const { id } = await longThread(user, ["the cello is hidden"]);
    await threadOf(user, ["I play the harp"]);
    await remove[how](user, id);
    const first = await left(user);
    expect(first.messages).toBe(LONG - 1000 + 1);
    expect((await call(`/v1/threads/${id}/messages`)).status).toBe(404);
    for (const more of [{}, { kinds: ["message"] }, { filter: { createdAtMax: 2 ** 45 } }]) {
      for (const query of ["secret harp", "???"])
        expect(await recallTexts(user, { query, k: 100, ...more })).toEqual(["I play the harp"]);
      expect((await recallTexts(user, { query: "cello", k: 100, ...more })).join()).not.toContain("cello");
    }
    expect(await exportOf(user)).not.toMatch(/secret|cello/);
    const before = control.embedded.length;
    await ring(user);
    expect(JSON.stringify(control.embedded.slice(before))).not.toMatch(/secret|cello/);
    expect((await left(user)).messages).toBeLessThan(first.messages);
    // Messages of that time are of other threads, and stay.
    const fresh = await threadOf(user, ["and the flute"]);
    for (let rung = 0; rung < 6; rung++) {
      await evict(user);
      await ring(user);
    }
    expect(await left(user)).toMatchObject({ ...EMPTY, messages: 2, words: 2, vectors: 2 });
    expect(await said(fresh.id)).toEqual(["and the flute"]);
  });

  it("leaves its fork what that shows, and what was deleted before it of that no one", async () => {
    const user = newUser();
    const { id } = await longThread(user, ["one", "two", "three"]);
    const branch = (await fork(id, { at: 2 })).body;
    await append(branch.id, [say("four")]);
    await remove[how](user, id);
    expect(await said(branch.id)).toEqual(["one", "two", "four"]);
    expect((await recallTexts(user, { query: "one two three four secret", k: 100 })).toSorted()).toEqual([
      "four",
      "one",
      "two",
    ]);
    // While its origin is removed, the fork goes too, and a fork of that stays.
    const twig = (await fork(branch.id, { at: 1 })).body;
    await remove[how](user, branch.id);
    expect(await said(twig.id)).toEqual(["one"]);
    for (let rung = 0; rung < 6; rung++) await ring(user);
    expect(await said(twig.id)).toEqual(["one"]);
    expect((await left(user)).messages).toBe(1);
    await remove[how](user, twig.id);
    for (let rung = 0; rung < 2; rung++) await ring(user);
    expect(await left(user)).toMatchObject(EMPTY);
  });

  it("is not told of by an export that began before", async () => {
    const user = newUser();
    const { id } = await longThread(user, ["one"]);
    await fork(id, { at: 1 });
    const response = await exports.default.fetch(
      new Request(`http://x/v1/users/${user}/export`, {
        headers: { Authorization: `Bearer ${await token(user)}` },
      }),
    );
    let lines = "";
    let gone = false;
    for await (const piece of response.body ?? []) {
      lines += new TextDecoder().decode(piece);
      if (!gone) await remove[how](user, id);
      gone = true;
    }
    expect(lines).not.toContain(`secret ${LONG}`);
  });

  it("gives nothing back to a thread that an import puts on it", async () => {
    const user = newUser();
    const { id } = await longThread(user, ["one", "two"]);
    const [short, long] = [(await fork(id, { at: 1 })).body, (await fork(id, { at: 4000 })).body];
    const lines = (await exportOf(user)).split("\n").filter((line) => !line.includes("secret"));
    await call(`/v1/threads/${long.id}`, { method: "DELETE" });
    await remove[how](user, id);
    expect((await importTo(user, lines.slice(0, -2).join("\n"), "part=true")).status).toBe(200);
    expect(await said(long.id)).toEqual(["one"]);
    expect((await call(`/v1/threads/${long.id}`)).body.length).toBe(1);
    for (let rung = 0; rung < 6; rung++) await ring(user);
    expect(await said(short.id)).toEqual(["one"]);
    expect((await left(user)).messages).toBe(1);
  });
});

it("has its receipt when all of it is gone, and not before, whatever fails and restarts meanwhile", async () => {
  const user = newUser();
  const { id: threadId } = await longThread(user, ["one"]);
  const { id } = (await eraseSome(user, { threadId })).body;
  // Late enough for all that an erasure of a thread waits for besides.
  control.clockAt = (control.clockAt ?? 0) + 3600_000;
  for (let rung = 0; (await left(user)).messages > 0; rung++) {
    expect(rung).toBeLessThan(20);
    expect((await erasure(id)).steps).toMatchObject([
      { store: "object", state: "open" },
      {},
      { store: "vectors", state: "open" },
    ]);
    [control.goodTransactions, control.failingTransactions] = [rung, 1];
    await ring(user);
    await evict(user);
  }
  [control.goodTransactions, control.failingTransactions] = [0, 0];
  const done = await erased(user, id);
  expect(done.steps[0]?.erased).toMatchObject({ threads: 1, messages: LONG });
  expect(await left(user)).toEqual(EMPTY);
});

it("takes its vectors out of Vectorize slice by slice, sends none of it, and is done when they are gone", async () => {
  control.messageIndexing = "vectorize";
  const user = newUser();
  const { id: threadId } = await longThread(user, ["I play the cello"]);
  for (let rung = 0; rung < 2; rung++) await ring(user);
  // Objects of other files may ring, too.
  const hash = await userHash(user);
  const own = () => vectorize.ids().filter((id) => id.startsWith(hash));
  const before = own().length;
  expect(before).toBeGreaterThan(0);
  const { id } = (await eraseSome(user, { threadId })).body;
  for (let rung = 0; rung < 12; rung++) await ring(user);
  expect(own().length).toBeLessThanOrEqual(before);
  expect((await erasure(id)).status).toBe("running");
  await erased(user, id);
  expect(own()).toEqual([]);
});

it("goes with the user, who is erased meanwhile, and is done only then", async () => {
  const user = newUser();
  const { id: threadId } = await longThread(user, ["one"]);
  const thread = (await eraseSome(user, { threadId })).body.id;
  const whole = (await eraseUser(user)).body.id;
  control.clockAt = (control.clockAt ?? 0) + 3600_000;
  await ring(user);
  const aside = Object.keys(await tablesOf(user)).filter((name) => name.startsWith("erased_"));
  expect(aside).not.toEqual([]);
  expect((await erasure(thread)).status).toBe("running");
  for (const id of [thread, whole]) await erased(user, id);
  expect(await left(user)).toEqual(EMPTY);
});
