// Options and answers of a recall beside the filters of memories: neighbours, explanations, shared owners, reranking.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, tokenWith } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { bindReranker } from "../../doubles/ports.ts";
import { evict } from "../../evict.ts";
import { remember, type Seen } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

bindReranker();
afterEach(restore);

const ask = (user: string, json: object, token?: string) =>
  call(`/v1/users/${encodeURIComponent(user)}/recall`, { json, ...(token !== undefined && { token }) });
const hits = async (...given: Parameters<typeof ask>): Promise<Seen[]> => (await ask(...given)).body.hits;
const armOf = ({ arms }: { arms: { name: string; status: string }[] }, name: string) =>
  arms.find((arm) => arm.name === name);
const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
const vectorsOf = async (user: string): Promise<number> =>
  runInDurableObject(await objectOf(user), (_, { storage }) =>
    Number(storage.sql.exec("SELECT COUNT(*) AS n FROM vectors WHERE model IS NOT NULL").one().n),
  );

describe("the window of a hit on a message", () => {
  const texts = ["one", "two", "the ferry", "four", "five", "six"];
  async function told() {
    const user = newUser();
    const thread = await create(user);
    await append(
      thread.id,
      texts.map((text) => say(text)),
    );
    return { user, thread };
  }
  const seqsOf = ({ window }: Seen) => (window as { seq: number }[] | undefined)?.map(({ seq }) => seq);

  it("is the message before and the one after, or as many as are wanted", async () => {
    const { user } = await told();
    const [hit] = await hits(user, { query: "ferry", k: 1 });
    expect(hit).toMatchObject({
      userId: user,
      window: [
        { seq: 2, role: "user", text: "two" },
        { seq: 4, role: "user", text: "four" },
      ],
    });
    expect(seqsOf((await hits(user, { query: "ferry", k: 1, window: 5 }))[0] as Seen)).toEqual([
      1, 2, 4, 5, 6,
    ]);
    expect((await hits(user, { query: "ferry", k: 1, window: 0 }))[0]).not.toHaveProperty("window");
    expect((await ask(user, { query: "ferry", window: 6 })).status).toBe(400);
  });

  it("leaves out what was deleted and what has no text, and cuts what is long", async () => {
    const { user, thread } = await told();
    await call(`/v1/threads/${thread.id}/messages/2`, { method: "DELETE" });
    await append(thread.id, [
      { role: "assistant", content: null, tool_calls: [] },
      say("x".repeat(3000)),
      say("sail"),
    ]);
    expect(seqsOf((await hits(user, { query: "ferry", k: 1 }))[0] as Seen)).toEqual([4]);
    const [sail] = await hits(user, { query: "sail", k: 1, window: 2 });
    expect(sail).toMatchObject({ window: [{ seq: 8, text: "x".repeat(2000), cut: true }] });
  });

  it("is what stands around it in the fork that is searched", async () => {
    const { user, thread } = await told();
    const fork = (await call(`/v1/threads/${thread.id}/fork`, { json: { at: 3 } })).body;
    await append(fork.id, [say("another way")]);
    const [hit] = await hits(user, { query: "ferry", k: 1, threadId: fork.id });
    expect(hit).toMatchObject({ threadId: fork.id, window: [{ text: "two" }, { text: "another way" }] });
  });
});

it("explains an order by the sums of parts: a score halves for each 2 that a sum is less", async () => {
  const user = newUser();
  await remember(user, { text: "the ferry leaves at nine", importance: 1 });
  await remember(user, { text: "the train leaves at ten" });
  const explained = await ask(user, { query: "ferry", explain: true });
  const sums = explained.body.hits.map(({ why }: Seen) =>
    Object.values((why as { parts: Record<string, number> }).parts).reduce((all, part) => all + part, 0),
  );
  expect(explained.body.hits).toHaveLength(2);
  for (const [i, { score }] of explained.body.hits.entries())
    expect(score).toBeCloseTo(explained.body.confidence * 2 ** ((sums[i] - sums[0]) / 2), 2);
  expect(explained.body.signals).toMatchObject({ soft: expect.any(Number) });
  const [first] = await hits(user, { query: "ferry", explain: true });
  expect(Object.keys((first as Seen)["why"] as object)).toContain("parts");
  expect((first as { why?: { parts?: object } }).why?.parts).toMatchObject({
    importance: expect.any(Number),
  });
  expect((await hits(user, { query: "ferry" }))[0]?.["why"]).not.toHaveProperty("parts");
});

it("finds a fact whose subject and predicate the query names", async () => {
  const user = newUser();
  await remember(user, { subject: "Project Foo", predicate: "owner", object: "Zoë" });
  await remember(user, { subject: "Project Bar", predicate: "owner", object: "Max" });
  const answer = (await ask(user, { query: "who is the owner of project foo?" })).body;
  expect(answer.hits[0]).toMatchObject({ object: "Zoë", why: { key: true } });
  expect(answer.hits[1].why).not.toHaveProperty("key");
  expect(armOf(answer, "key")).toMatchObject({ status: "ok", candidates: 1 });
});

