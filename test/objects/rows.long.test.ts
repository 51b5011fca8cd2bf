// The rows that Cloudflare bills, by its own counters: docs/reference/costs.md says how many a call costs, and its cost table follows from it.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import costs from "../../docs/reference/costs.md?raw";
import { userHash } from "../../src/domain/ids.ts";
import { call, newUser, token } from "../call.ts";
import { clock, control, restore } from "../doubles/control.ts";
import { evict } from "../evict.ts";
import { recall, remember, rememberMany } from "../memory-calls.ts";
import { append, create, say } from "../thread-calls.ts";

type Rows = { written: number; read: number; d1: number };

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const HOUR_MS = 61 * 60_000;

let cursors: { rowsRead: number; rowsWritten: number }[] = [];
const counted = { alarmsSet: 0, d1: 0 };
const undo: (() => void)[] = [];

/** Runs `after` with what each call of a method answers, on all objects that share the prototype. */
function watch(of: object, method: string, after: (answer: unknown) => unknown): void {
  const proto = Object.getPrototypeOf(of) as object;
  const real = Reflect.get(proto, method) as (...given: unknown[]) => unknown;
  const replacement = function (this: unknown, ...given: unknown[]): unknown {
    const answer = Reflect.apply(real, this, given);
    return after(answer) ?? answer;
  };
  Object.defineProperty(proto, method, { value: replacement, configurable: true, writable: true });
  undo.push(() => Object.defineProperty(proto, method, { value: real, configurable: true, writable: true }));
}

type D1Answer = { meta: { rows_written: number } };
const countD1 = async (answer: unknown): Promise<unknown> => {
  const answered = (await answer) as D1Answer | D1Answer[];
  for (const { meta } of [answered].flat()) counted.d1 += meta.rows_written;
  return answered;
};

beforeAll(async () => {
  await runInDurableObject(await objectOf(newUser()), (_, { storage }) => {
    watch(storage.sql, "exec", (cursor) => void cursors.push(cursor as (typeof cursors)[number]));
    watch(storage, "setAlarm", () => void counted.alarmsSet++);
  });
  watch(env.DB, "batch", countD1);
  for (const method of ["all", "run"]) watch(env.DB.prepare("SELECT 1"), method, countD1);
});
afterAll(() => {
  for (const each of undo) each();
});
afterEach(restore);

/** The rows of what is done, and of all alarms that follow within an hour, or as given. */
async function rowsOf(user: string, act: () => Promise<unknown>, within = HOUR_MS): Promise<Rows> {
  cursors = [];
  Object.assign(counted, { alarmsSet: 0, d1: 0 });
  await act();
  await runDurableObjectAlarm(await objectOf(user));
  await evict(user);
  control.clockAhead += within;
  await runDurableObjectAlarm(await objectOf(user));
  const own = cursors;
  return {
    // Each alarm that is set is billed as a row.
    written: (await total(user, own, "rowsWritten")) + counted.alarmsSet,
    read: await total(user, own, "rowsRead"),
    d1: counted.d1,
  };
}

/** A cursor is readable in its own object only: those of another, whose alarm rang meanwhile, are left out. */
async function total(user: string, of: typeof cursors, what: "rowsRead" | "rowsWritten"): Promise<number> {
  return runInDurableObject(await objectOf(user), () =>
    of.reduce((sum, cursor) => sum + rowsIn(cursor, what), 0),
  );
}

function rowsIn(cursor: (typeof cursors)[number], what: "rowsRead" | "rowsWritten"): number {
  try {
    return cursor[what];
  } catch {
    return 0;
  }
}

/** The row of a call in the table of docs/reference/costs.md. */
function documented(name: string): Rows {
  const line = costs.split("\n").find((row) => row.startsWith(`| ${name} `));
  const numbers = line
    ?.split("|")
    .slice(2, 5)
    .map((cell) => Number(cell.replaceAll(/[^\d]/g, "")));
  const [written = Number.NaN, read = Number.NaN, d1 = Number.NaN] = numbers ?? [];
  return { written, read, d1 };
}

/** As documented, give or take a quarter, or a few rows. */
function expectDocumented(name: string, rows: Rows): void {
  const said = documented(name);
  const off = (["written", "read", "d1"] as const).filter(
    (what) => !(Math.abs(rows[what] - said[what]) <= Math.max(4, said[what] / 4)),
  );
  expect
    .soft(off, `${name}: ${JSON.stringify(rows)}, and docs/reference/costs.md says ${JSON.stringify(said)}`)
    .toEqual([]);
}

