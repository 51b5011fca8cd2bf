import { expect, it } from "vitest";
import { call, newUser } from "../../call.ts";

const remember = (user: string, memory: object) => call(`/v1/users/${user}/memories`, { json: memory });
const recall = async (user: string, query: object) =>
  (await call(`/v1/users/${user}/recall`, { json: query })).body;
const texts = (answer: { hits: { text: string }[] }) => answer.hits.map(({ text }) => text);

it("remembers, recalls by meaning, gets, lists and forgets", async () => {
  const user = newUser();
  const made = await remember(user, {
    text: "Project Foo lives at fly.io",
    tags: ["deploy"],
    score: 0.9,
    metadata: { a: 1 },
  });
  expect(made.status).toBe(201);
  const memory = made.body;
  expect(memory).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    userId: user,
    kind: "fact",
    status: "active",
    trust: "operator",
    writtenBy: { tokenId: expect.any(String) },
    version: expect.any(Number),
    text: "Project Foo lives at fly.io",
    tags: ["deploy"],
    score: 0.9,
    metadata: { a: 1 },
    createdAt: expect.any(Number),
    updatedAt: memory.createdAt,
    validFrom: memory.createdAt,
    recordedAt: memory.createdAt,
    indexing: "full",
  });
  await remember(user, { text: "Lunch is at noon" });
  const answer = await recall(user, { query: "where do I deploy the project?" });
  expect(answer.hits[0]).toMatchObject({
    id: memory.id,
    kind: "fact",
    tags: ["deploy"],
    metadata: { a: 1 },
  });
  expect(answer.hits[0].score).toBeGreaterThan(answer.hits[1].score);
  expect(answer).toMatchObject({ degraded: false, freshness: { indexed: 2, pending: 0 } });
  expect((await call(`/v1/users/${user}/memories/${memory.id}`)).body).toEqual(memory);
  expect((await call(`/v1/users/${user}/memories/${memory.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await call(`/v1/users/${user}/memories/${memory.id}`)).status).toBe(404);
  expect((await call(`/v1/users/${user}/memories/${memory.id}`, { method: "DELETE" })).status).toBe(404);
  expect(texts(await recall(user, { query: "where do I deploy the project?" }))).toEqual([
    "Lunch is at noon",
  ]);
  expect((await call(`/v1/users/${user}/memories`)).body.items).toHaveLength(1);
});

it("leaves what is unset out of the answer", async () => {
  const { body } = await remember(newUser(), { text: "bare" });
  expect(Object.keys(body).toSorted()).toEqual(
    "createdAt id indexing kind recordedAt status text trust updatedAt userId validFrom version writtenBy".split(
      " ",
    ),
  );
});

it("keeps the same words once: tags and metadata add up, the latest score holds, the id stays", async () => {
  const user = newUser();
  const first = await remember(user, { text: "I like  Tea", tags: ["a"], score: 0.2, metadata: { x: 1 } });
  const again = await remember(user, {
    text: " i like tea",
    tags: ["b", "a"],
    score: 0.8,
    metadata: { y: 2 },
  });
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({
    id: first.body.id,
    createdAt: first.body.createdAt,
    tags: ["a", "b"],
    score: 0.8,
    metadata: { x: 1, y: 2 },
  });
  expect((await remember(user, { text: "I like tea", kind: "episode" })).status).toBe(201);
  const { items } = (await call(`/v1/users/${user}/memories?kind=fact`)).body;
  const { indexing, ...stored } = again.body;
  expect(indexing).toBe("full");
  expect(items).toEqual([stored]);
  expect((await recall(user, { query: "tea", kinds: ["fact"] })).hits).toHaveLength(1);
});

it("refuses to add tags or metadata beyond what one memory holds", async () => {
  const user = newUser();
  const many = (from: number) => Array.from({ length: 20 }, (_, i) => `tag ${from + i}`);
  await remember(user, { text: "x", tags: many(0), metadata: { a: "x".repeat(6_000) } });
  const tags = await remember(user, { text: "x", tags: many(20) });
  const beyond = (limit: string) => `is more than ${limit} together with what the memory has already`;
  expect(tags.body.error).toMatchObject({
    code: "limit_exceeded",
    details: [{ path: "body.tags", message: beyond("32 tags") }],
  });
  const metadata = await remember(user, { text: "x", metadata: { b: "x".repeat(6_000) } });
  expect(metadata.body.error).toMatchObject({
    code: "limit_exceeded",
    details: [{ path: "body.metadata", message: beyond("10,240 bytes of JSON") }],
  });
  expect((await call(`/v1/users/${user}/memories`)).body.items[0].tags).toHaveLength(20);
});

it("stores the same text once when it is remembered ten times at once", async () => {
  const user = newUser();
  const made = await Promise.all(Array.from({ length: 10 }, () => remember(user, { text: "only once" })));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(made.filter(({ status }) => status === 200)).toHaveLength(9);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
  expect((await call(`/v1/users/${user}/memories`)).body.items).toHaveLength(1);
});

it("lists by kind, by all of several tags, by age, in complete pages", async () => {
  const user = newUser();
  for (let i = 0; i < 9; i++)
    await remember(user, {
      text: `memory ${i}`,
      kind: i % 3 === 0 ? "episode" : "fact",
      tags: [i % 2 === 0 ? "even" : "odd", ...(i > 4 ? ["late"] : [])],
    });
  const list = async (query: string) => {
    const found: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const { body } = await call(
        `/v1/users/${user}/memories?limit=2&${query}${cursor && `&cursor=${cursor}`}`,
      );
      found.push(...body.items.map((memory: { text: string }) => memory.text.slice(7)));
      cursor = body.cursor;
    }
    return found.join("");
  };
  expect(await list("")).toBe("876543210");
  expect(await list("order=asc")).toBe("012345678");
  expect(await list("kind=episode")).toBe("630");
  expect(await list("kind=episode&kind=fact")).toBe("876543210");
  expect(await list("tag=even&tag=late")).toBe("86");
  expect(await list("tag=nothing")).toBe("");
});

it("recalls within kinds, tags and a thread", async () => {
  const user = newUser();
  await remember(user, { text: "the boat is red", tags: ["boat", "colour"] });
  await remember(user, { text: "the boat is fast", tags: ["boat"], kind: "episode" });
  const thread = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  await call(`/v1/threads/${thread.id}/messages`, {
    json: { messages: [{ role: "user", name: "Ann", content: "my boat is here" }] },
  });
  expect(texts(await recall(user, { query: "boat", kinds: ["fact"] }))).toEqual(["the boat is red"]);
  expect(texts(await recall(user, { query: "boat", tags: ["boat"] })).toSorted()).toEqual([
    "the boat is fast",
    "the boat is red",
  ]);
  expect(texts(await recall(user, { query: "boat", tags: ["boat", "colour"] }))).toEqual(["the boat is red"]);
  const said = await recall(user, { query: "boat", threadId: thread.id });
  expect(said.hits).toMatchObject([
    {
      id: `${thread.id}:1`,
      kind: "message",
      text: "my boat is here",
      name: "Ann",
      threadId: thread.id,
      seq: 1,
      role: "user",
    },
  ]);
  expect((await recall(user, { query: "boat", k: 1 })).hits).toHaveLength(1);
  const foreign = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  const refused = await call(`/v1/users/${user}/recall`, { json: { query: "boat", threadId: foreign.id } });
  expect(refused.body.error).toMatchObject({ code: "not_found", details: [{ path: "body.threadId" }] });
});

it("never recalls what is another user's", async () => {
  const [alice, bob] = [newUser(), newUser()];
  await remember(alice, { text: "alice's secret is a walrus" });
  expect((await recall(bob, { query: "walrus secret" })).hits).toEqual([]);
  const { id } = (await remember(alice, { text: "another" })).body;
  expect((await call(`/v1/users/${bob}/memories/${id}`)).status).toBe(404);
  expect((await call(`/v1/users/${bob}/memories/${id}`, { method: "DELETE" })).status).toBe(404);
  expect((await call(`/v1/users/${alice}/memories/${id}`)).status).toBe(200);
});

it.each([
  ["quotes and operators", '"quoted" OR (broken'],
  ["NEAR", "NEAR(a b)"],
  ["AND NOT and a star", "a AND NOT b*"],
  ["a column filter", "^col:x"],
  ["Japanese", "日本語の質問"],
  ["Hebrew", "שלום עולם"],
  ["SQL", "'; DROP TABLE words; --"],
  ["an emoji", "🦒"],
  ["a NUL", "\u0000"],
  ["a dash", "-"],
  ["brackets", "{}[]"],
  ["8 KiB of words", "word ".repeat(1_638)],
  ["one word of 8 KiB", "a".repeat(8_192)],
])("answers a query of %s", async (_, query) => {
  const user = newUser();
  // A memory cannot hold U+0000; a query can.
  await remember(user, { text: `about ${query.replaceAll("\0", "nothing")}` });
  const answer = await recall(user, { query });
  expect(answer.degraded).toBe(false);
  expect(answer.hits).toHaveLength(1);
});

it("refuses metadata however deeply they are nested, without falling over", async () => {
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  const answer = await call(`/v1/users/${newUser()}/memories`, {
    raw: `{"text":"x","metadata":{"a":${deep}}}`,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("limit_exceeded");
});

it("answers a query without a word with the newest memories that the filters let pass", async () => {
  const user = newUser();
  for (const text of ["one", "two", "three"]) await remember(user, { text, tags: [text] });
  const answer = await recall(user, { query: "🦒", k: 2 });
  expect(texts(answer)).toEqual(["three", "two"]);
  expect(answer.arms.map((arm: { status: string }) => arm.status)).toEqual([
    "off",
    "off",
    "off",
    "off",
    "off",
  ]);
  expect(texts(await recall(user, { query: "🦒", tags: ["one"] }))).toEqual(["one"]);
});

it("ranks what was said a moment ago by its words, while it has no vector yet", async () => {
  const user = newUser();
  await remember(user, { text: "I moved to Lisbon in March" });
  const thread = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const messages = [{ role: "user", content: "The dentist is on Tuesday at nine" }];
  await call(`/v1/threads/${thread.id}/messages`, { json: { messages } });
  const answer = await recall(user, { query: "when is my dentist appointment?" });
  expect(answer.freshness.pending).toBe(1);
  expect(texts(answer)[0]).toBe("The dentist is on Tuesday at nine");
});

it("finds a fact by the key that the query names", async () => {
  const user = newUser();
  await remember(user, { key: "editor.theme", text: "dark" });
  for (let i = 0; i < 5; i++) await remember(user, { text: `the theme of talk ${i}` });
  const [hit] = (await recall(user, { query: "what is my editor.theme?" })).hits;
  expect(hit).toMatchObject({ text: "dark", why: { key: true } });
});

it("scores a word of a script that no model knows", async () => {
  const user = newUser();
  await remember(user, { text: "ᠮᠣᠩᠭᠣᠯ" });
  const { hits } = await recall(user, { query: "ᠮᠣᠩᠭᠣᠯ", minScore: 0.5 });
  expect(hits).toHaveLength(1);
});

it("gives as many of the newest as were asked for, whatever was deleted among them", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const messages = ["one", "two", "three"].map((content) => ({ role: "user", content }));
  await call(`/v1/threads/${id}/messages`, { json: { messages } });
  await call(`/v1/threads/${id}/fork`, { json: {} });
  await call(`/v1/threads/${id}/messages/3`, { method: "DELETE" });
  const answer = await recall(user, { query: "???", k: 2, threadId: id });
  expect(texts(answer)).toEqual(["two", "one"]);
});
