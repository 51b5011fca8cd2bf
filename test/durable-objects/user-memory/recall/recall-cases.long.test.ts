// Recalls that are narrowed, switched or late, and what of them a reader would get wrong.
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { bindReranker, bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import { evict } from "../../../evict.ts";
import { remember, rememberMany, type Seen } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

const DIMENSIONS = 256;
const vectorize = new VectorizeDouble(DIMENSIONS, ["user", "kind", "scope", "model"]);
bindVectorize(vectorize);
bindReranker();
beforeEach(() => {
  control.clockAt = clock() + 24 * 3_600_000;
});
afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
async function settle(user: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    control.clockAt = (control.clockAt ?? 0) + 60_000;
    if (!(await ring(user))) return;
  }
  throw new Error("alarms go on for ever");
}
const ask = async (user: string, json: object) => (await call(`/v1/users/${user}/recall`, { json })).body;
const texts = ({ hits }: { hits: Seen[] }) => hits.map(({ text }) => text);
const armOf = ({ arms }: { arms: { name: string; status: string; candidates: number }[] }, name: string) =>
  arms.find((arm) => arm.name === name);
const idsOf = async (user: string) => {
  const hash = await userHash(user);
  return vectorize.ids().filter((id) => id.startsWith(hash));
};

describe("words that are all common", () => {
  const chatter = (n: number) => Array.from({ length: n }, (_, i) => say(`coffee number ${i}`));
  async function told(user: string) {
    const old = await create(user, { indexing: "lexical" });
    await append(old.id, [say("my very first coffee")]);
    const later = await create(user, { indexing: "lexical" });
    for (let i = 0; i < 2; i++) await append(later.id, chatter(600));
    await settle(user);
    return old;
  }
  it("finds the fact among 1,200 messages when facts are asked for", async () => {
    const user = newUser();
    await remember(user, { text: "coffee with oat milk" });
    await told(user);
    for (let i = 0; i < 4; i++) await ask(user, { query: "coffee" });
    control.embedder = "fail";
    const answer = await ask(user, { query: "coffee", kinds: ["fact"] });
    expect(armOf(answer, "lexical")?.candidates).toBe(1);
    expect(texts(answer)).toEqual(["coffee with oat milk"]);
  });
  it("finds the message of the thread that is searched", async () => {
    const user = newUser();
    const old = await told(user);
    for (let i = 0; i < 4; i++) await ask(user, { query: "coffee" });
    const answer = await ask(user, { query: "coffee", threadId: old.id });
    expect(texts(answer)).toEqual(["my very first coffee"]);
  });
});

it("minScore holds for the scores that the reranker has moved", async () => {
  const user = newUser();
  await remember(user, { text: "ferry ferry" });
  const [plain] = (await ask(user, { query: "ferry" })).hits;
  const answer = await ask(user, { query: "ferry", rerank: true, minScore: plain.score });
  expect(answer.hits).toEqual([]);
});

it("the window shows nothing that was said after asOf", async () => {
  const user = newUser();
  const thread = await create(user);
  await append(thread.id, [say("the ferry")], { createdAt: 1_000_000 });
  await append(thread.id, [say("said much later")], { createdAt: 2_000_000 });
  const answer = await ask(user, { query: "ferry", asOf: 1_500_000, kinds: ["message"] });
  expect(texts(answer)).toEqual(["the ferry"]);
  expect(answer.hits[0].window).toBeUndefined();
});

it.each([
  ["full", "vectorize", 1],
  ["vectorize", "full", 0],
] as const)("a recall lets what is there follow a switch from %s to %s", async (from, to, count) => {
  control.messageIndexing = from;
  const user = newUser();
  const thread = await create(user);
  await append(thread.id, [say("a zeppelin over the lake")]);
  await settle(user);
  expect(await idsOf(user)).toHaveLength(1 - count);
  control.messageIndexing = to;
  await evict(user);
  await ask(user, { query: "zeppelin" });
  await settle(user);
  expect(await idsOf(user)).toHaveLength(count);
});