const sentence = (i: number) =>
  `Note ${i}: we should book the ${["ferry", "train", "flat", "doctor"][i % 4]} in ${["Lisbon", "March", "the evening"][i % 3]}.`;

it("a new user, a memory, a thread, an append and a recall cost the rows that docs/reference/costs.md says", async () => {
  const user = newUser();
  // Else the mark of the deployment is among them.
  await remember(newUser(), { text: "somebody else's" });
  expectDocumented(
    "the first memory of a user",
    await rowsOf(user, () => remember(user, { text: "I like tea" })),
  );
  const size = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.sql.databaseSize);
  expect.soft(Math.abs(size / 1000 - Number(/, and (\d+) KB/.exec(costs)?.[1]))).toBeLessThan(80);
  expectDocumented("a memory", await rowsOf(user, () => remember(user, { text: "I have a cat" })));
  const likes = { subject: "user", predicate: "likes", object: "olives" };
  expectDocumented("a fact with an object", await rowsOf(user, () => remember(user, likes)));
  control.embedsNow = true;
  let thread = "";
  const made = await rowsOf(user, async () => void (thread = (await create(user)).id));
  expectDocumented("a thread", made);
  await evict(user);
  const messages = [say("Where is the ferry?"), say("It leaves at ten.")];
  expectDocumented("an append of two messages", await rowsOf(user, () => append(thread, messages)));
  const put = () => call(`/v1/users/${user}/kv/theme`, { method: "PUT", json: `dark ${clock()}` });
  expectDocumented("an entry", await rowsOf(user, put));
  const turn = (...said: object[]) =>
    call(`/v1/users/${user}/ingest`, { json: { sessionId: "a chat", messages: said } });
  const first = [say("Which train do I take?"), say("The one at nine.")];
  // The next turn comes within the session, which goes on, and within the hour of the note.
  await turn(...first);
  await runDurableObjectAlarm(await objectOf(user));
  await evict(user);
  expectDocumented(
    "an ingest of two messages",
    await rowsOf(user, () => turn(...first, ...messages), 61_000),
  );
  // Else the end of this session is among the next rows.
  await rowsOf(user, async () => {});
  const four = [...first, say("And back?"), say("At six.")];
  expectDocumented(
    "a new conversation of four",
    await rowsOf(user, () =>
      call(`/v1/users/${user}/ingest`, { json: { sessionId: "another", messages: four } }),
    ),
  );

  for (const [from, to] of [
    [0, 500],
    [500, 1_000],
    [1_000, 1_500],
  ] as const)
    await append(
      thread,
      Array.from({ length: to - from }, (_, i) => say(sentence(from + i))),
    );
  await rememberMany(
    user,
    Array.from({ length: 500 }, (_, i) => ({ text: sentence(2_000 + i) })),
  );
  // Until every document has its vector, and nothing is due within an hour.
  for (;;) {
    const due = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
    // The ingests leave an alarm for a week later: null while an alarm runs.
    if (due === null) await scheduler.wait(20);
    else if (due > clock() + HOUR_MS) break;
    else {
      control.clockAhead += Math.max(0, due - clock());
      await runDurableObjectAlarm(await objectOf(user));
    }
  }
  await evict(user);
  // Else the counts of the minute are handed over, which belong to no one recall.
  await recall(newUser(), { query: "a first one" });
  await call("/v1/statistics");
  const ask = () => recall(user, { query: "When do we book the ferry in Lisbon?" });
  expectDocumented("a recall among 2,000 documents", await rowsOf(user, ask));
});

it("a fact reads as few rows of a subject with 1,000 facts as of one with two", async () => {
  const fact = (predicate: string, object: string) => ({ subject: "user", predicate, object });
  const read = async (user: string, json: object): Promise<number> => {
    cursors = [];
    expect((await remember(user, json)).status).toBe(201);
    return total(user, cursors, "rowsRead");
  };
  const fill = async (count: number, of: (i: number) => object): Promise<string> => {
    const user = newUser();
    for (let i = 0; i < count; i += 500)
      await rememberMany(
        user,
        Array.from({ length: Math.min(500, count - i) }, (_, at) => of(i + at)),
      );
    return user;
  };
  const few = await read(await fill(2, (i) => fact(`verb ${i}`, `thing ${i}`)), fact("likes", "olives"));
  const many = {
    predicates: (i: number) => fact(`verb ${i}`, `thing ${i}`),
    objects: (i: number) => fact("likes", `thing ${i}`),
  };
  for (const [name, of] of Object.entries(many)) {
    const user = await fill(1_000, of);
    // Also a fact with an opposite, and one of one.
    for (const json of [fact("likes", "olives"), fact("dislikes", "olives"), fact("lives in", "Porto")])
      expect.soft(await read(user, json), `${name}: ${json.predicate}`).toBeLessThanOrEqual(few + 40);
  }
});