describe("shared owners", () => {
  const newShared = () => `shared:${newUser()}`;
  async function told() {
    const [user, team, other] = [newUser(), newShared(), newShared()];
    await remember(user, { text: "my own ferry leaves at nine" });
    await remember(team, { text: "the team's ferry leaves at ten" });
    await remember(other, { text: "a ferry of others" });
    return { user, team, other, token: await tokenWith({ user, shared: [team] }) };
  }

  it("are searched together with the user, and each hit says whose it is", async () => {
    const { user, team, token } = await told();
    const { body } = await ask(
      user,
      { query: "when does the ferry leave?", owners: [team, team, user] },
      token,
    );
    // The user is no shared owner.
    expect(body.error).toMatchObject({ code: "not_found", details: [{ path: "body.owners[2]" }] });
    const answer = (await ask(user, { query: "when does the ferry leave?", owners: [team, team] }, token))
      .body;
    expect(answer.hits.map(({ userId }: Seen) => userId).toSorted()).toEqual([team, user].toSorted());
    expect(armOf(answer, "owners")).toMatchObject({ status: "ok", candidates: 1 });
    expect(answer.freshness.indexed).toBe(2);
    expect(await hits(user, { query: "when does the ferry leave?" }, token)).toHaveLength(1);
  });

  it("are not found if the token does not name them, and do not go with a thread", async () => {
    const { user, other, team, token } = await told();
    const refused = await ask(user, { query: "ferry", owners: [team, other] }, token);
    expect(refused.status).toBe(404);
    expect(refused.body.error.details).toMatchObject([{ path: "body.owners[1]" }]);
    const { id: threadId } = await create(user);
    const both = await ask(user, { query: "ferry", owners: [team], threadId });
    expect(both.body.error.details).toMatchObject([{ path: "body.owners" }]);
    const many = Array.from({ length: 17 }, newShared);
    expect((await ask(user, { query: "ferry", owners: many })).body.error.code).toBe("limit_exceeded");
  });
});

describe("reranking", () => {
  /** The double prefers the second: it takes 1,000 characters for a sure answer, and few for none. */
  async function told() {
    const user = newUser();
    await remember(user, { text: "ferry ferry" });
    await remember(user, { text: `the ferry${" and what is around it".repeat(45)}` });
    return user;
  }

  it("turns hits round, and raises the confidence with the best of them", async () => {
    const user = await told();
    const plain = (await ask(user, { query: "ferry", k: 1 })).body;
    expect(plain.hits[0].text).toBe("ferry ferry");
    const answer = (await ask(user, { query: "ferry", k: 1, rerank: true, explain: true })).body;
    expect(answer.hits).toHaveLength(1);
    expect(answer.hits[0].text).toMatch(/around it$/);
    expect(answer.hits[0].why.pair).toBeCloseTo(answer.hits[0].text.length / 1000);
    expect(answer.confidence).toBeGreaterThan(plain.confidence);
    expect(answer.hits[0].score).toBeCloseTo(answer.confidence);
    expect(armOf(answer, "rerank")).toMatchObject({ status: "ok", candidates: 2 });
  });

  it("lowers the confidence where no hit answers", async () => {
    const user = newUser();
    await remember(user, { text: "ferry ferry" });
    const plain = (await ask(user, { query: "ferry" })).body;
    const answer = (await ask(user, { query: "ferry", rerank: true })).body;
    expect(answer.hits.map(({ text }: Seen) => text)).toEqual(["ferry ferry"]);
    expect(answer.confidence).toBeLessThan(plain.confidence);
  });

  it.each([
    ["fail", "failed"],
    ["hang", "late"],
  ] as const)("leaves the order as it was when the reranker does this: %s", async (how, status) => {
    const user = await told();
    control.reranker = how;
    const answer = (await ask(user, { query: "ferry", k: 1, rerank: true })).body;
    expect(answer.hits.map(({ text }: Seen) => text)).toEqual(["ferry ferry"]);
    expect(armOf(answer, "rerank")).toMatchObject({ status, candidates: 0 });
    expect(answer.degraded).toBe(true);
  });
});

describe("a thread that is found by its words only", () => {
  it("has no vectors, is found by its words, and gets vectors when that is changed", async () => {
    const user = newUser();
    const thread = await create(user, { indexing: "lexical" });
    expect(thread.indexing).toBe("lexical");
    await append(thread.id, [say("the boiler is broken"), say("so call a plumber")]);
    await ring(user);
    expect(await vectorsOf(user)).toBe(0);
    expect(await hits(user, { query: "boiler", k: 1 })).toMatchObject([{ text: "the boiler is broken" }]);
    expect((await ask(user, { query: "boiler" })).body.freshness).toEqual({ indexed: 2, pending: 0 });
    const path = `/v1/threads/${thread.id}`;
    await call(path, { method: "PATCH", json: { indexing: "full" } });
    await ring(user);
    expect(await vectorsOf(user)).toBe(2);
    await call(path, { method: "PATCH", json: { indexing: "lexical" } });
    expect(await vectorsOf(user)).toBe(0);
    await call(path, { method: "PATCH", json: { indexing: null } });
    await ring(user);
    expect(await vectorsOf(user)).toBe(2);
    expect((await call(path)).body).not.toHaveProperty("indexing");
  });

  it("is every thread of a deployment that says so, and none when it no longer does", async () => {
    control.messageIndexing = "lexical";
    const user = newUser();
    const thread = await create(user);
    await append(thread.id, [say("the boiler is broken")]);
    await remember(user, { text: "call a plumber" });
    await ask(user, { query: "boiler" });
    await ring(user);
    expect(await vectorsOf(user)).toBe(1);
    for (const [how, vectors] of [
      ["full", 2],
      ["lexical", 1],
    ] as const) {
      control.messageIndexing = how;
      await evict(user);
      await ask(user, { query: "boiler" });
      await ring(user);
      expect(await vectorsOf(user)).toBe(vectors);
    }
  });
});