it.each([20, 120])("%i messages do not take the places of memories that a filter means", async (many) => {
  control.messageIndexing = "vectorize";
  control.vectorBytes = 2 * DIMENSIONS;
  const user = newUser();
  await remember(user, { text: "the cat sleeps on the sofa", tags: ["pets"] });
  await rememberMany(user, [{ text: "tyres for the bicycle" }, { text: "a recipe for lentil soup" }]);
  const thread = await create(user);
  await append(
    thread.id,
    Array.from({ length: many }, (_, i) => say(`a feline naps ${i}`)),
  );
  await settle(user);
  const answer = await ask(user, { query: "a feline naps", tags: ["pets"] });
  expect(texts(answer)).toEqual(["the cat sleeps on the sofa"]);
});

it("does not wait for Vectorize where it cannot have what memory lacks", async () => {
  control.vectorBytes = 2 * DIMENSIONS;
  const user = newUser();
  await remember(user, { text: "the cat sleeps on the sofa" });
  const thread = await create(user);
  await append(
    thread.id,
    ["one", "two", "three"].map((text) => say(`a ${text} naps`)),
  );
  await settle(user);
  vectorize.calls.query = 0;
  await ask(user, { query: "a feline naps" });
  expect(vectorize.calls.query).toBe(0);
});

it("owners that say the same give one hit", async () => {
  const [user, team] = [newUser(), `shared:${newUser()}`];
  await remember(user, { text: "the ferry leaves at nine" });
  await remember(team, { text: "the ferry leaves at nine" });
  expect(texts(await ask(user, { query: "ferry", owners: [team] }))).toHaveLength(1);
});

it("finds a fact by a key of nine words", async () => {
  const user = newUser();
  const key = "the colour of the front door of the house";
  await remember(user, { text: "green", key });
  const answer = await ask(user, { query: `what is ${key}?` });
  expect(answer.hits[0].why).toMatchObject({ key: true });
});

it("a kind that is named twice does not fail the arm", async () => {
  control.vectorBytes = 2 * DIMENSIONS;
  const user = newUser();
  await rememberMany(
    user,
    ["a", "b", "c", "d"].map((x) => ({ text: `the cat ${x} sleeps` })),
  );
  await settle(user);
  const answer = await ask(user, { query: "a feline naps", kinds: Array.from({ length: 5 }, () => "fact") });
  expect(armOf(answer, "vectorize")?.status).toBe("ok");
});

it.each([100, 700])("an unconfirmed memory is compared, though 3 times %i messages wait", async (many) => {
  control.messageIndexing = "vectorize";
  control.vectorBytes = 2 * DIMENSIONS;
  const user = newUser();
  const thread = await create(user);
  for (let i = 0; i < 3; i++)
    await append(
      thread.id,
      Array.from({ length: many }, (_, j) => say(`number ${i * many + j}`)),
    );
  control.vectorizeWrites = "before";
  for (let i = 0; i < 30; i++) {
    control.clockAt = (control.clockAt ?? 0) + 2_000;
    await ring(user);
  }
  await remember(user, { text: "the cat sleeps on the sofa" });
  await rememberMany(user, [{ text: "tyres for the bicycle" }, { text: "a recipe for lentil soup" }]);
  const answer = await ask(user, {
    query: "a feline naps",
    weights: { lexical: 0, soft: 0 },
    kinds: ["fact"],
  });
  expect(texts(answer)).toContain("the cat sleeps on the sofa");
});

