// Rules of retention: what they take and what they leave, that it goes as by hand, and what happens between two steps.
import { createScheduledController, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { UserMemory } from "../../../../durable-objects/user-memory.ts";
import { AgedConversations } from "../../../../durable-objects/user-memory/retention/aged-conversations.ts";
import { AgedMessages } from "../../../../durable-objects/user-memory/threads/aged-messages.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { services } from "../../../../src/worker/app.ts";
import { tellRetention } from "../../../../src/worker/use-cases/upkeep.ts";
import { call, newUser } from "../../../call.ts";
import { START, control, restore } from "../../../doubles/control.ts";
import { faultyPorts } from "../../../doubles/ports.ts";
import { ScriptedModel } from "../../../doubles/language-models.ts";
import { listTexts, patch, recallTexts, remember, remembered, rememberMany } from "../../../memory-calls.ts";
import { append, create, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { exportOf, importTo, linesOf } from "../../../transfer-calls.ts";
import worker from "../../../worker.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
beforeEach(() => {
  control.clockAt = START;
});
afterEach(async () => {
  restore();
  await call("/v1/retention", { method: "DELETE" });
});

const later = (ms: number) => void (control.clockAt = (control.clockAt ?? START) + ms);
const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
const alarmOf = async (user: string) =>
  runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
const path = (user: string) => `/v1/users/${user}/retention`;
const put = (user: string, json: object, query = "") =>
  call(`${path(user)}${query}`, { method: "PUT", json });
const putTenant = (json: object, query = "") => call(`/v1/retention${query}`, { method: "PUT", json });
const get = async (user: string) => (await call(path(user))).body;
/** Sets rules, and applies them. */
async function keep(user: string, rules: object): Promise<void> {
  expect(await put(user, rules)).toMatchObject({ status: 200 });
  later(HOUR);
  await ring(user);
}
const cron = () => worker.scheduled(createScheduledController(), env);
const events = async (user: string) =>
  (await call(`/v1/audit?user=${user}&limit=1000`)).body.items
    .filter(({ action }: { action: string }) => action.startsWith("retention."))
    .map(({ action, count }: { action: string; count: number }) => [action, count])
    .toSorted();

describe("messages", () => {
  it("go when they are older, from every read, the search and the thread's length", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["an old banana", "an old cherry"]);
    later(20 * DAY);
    await append(id, [say("a new damson")]);
    later(15 * DAY);
    await keep(user, { messages: "30d" });
    expect(await said(id)).toEqual(["a new damson"]);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(1);
    const found = await call(`/v1/users/${user}/recall`, { json: { query: "banana", kinds: ["message"] } });
    expect(found.text).not.toContain("banana");
    expect(await events(user)).toEqual([["retention.messages", 2]]);
    expect((await call(`/v1/users/${user}/changes`)).body.items).toMatchObject([
      { type: "thread", id, length: 1 },
    ]);
  });

  it("take the ones without a text along, and summaries that are as old", async () => {
    const user = newUser();
    const { id } = await create(user);
    const tool = { role: "assistant", content: null, tool_calls: [] };
    await append(id, [tool, say("one"), tool, say("two"), tool]);
    await call(`/v1/threads/${id}/compactions`, { json: { summary: "one and two", to: 4 } });
    later(20 * DAY);
    await append(id, [say("three")]);
    later(15 * DAY);
    await keep(user, { messages: "30d" });
    expect(await said(id)).toEqual(["three"]);
    expect((await call(`/v1/threads/${id}/compactions`)).body.items).toEqual([]);
  });

  it("go with the whole thread once nobody has changed it for as long, as a deletion by hand tells it", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    const { version } = (await call(`/v1/users/${user}/changes`)).body;
    later(31 * DAY);
    await keep(user, { messages: "30d" });
    expect((await call(`/v1/threads/${id}`)).status).toBe(404);
    expect((await call(`/v1/users/${user}/changes?after=${version}`)).body.items).toMatchObject([
      { type: "threadsDeleted", ids: [id] },
    ]);
    expect(await events(user)).toEqual([
      ["retention.messages", 1],
      ["retention.threads", 1],
    ]);
    await ring(user);
    expect((await call(`/v1/threads?limit=1000`)).text).not.toContain(id);
  });

  it("go without a text, too: images and calls of tools", async () => {
    const user = newUser();
    const { id } = await create(user);
    const image = {
      role: "user",
      content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }],
    };
    await append(id, [image, { role: "assistant", content: null, tool_calls: [] }]);
    later(20 * DAY);
    await append(id, [image]);
    later(15 * DAY);
    expect((await put(user, { messages: "30d" })).body.due.messages).toBe(2);
    later(HOUR);
    await ring(user);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(1);
    expect(await events(user)).toEqual([["retention.messages", 2]]);
  });

  it("take a summary along with the last of its messages, however young it is", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["one", "two"]);
    later(10 * DAY);
    await append(id, [say("three")]);
    later(19 * DAY);
    for (const to of [2, 3])
      await call(`/v1/threads/${id}/compactions`, { json: { summary: `1-${to}`, to } });
    later(DAY + 1);
    await keep(user, { messages: "30d" });
    const left = (await call(`/v1/threads/${id}/compactions`)).body.items;
    expect(left.map(({ to }: { to: number }) => to)).toEqual([3]);
    await append(id, [say("four")]);
    later(10 * DAY);
    await ring(user);
    expect((await call(`/v1/threads/${id}/compactions`)).body.items).toEqual([]);
    expect(await said(id)).toEqual(["four"]);
  });

  it("are counted once where forks show them, before and after", async () => {
    const user = newUser();
    const { id } = await create(user);
    await append(
      id,
      Array.from({ length: 1000 }, (_, i) => say(`m ${i}`)),
    );
    await append(id, [say("one more than a transaction removes")]);
    for (let i = 0; i < 3; i++) await fork(id, {});
    later(40 * DAY);
    const { due } = (await put(user, { messages: "30d" })).body;
    expect(due).toEqual({ threads: 4, messages: 1001, memories: 0 });
    later(HOUR);
    await ring(user);
    expect((await get(user)).last).toMatchObject(due);
    expect(await events(user)).toEqual([
      ["retention.messages", 1001],
      ["retention.threads", 4],
    ]);
  });

  it("stay in a thread under an ingest, until it has ended", async () => {
    const model = new ScriptedModel({});
    const answers = model.generate.bind(model);
    model.generate = () => Promise.reject(new Error("the model is away"));
    control.languageModel = model;
    const user = newUser();
    const { id } = await threadOf(user, ["I live in Porto"]);
    later(40 * DAY);
    await put(user, { messages: "30d" });
    later(HOUR);
    expect((await call(`/v1/users/${user}/ingest`, { json: { threadId: id } })).status).toBe(202);
    await ring(user);
    expect(await said(id)).toEqual(["I live in Porto"]);
    // The model is back, the ingest ends, and the next round finds the thread free.
    model.generate = answers;
    for (let i = 0; i < 3; i++) {
      later(DAY + HOUR);
      await ring(user);
    }
    expect((await call(`/v1/threads/${id}`)).status).toBe(404);
  });

  it("go from the forks that show them, too", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["one", "two"]);
    const branch = (await fork(id, { at: 2 })).body.id;
    later(20 * DAY);
    await append(id, [say("three")]);
    await append(branch, [say("four")]);
    later(15 * DAY);
    await keep(user, { messages: "30d" });
    expect(await said(id)).toEqual(["three"]);
    expect(await said(branch)).toEqual(["four"]);
    expect((await call(`/v1/threads/${branch}`)).body.length).toBe(1);
    expect(await exportOf(user)).not.toContain('"one"');
  });

  it("go slice by slice where there are many", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (let i = 0; i < 4; i++)
      await append(
        id,
        Array.from({ length: 1000 }, (_, n) => say(`m ${i} ${n}`)),
      );
    later(20 * DAY);
    await append(id, [say("new")]);
    later(15 * DAY);
    await keep(user, { messages: "30d" });
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(1501);
    await ring(user);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(1);
    expect((await events(user)).reduce((sum: number, [, count]: [string, number]) => sum + count, 0)).toBe(
      4000,
    );
  });
});

