import { expect, it } from "vitest";
import { call, newUser } from "../../call.ts";

const remember = (user: string, memory: object) => call(`/v1/users/${user}/memories`, { json: memory });
const texts = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories`)).body.items.map(({ text }: { text: string }) => text);

it("keeps nine restatements as one memory with nine sources", async () => {
  const user = newUser();
  const said = [
    "I like tea",
    "I really like tea",
    "I love tea",
    "I enjoy tea",
    "User likes tea",
    "the user loves tea",
    "User enjoys tea",
    "I like tea very much",
    "i like Tea",
  ];
  for (const [i, text] of said.entries()) {
    const { status } = await remember(user, { text, dedupe: "merge", source: { message: i + 1 } });
    expect(status).toBe(i === 0 ? 201 : 200);
  }
  const { body } = await call(`/v1/users/${user}/memories`);
  expect(body.items).toHaveLength(1);
  expect(body.items[0].text).toBe("I like tea");
  expect(body.items[0].sources).toEqual(said.map((_, i) => ({ message: i + 1 })));
  const { body: recalled } = await call(`/v1/users/${user}/recall`, {
    json: { query: "what do I drink? tea?" },
  });
  expect(recalled.hits).toHaveLength(1);
});

it("merges nothing that says more, or something else", async () => {
  const user = newUser();
  const said = [
    "I like tea",
    "I do not like tea",
    "I like green tea",
    "Room 12 is booked",
    "Room 13 is booked",
  ];
  for (const text of said) expect((await remember(user, { text, dedupe: "merge" })).status).toBe(201);
  expect((await texts(user)).toSorted()).toEqual(said.toSorted());
});

it("leaves the triple, the cardinality and the trust of what it restates", async () => {
  const user = newUser();
  const tea = { subject: "user", predicate: "likes", object: "tea" };
  const { body: stored } = await call(`/v1/users/${user}/memories`, {
    json: { ...tea, cardinality: "one" },
    headers: { "Cairn-Trust": "model" },
  });
  const again = { ...tea, predicate: "really likes", cardinality: "many", dedupe: "merge" };
  const { status, body } = await remember(user, { ...again, tags: ["drinks"], source: { message: 7 } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ ...tea, id: stored.id, text: "user likes tea", trust: "model" });
  expect(body).toMatchObject({ tags: ["drinks"], source: { message: 7 } });
  expect(body.cardinality).toBeUndefined();
});

it("merges only within a kind and a scope, and only what is true now", async () => {
  const user = newUser();
  await remember(user, { text: "I like tea", scope: "a" });
  await remember(user, { text: "I like tea", kind: "episode" });
  await remember(user, { text: "I like tea", validFrom: 1000, validTo: 2000 });
  expect((await remember(user, { text: "I love tea", dedupe: "merge" })).status).toBe(201);
});

it("suggests similar memories, and stores the new one", async () => {
  const user = newUser();
  const { body: tea } = await remember(user, { text: "I like tea" });
  await remember(user, { text: "The server is in Dublin" });
  const { status, body } = await remember(user, { text: "I love tea", dedupe: "suggest" });
  expect(status).toBe(201);
  expect(body.similar).toEqual([{ id: tea.id, text: "I like tea", score: expect.any(Number) }]);
  expect(await texts(user)).toHaveLength(3);
  const batch = { memories: [{ text: "I enjoy tea", dedupe: "suggest" }, { text: "plain" }] };
  const { body: many } = await call(`/v1/users/${user}/memories/batch`, { json: batch });
  expect(many.items[0].similar).toHaveLength(2);
  expect(many.items[1].similar).toBeUndefined();
});