it("what was said while messages were found by words only gets its meaning when that is over", async () => {
  control.vectorBytes = null;
  const user = newUser();
  const thread = await create(user);
  await append(thread.id, [say("a dog barks")]);
  await settle(user);
  await ask(user, { query: "x" });
  control.messageIndexing = "lexical";
  await evict(user);
  await append(thread.id, [say("the cat sleeps on the sofa")]);
  await settle(user);
  control.messageIndexing = "full";
  await evict(user);
  await ask(user, { query: "a feline naps" });
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  await settle(user);
  const weights = { soft: 0, lexical: 0 };
  const { hits } = await ask(user, { query: "a feline naps", k: 1, weights });
  expect(hits[0]).toMatchObject({ text: "the cat sleeps on the sofa", why: { vector: 1 } });
});

describe("shared owners", () => {
  it.each([false, true])("rank with the user, whose key is asked for (shared: %s)", async (shared) => {
    const [user, team] = [newUser(), `shared:${newUser()}`];
    await remember(user, { text: "vim", key: "preferred tool" });
    await remember(user, { text: "likes long walks" });
    for (const text of [
      "which tool is preferred for the kitchen is a matter of taste",
      "a preferred tool for the garden is the spade",
      "the preferred tool of carpenters",
    ])
      await remember(shared ? team : user, { text });
    const answer = await ask(user, { query: "what is the preferred tool?", owners: [team] });
    expect(texts(answer)[0]).toBe("vim");
  });
});

it("loses nothing of a full memory when a transaction is undone", async () => {
  control.vectorBytes = 2 * DIMENSIONS;
  const user = newUser();
  for (const text of ["the cat sleeps on the sofa", "tyres for the bicycle"]) await remember(user, { text });
  await ask(user, { query: "x cat" });
  control.failingTransactions = 1;
  expect((await remember(user, { text: "a recipe for lentil soup" })).status).toBe(500);
  control.failingTransactions = 0;
  const query = { query: "a feline naps", weights: { lexical: 0, soft: 0 } };
  expect(texts(await ask(user, query))[0]).toBe("the cat sleeps on the sofa");
});

it("finds a message of an old fork by what was said before it", async () => {
  const user = newUser();
  const thread = await create(user);
  await append(thread.id, [
    say("hello"),
    say("we leave in May"),
    say("fine"),
    say("Have you booked the flights?"),
  ]);
  const { id } = (await call(`/v1/threads/${thread.id}/fork`, { json: {} })).body;
  await append(id, [say("Not yet, I would rather take the train")]);
  await append(thread.id, [say("Not yet, I would rather take a ship")]);
  await settle(user);
  const scoreOf = async (text: string) =>
    (await ask(user, { query: "booked flights" })).hits.find((hit: Seen) => hit.text.includes(text))?.[
      "score"
    ];
  // Messages appended to a fork come after those that it shares, as in its origin.
  expect(await scoreOf("train")).toBeGreaterThan((await scoreOf("ship")) * 0.8);
});

it("finds all that was said on the day that the query names, however much was said since", async () => {
  const user = newUser();
  const thread = await create(user);
  const day = Date.UTC(2026, 9, 1);
  const place = (i: number) =>
    `${"abcdefghij"[i % 10]}${"aeiou"[Math.floor(i / 10) % 5]}${i < 50 ? "n" : "r"}hill`;
  for (let i = 0; i < 60; i++)
    await append(thread.id, [say(`we had lunch on the ${place(i)}`), say(`the ${place(i)} was good`)], {
      createdAt: day + i * 86_400_000,
    });
  const answer = await ask(user, {
    query: "what happened on 3 October?",
    referenceDate: day + 61 * 86_400_000,
    k: 2,
  });
  expect(new Set(texts(answer))).toEqual(
    new Set([`we had lunch on the ${place(2)}`, `the ${place(2)} was good`]),
  );
  expect(answer.hits[0].why).toMatchObject({ date: true });
  expect(armOf(answer, "date")).toMatchObject({ status: "ok", candidates: 2 });
});