describe("a thread's own rule", () => {
  it("is shorter than the others for this thread alone, and a fork has it, too", async () => {
    const user = newUser();
    const short = (await create(user, { retention: "7d" })).id;
    const { id: long } = await create(user);
    for (const id of [short, long]) await append(id, [say("old")]);
    const branch = (await fork(short)).body;
    expect(branch.retention).toBe("7d");
    later(5 * DAY);
    for (const id of [short, long, branch.id]) await append(id, [say("new")]);
    later(4 * DAY);
    expect((await get(user)).due).toEqual({ threads: 0, messages: 2, memories: 0 });
    await ring(user);
    expect(await said(short)).toEqual(["new"]);
    expect(await said(branch.id)).toEqual(["new"]);
    expect(await said(long)).toEqual(["old", "new"]);
  });

  it("waits for an hour, also where a round is due before", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    await put(user, { messages: "3650d" });
    later(40 * DAY);
    await ring(user);
    const exported = await exportOf(user);
    later((await get(user)).nextAt - (control.clockAt ?? 0) - 1);
    await call(`/v1/threads/${id}`, { method: "PATCH", json: { retention: "1d" } });
    const short = (await fork(id, { retention: "1d" })).body.id;
    later(1);
    await ring(user);
    for (const thread of [id, short]) expect(await said(thread)).toEqual(["old"]);
    const other = newUser();
    await put(other, { messages: "3650d" });
    later(HOUR - 1);
    const ruled = exported.replaceAll('"type":"thread",', '"type":"thread","retention":"1d",');
    const copy = (await importTo(other, ruled)).body.threadIds.to + id.slice(id.indexOf("."));
    later(1);
    await ring(other);
    expect(await said(copy)).toEqual(["old"]);
    later(DAY + 1);
    for (const one of [user, other]) await ring(one);
    for (const thread of [id, short, copy]) expect((await call(`/v1/threads/${thread}`)).status).toBe(404);
  });

  it("waits no other hour where it is set again", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    later(2 * DAY);
    for (let i = 0; i < 2; i++) {
      await call(`/v1/threads/${id}`, { method: "PATCH", json: { retention: "1d" } });
      later(HOUR / 2);
    }
    await ring(user);
    expect(await said(id)).toEqual([]);
  });

  it("is applied to many threads in one alarm, which reads each once", async () => {
    const user = newUser();
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push((await create(user, { retention: "30d" })).id);
    for (const id of ids) await append(id, [say("old")]);
    later(20 * DAY);
    for (const id of ids) await append(id, [say("new")]);
    await ring(user);
    later(11 * DAY);
    const reads = vi.spyOn(AgedMessages.prototype, "within");
    await ring(user);
    expect(reads.mock.calls).toHaveLength(ids.length);
    reads.mockRestore();
    expect((await get(user)).last).toMatchObject({ threads: 0, messages: ids.length });
  });

  it("is set and taken away by a PATCH, and comes with an import", async () => {
    const [user, other] = [newUser(), newUser()];
    const { id } = await threadOf(user, ["old"]);
    await call(`/v1/threads/${id}`, { method: "PATCH", json: { retention: "7d" } });
    const exported = await exportOf(user);
    expect(linesOf(exported)[1]).toMatchObject({ type: "thread", retention: "7d" });
    await call(`/v1/threads/${id}`, { method: "PATCH", json: { retention: null } });
    const { body } = await importTo(other, exported);
    later(8 * DAY);
    for (const one of [user, other]) await ring(one);
    expect(await said(id)).toEqual(["old"]);
    expect((await call(`/v1/threads/${body.threadIds.to}${id.slice(id.indexOf("."))}`)).status).toBe(404);
  });
});