it("the end of a wait in quarantine costs what docs/reference/costs.md says, and nothing is read of what is live", async () => {
  const DAY = 24 * 60 * 60_000;
  const many = (count: number, more: object) =>
    rememberMany(
      user,
      Array.from({ length: count }, (_, i) => ({ text: `${JSON.stringify(more)} ${i}`, ...more })),
    );
  const read = async (act: () => Promise<unknown>): Promise<number> => {
    cursors = [];
    await act();
    return total(user, cursors, "rowsRead");
  };
  const user = newUser();
  for (const live of [1, 2, 3]) await many(500, { tags: [`${live}`] });
  const summary = () => call(`/v1/users/${user}/summary`);
  const without = await read(summary);
  await many(3, { status: "quarantined" });
  // The count of memories reads these three, too.
  expect(await read(summary)).toBeLessThanOrEqual(without + 3 + 12);
  await many(97, { status: "quarantined", tags: ["more"] });
  await rowsOf(user, async () => {});
  const ends: Rows[] = [];
  for (const days of [31, 2]) {
    control.clockAhead += days * DAY;
    ends.push(await rowsOf(user, async () => {}));
  }
  const each = (what: keyof Rows) => ends.reduce((sum, rows) => sum + rows[what], 0) / 100;
  expectDocumented("a wait in quarantine that ends", {
    written: each("written"),
    read: each("read"),
    d1: each("d1"),
  });
});

it("a day of a user, with its alarms and the day after, costs the rows that docs/reference/costs.md says", async () => {
  const user = newUser();
  const object = await objectOf(user);
  // The word model is in memory, as in an isolate that serves users.
  const other = newUser();
  await remember(other, { text: "somebody else's" });
  await recall(other, { query: "somebody" });
  await runDurableObjectAlarm(await objectOf(other));
  const bearer = await token("*", undefined, 100 * 86_400);
  const ask = (path: string, json: object) => call(path, { json, token: bearer });
  const { id } = (await ask(`/v1/users/${user}/threads`, {})).body;
  await ask(`/v1/users/${user}/memories`, { text: "I like tea" });
  /** Rings each alarm of this user that is due until then, with the object asleep between two. */
  const until = async (time: number) => {
    for (;;) {
      await evict(user);
      const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
      if (due === null || due > time) break;
      control.clockAhead += Math.max(0, due - clock());
      await runDurableObjectAlarm(object);
    }
    control.clockAhead += Math.max(0, time - clock());
  };
  // The first recall notes its model, and the day before ends.
  await ask(`/v1/users/${user}/recall`, { query: "tea?" });
  await until(clock() + 25 * HOUR_MS);
  cursors = [];
  Object.assign(counted, { alarmsSet: 0, d1: 0 });
  const began = clock();
  // Three sittings, of four, three and three turns.
  for (let turn = 0; turn < 10; turn++) {
    await until(began + (turn < 4 ? 0 : turn < 7 ? 4 : 9) * HOUR_MS + turn * 120_000);
    await ask(`/v1/users/${user}/recall`, { query: "What do I like?" });
    const messages = [say(sentence(2 * turn)), say(sentence(2 * turn + 1))];
    await ask(`/v1/threads/${id}/messages`, { messages });
    if (turn % 5 === 4) await ask(`/v1/users/${user}/memories`, { text: `I have cat number ${turn}` });
  }
  await until(began + 25 * HOUR_MS);
  const own = cursors;
  const rows = { written: (await total(user, own, "rowsWritten")) + counted.alarmsSet, d1: counted.d1 };
  const [, written, d1] = /writes (\d+) rows in the object and (\d+) in D1/.exec(costs) ?? [];
  expect(rows.d1).toBe(Number(d1));
  // A few rows depend on when pages of the index of words are merged.
  expect(Math.abs(rows.written - Number(written)), JSON.stringify(rows)).toBeLessThanOrEqual(6);
});