describe("text of scripts without spaces", () => {
  it.each([
    ["我喜欢喝茶", "我喜欢喝什么", "上海很大"],
    ["猫を飼っています", "猫", "犬を飼っています"],
    ["저는 서울에 살아요", "서울", "부산은 커요"],
    ["Ｌｉｓｂｏｎ in May", "lisbon", "Porto in June"],
  ])("%s is found by %s", async (text, query, other) => {
    const user = newUser();
    await rememberMany(user, [{ text: other }, { text }]);
    const { hits } = await ask(user, { query });
    expect(hits.find((hit: Seen) => hit.text === text)?.["why"]).toMatchObject({ lexical: 1 });
  });
});

it("finds a fact by the words of its key, and of a possessive by its name", async () => {
  const user = newUser();
  await remember(user, { key: "shoe size", text: "38" });
  await remember(user, { subject: "Vera", predicate: "favourite food", object: "plums" });
  for (const text of ["a note on chess", "the shop has shut"]) await remember(user, { text });
  expect(texts(await ask(user, { query: "what size are my shoes?" }))[0]).toBe("38");
  const [hit] = (await ask(user, { query: "what is Vera's favourite food?" })).hits;
  expect(hit).toMatchObject({ object: "plums", why: { key: true } });
});

it("scores by importance or recency alone where nothing else is to count", async () => {
  const user = newUser();
  await remember(user, { text: "deploy with care", importance: 0.2 });
  await remember(user, { text: "deploy on Fridays", importance: 1 });
  const only = { lexical: 0, soft: 0, vector: 0, speaker: 0, time: 0, key: 0, recency: 0 };
  const { hits } = await ask(user, { query: "deploy", weights: only, explain: true });
  expect(hits.map(({ text }: Seen) => text)).toEqual(["deploy on Fridays", "deploy with care"]);
  expect(hits[0].score).toBeGreaterThan(hits[1].score);
  expect(hits[0].why.parts.importance).toBeGreaterThan(hits[1].why.parts.importance);
});

describe("what is of messages and what of memories", () => {
  async function told() {
    const user = newUser();
    const thread = await create(user);
    await append(thread.id, [say("the old ferry")], { createdAt: 1_000_000 });
    await append(thread.id, [say("the new ferry")], { createdAt: 2_000_000 });
    return { user, thread };
  }
  it("messages are filtered by when they were said, and by an empty filter not at all", async () => {
    const { user } = await told();
    const late = { query: "ferry", filter: { createdAtMin: 1_500_000 } };
    expect(texts(await ask(user, late))).toEqual(["the new ferry"]);
    expect(texts(await ask(user, { query: "ferry", filter: {} }))).toHaveLength(2);
  });
  it.each([
    ["kinds", (threadId: string) => ({ threadId, kinds: ["fact"] })],
    ["tags", () => ({ kinds: ["message"], tags: ["a"] })],
    ["scope", (threadId: string) => ({ threadId, scope: "work" })],
    ["filter", () => ({ kinds: ["message"], filter: { subject: "x" } })],
  ] as const)("what cannot mean anything is refused: %s", async (field, more) => {
    const { user, thread } = await told();
    const { error } = await ask(user, { query: "ferry", ...more(thread.id) });
    expect(error.details).toMatchObject([{ path: `body.${field}` }]);
  });
});

it("shows what was said without the speaker's name before it, and says where it is cut", async () => {
  const user = newUser();
  const thread = await create(user);
  await append(thread.id, [
    { ...say("I have a kayak"), name: "Bob" },
    { ...say("me too"), name: "Ann" },
  ]);
  const [hit] = (await ask(user, { query: "kayak", k: 1 })).hits;
  expect(hit).toMatchObject({
    name: "Bob",
    text: "I have a kayak",
    window: [{ name: "Ann", text: "me too" }],
  });
  await append(thread.id, [say(`zirconium ${"x".repeat(40_000)}`)]);
  const [long] = (await ask(user, { query: "zirconium", k: 1 })).hits;
  expect(long).toMatchObject({ cut: true });
});