describe("memories", () => {
  const texts = async (user: string) => (await listTexts(user)).toSorted();

  it("go with their history when no version of them is younger", async () => {
    const user = newUser();
    await rememberMany(user, [{ text: "an old episode", kind: "episode" }]);
    const { id } = await remembered(user, { text: "a changed episode", kind: "episode" });
    later(20 * DAY);
    await patch(user, id, { text: "an episode that was changed" });
    later(15 * DAY);
    await keep(user, { memories: [{ kind: "episode", keep: "30d" }] });
    expect(await texts(user)).toEqual(["an episode that was changed"]);
    expect(await recallTexts(user, { query: "old episode" })).not.toContain("an old episode");
    expect(await exportOf(user)).not.toContain("an old episode");
    expect(await events(user)).toEqual([["retention.memories", 1]]);
  });

  const of = (trust: string) => ({ headers: { "Cairn-Trust": trust } });
  async function allKinds(user: string): Promise<void> {
    const memories = `/v1/users/${user}/memories`;
    await call(memories, { json: { text: "by a person" } });
    await call(memories, { json: { text: "by a model" }, ...of("model") });
    await call(memories, { json: { text: "by a model, pinned", tags: ["pinned"] }, ...of("model") });
    await call(memories, { json: { text: "an episode", kind: "episode", scope: "s" } });
    later(40 * DAY);
  }

  it.each<[string, object, string[]]>([
    ["all kinds", {}, ["by a model, pinned", "by a person"]],
    ["a scope", { scope: "s" }, ["by a model", "by a model, pinned", "by a person"]],
    ["pinned ones", { pinned: true }, ["an episode", "by a model", "by a person"]],
    [
      "what a person said, by name",
      { kind: "fact", trust: "operator" },
      ["an episode", "by a model", "by a model, pinned"],
    ],
    ["facts", { kind: "fact" }, ["an episode", "by a model, pinned", "by a person"]],
  ])("of a rule of %s", async (_, rule, left) => {
    const user = newUser();
    await allKinds(user);
    await keep(user, { memories: [{ keep: "30d", ...rule }] });
    expect(await texts(user)).toEqual(left);
  });

  it("leave the entry that they name, and the other memories that name it", async () => {
    const user = newUser();
    const entry = { cairnEntry: "k" };
    await remember(user, { text: "an old episode", kind: "episode", metadata: entry });
    later(40 * DAY);
    await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: "of today" });
    await remember(user, { text: "a pinned fact of today", tags: ["pinned"], metadata: entry });
    await keep(user, { memories: [{ keep: "30d" }] });
    expect(await texts(user)).toEqual(["a pinned fact of today"]);
    expect((await call(`/v1/users/${user}/kv/k`)).body).toBe("of today");
    expect(await events(user)).toEqual([["retention.memories", 1]]);
  });
});

describe("before it acts", () => {
  it("a dry run counts, and stores nothing; a rule waits for an hour, and can be taken back", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["one", "two"]);
    await remember(user, { text: "e", kind: "episode" });
    later(40 * DAY);
    const rules = { messages: "30d", memories: [{ keep: "30d" }] };
    const due = { threads: 1, messages: 2, memories: 1 };
    expect((await put(user, rules, "?dryRun=true")).body).toEqual({ own: rules, tenant: {}, due });
    expect((await get(user)).own).toEqual({});
    const set = (await put(user, rules)).body;
    expect(set).toEqual({ own: rules, tenant: {}, due, nextAt: START + 40 * DAY + HOUR });
    later(HOUR - 1);
    await ring(user);
    expect(await said(id)).toEqual(["one", "two"]);
    expect((await call(path(user), { method: "DELETE" })).status).toBe(204);
    later(DAY);
    await ring(user);
    expect(await said(id)).toEqual(["one", "two"]);
  });

  it("the same rules again put off nothing", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    later(40 * DAY);
    await put(user, { messages: "30d" });
    later(HOUR / 2);
    expect((await put(user, { messages: "30d" })).body.nextAt).toBe(START + 40 * DAY + HOUR);
    later(HOUR / 2);
    await ring(user);
    expect((await call(`/v1/threads/${id}`)).status).toBe(404);
  });

  it("rules that change while a round deletes end it, and the new ones wait for an hour", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (const n of [1, 2])
      await append(
        id,
        Array.from({ length: 200 }, (_, i) => say(`m ${n} ${i}`)),
      );
    await remember(user, { text: "e", kind: "episode" });
    await ring(user);
    later(20 * DAY);
    await append(id, [say("new")]);
    await ring(user);
    later(15 * DAY);
    await put(user, { messages: "30d" });
    later(HOUR);
    const own = { memories: [{ keep: "1d" }] };
    await runInDurableObject(await objectOf(user), async (object: UserMemory) => {
      const first = vi.spyOn(AgedConversations.prototype, "deleteSome");
      first.mockImplementation(function (this: AgedConversations, bounds) {
        first.mockRestore();
        const more = this.deleteSome(bounds);
        object.setRetention(null, { own });
        return more;
      });
      await object.alarm();
    });
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(151);
    expect(await listTexts(user)).toEqual(["e"]);
    expect(await get(user)).toMatchObject({ own, nextAt: (control.clockAt ?? 0) + HOUR });
    later(HOUR);
    await ring(user);
    expect(await listTexts(user)).toEqual([]);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(151);
  });

  it("a round whose clock moves, in several alarms, is told as one", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (let i = 0; i < 3; i++)
      await append(
        id,
        Array.from({ length: 1000 }, (_, n) => say(`m ${i} ${n}`)),
      );
    await remember(user, { text: "e", kind: "episode" });
    later(20 * DAY);
    await append(id, [say("new")]);
    await ring(user);
    later(15 * DAY);
    await put(user, { messages: "30d", memories: [{ keep: "30d" }] });
    control.clockAhead = (control.clockAt ?? 0) - START + HOUR;
    control.clockAt = null;
    for (let i = 0; i < 2; i++) await ring(user);
    expect((await get(user)).last).toMatchObject({ threads: 0, messages: 3000, memories: 1 });
  });

  it("looks again when something is past its time, and tells what it deleted last", async () => {
    const user = newUser();
    await threadOf(user, ["one"]);
    await keep(user, { messages: "3d" });
    expect((await get(user)).nextAt).toBe(START + 3 * DAY + 1);
    later(3 * DAY);
    await ring(user);
    expect(await get(user)).toMatchObject({
      due: { threads: 0, messages: 0, memories: 0 },
      last: { at: START + 3 * DAY + HOUR, threads: 1, messages: 1, memories: 0 },
    });
  });
});

describe("the tenant's rules", () => {
  it("reach each user by the cron, hold beside the user's own, and the shorter one wins", async () => {
    const [strict, usual] = [newUser(), newUser()];
    const ids: string[] = [];
    for (const user of [strict, usual]) ids.push((await threadOf(user, ["old"])).id);
    await ring(strict);
    await ring(usual);
    await put(strict, { messages: "10d" });
    await put(usual, { messages: "100d" });
    expect((await putTenant({ messages: "30d" })).body).toMatchObject({
      rules: { messages: "30d" },
      status: "running",
    });
    await cron();
    expect((await call("/v1/retention")).body.status).toBe("done");
    expect(await get(usual)).toMatchObject({ own: { messages: "100d" }, tenant: { messages: "30d" } });
    const there = async () => Promise.all(ids.map(async (id) => (await call(`/v1/threads/${id}`)).status));
    later(11 * DAY);
    for (const user of [strict, usual]) await ring(user);
    expect(await there()).toEqual([404, 200]);
    later(20 * DAY);
    await ring(usual);
    expect(await there()).toEqual([404, 404]);
  });

  it("are asked for by the object of a new user", async () => {
    await putTenant({ messages: "30d" });
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    await ring(user);
    expect((await get(user)).tenant).toEqual({ messages: "30d" });
    later(31 * DAY);
    await ring(user);
    expect((await call(`/v1/threads/${id}`)).status).toBe(404);
  });

  it("reach the users after one whose object fails, and that one later", async () => {
    const { jobs, retention: rules, now } = services(env, faultyPorts(env));
    const told: string[] = [];
    let isFull = true;
    const setRetention = async (user: string) => {
      if (user === "b" && isFull) throw new Error("b is full");
      told.push(user);
    };
    const needs = {
      jobs,
      retention: rules,
      now,
      records: {
        owners: async ({ after = "" }) => ["a", "b", "c"].filter((user) => user > after),
      },
      userMemory: (user: string) => ({ setRetention: async () => setRetention(user) }),
    } as unknown as Parameters<typeof tellRetention>[0];
    await putTenant({ messages: "33d" });
    const status = async () => (await call("/v1/retention")).body;
    for (let hour = 0; hour < 2; hour++) await tellRetention(needs);
    expect(told).toEqual(["a", "c"]);
    expect(await status()).toMatchObject({ status: "running", users: 2 });
    isFull = false;
    await tellRetention(needs);
    expect(told).toEqual(["a", "c", "b"]);
    expect(await status()).toMatchObject({ status: "done", users: 3 });
  });

  it("wait for all users of an outage", async () => {
    const { jobs, retention: rules, now } = services(env, faultyPorts(env));
    const users = Array.from({ length: 100 }, (_, i) => `u${i}`).toSorted();
    const needs = {
      jobs,
      retention: rules,
      now,
      records: { owners: async ({ after = "" }) => users.filter((user) => user > after) },
      userMemory: () => ({ setRetention: async () => Promise.reject(new Error("no object answers")) }),
    } as unknown as Parameters<typeof tellRetention>[0];
    await putTenant({ messages: "34d" });
    await expect(tellRetention(needs)).rejects.toThrow("100 of 100 users do not answer");
    expect((await call("/v1/retention")).body).toMatchObject({ status: "running", users: 0 });
  });

  it("count what they would delete of all users, page by page", async () => {
    const user = newUser();
    await threadOf(user, ["old"]);
    later(4000 * DAY);
    let [users, messages, cursor] = [0, 0, ""];
    do {
      const { body } = await putTenant({ messages: "3650d" }, `?dryRun=true${cursor && `&cursor=${cursor}`}`);
      users += body.users;
      messages += body.due.messages;
      cursor = body.cursor ?? "";
    } while (cursor !== "");
    expect(users).toBeGreaterThan(0);
    expect(messages).toBeGreaterThan(0);
    expect((await call("/v1/retention")).body.rules).toEqual({});
  });
});

describe("an outage between two steps", () => {
  it("of D1 before the memories: the messages are gone, the rest follows, and each is counted once", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    await remember(user, { text: "e", kind: "episode" });
    await ring(user);
    later(20 * DAY);
    await append(id, [say("new")]);
    later(20 * DAY);
    await put(user, { messages: "30d", memories: [{ keep: "30d" }] });
    later(HOUR);
    control.d1Writes = "before";
    await ring(user);
    expect(await said(id)).toEqual(["new"]);
    expect(await events(user)).toEqual([]);
    expect(await recallTexts(user, { query: "e" })).toEqual(["new"]);
    control.d1Writes = "ok";
    later(HOUR);
    await ring(user);
    expect(await listTexts(user)).toEqual([]);
    expect(await events(user)).toEqual([
      ["retention.memories", 1],
      ["retention.messages", 1],
    ]);
  });

  it("of the object in a deletion: nothing of it is done, nor counted, and it comes again", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["old"]);
    await ring(user);
    later(20 * DAY);
    await append(id, [say("new")]);
    await ring(user);
    later(15 * DAY);
    await put(user, { messages: "30d" });
    later(HOUR);
    control.failingTransactions = 1;
    await ring(user);
    expect(await said(id)).toEqual(["old", "new"]);
    later(HOUR);
    await ring(user);
    expect(await said(id)).toEqual(["new"]);
    expect(await events(user)).toEqual([["retention.messages", 1]]);
  });

  it("of D1 between the tenant's rules and the pass: the cron begins it", async () => {
    const user = newUser();
    await threadOf(user, ["old"]);
    await ring(user);
    control.d1NextWrites = ["before"];
    expect((await putTenant({ messages: "30d" })).status).toBe(503);
    control.d1NextWrites = [];
    await cron();
    expect((await get(user)).tenant).toEqual({ messages: "30d" });
  });

  it("of D1 when a new user's object asks: it asks again", async () => {
    await putTenant({ messages: "30d" });
    const user = newUser();
    await threadOf(user, ["old"]);
    control.retention = "fail";
    await ring(user);
    control.retention = "ok";
    later(HOUR);
    await ring(user);
    expect((await get(user)).tenant).toEqual({ messages: "30d" });
  });
});

describe("elsewhere", () => {
  it("an export tells the rules, and an import takes it and sets none", async () => {
    const [user, other] = [newUser(), newUser()];
    await threadOf(user, ["one"]);
    expect(linesOf(await exportOf(user))[0]).not.toHaveProperty("retention");
    await put(user, { messages: "30d" });
    const exported = await exportOf(user);
    expect(linesOf(exported)[0].retention).toEqual({ tenant: {}, own: { messages: "30d" } });
    expect(await importTo(other, exported)).toMatchObject({ status: 200, body: { complete: true } });
    expect((await get(other)).own).toEqual({});
  });

  it("an erasure takes the user's own rules", async () => {
    const user = newUser();
    await threadOf(user, ["one"]);
    await put(user, { messages: "30d", memories: [{ scope: "secret", keep: "30d" }] });
    expect((await call(`/v1/users/${user}`, { method: "DELETE" })).status).toBe(202);
    expect(await get(user)).toEqual({ own: {}, tenant: {}, due: { threads: 0, messages: 0, memories: 0 } });
  });

  it("no rule costs no alarm", async () => {
    const user = newUser();
    await remember(user, { text: "t" });
    for (let i = 0; i < 3; i++) {
      later(2 * DAY);
      await ring(user);
    }
    expect(await alarmOf(user)).toBeNull();
  });
});

describe("bad input", () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ scope: `s${i}`, keep: "1d" }));
  it.each<[string, object, string]>([
    ["no day", { messages: "0d" }, "body.messages"],
    ["no unit", { messages: "30" }, "body.messages"],
    ["a number", { messages: 30 }, "body.messages"],
    ["more than ten years", { messages: "3651d" }, "body.messages"],
    ["an unknown kind", { memories: [{ kind: "dream", keep: "1d" }] }, "body.memories[0].kind"],
    ["a rule without an age", { memories: [{ kind: "fact" }] }, "body.memories[0].keep"],
    ["100 rules", { memories: many }, "body.memories"],
    ["an unknown field", { messages: "1d", entries: "30d" }, "body.entries"],
    ["nothing", {}, "body"],
    ["no rule of memories", { memories: [] }, "body"],
  ])("%s is refused with its field, and changes nothing", async (_, rules, field) => {
    const user = newUser();
    await put(user, { messages: "30d" });
    for (const refused of [await put(user, rules), await putTenant(rules)]) {
      expect(refused.status).toBe(400);
      expect(refused.body.error.details).toMatchObject([{ path: field }]);
    }
    expect((await get(user)).own).toEqual({ messages: "30d" });
    expect((await call("/v1/retention")).body.rules).toEqual({});
  });

  it("a thread's rule is refused likewise", async () => {
    const { status, body } = await call(`/v1/users/${newUser()}/threads`, { json: { retention: "0d" } });
    expect([status, body.error.details]).toMatchObject([400, [{ path: "body.retention" }]]);
  });
});
