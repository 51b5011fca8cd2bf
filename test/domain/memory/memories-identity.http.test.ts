// Memories that are one without a triple or key; and the times of an import.
import { afterEach, describe, expect, it } from "vitest";
import { newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  forget,
  get,
  history,
  list,
  listTexts,
  patch,
  recallTexts,
  remember,
  remembered,
} from "../../memory-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
const DAY = 86_400_000;
afterEach(restore);

describe("the same text", () => {
  it("is one memory whatever its case, width and spacing, of one kind and scope", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "Café ＡＢＣ" });
    for (const text of ["cafe\u0301 abc", " CAFÉ   ABC\n", "Café\u00a0ABC"])
      expect((await remembered(user, { text })).id).toBe(id);
    for (const other of [
      { text: "Café ABC", scope: "s" },
      { text: "Café ABC", kind: "episode" },
    ])
      expect((await remembered(user, other)).id).not.toBe(id);
  });

  it("again changes nothing, not even `updatedAt`", async () => {
    const user = newUser();
    const first = await remember(user, { text: "likes tea", tags: ["a"], scope: "s" });
    control.clockAhead += DAY;
    for (const repeat of [{ tags: ["a"] }, {}]) {
      const again = await remember(user, { text: "likes tea", scope: "s", ...repeat });
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
    }
    expect(await history(user, first.body.id)).toHaveLength(1);
  });

  it("again has its first answer under its key, also when the memory has changed since", async () => {
    const user = newUser();
    const { id, version } = await remembered(user, { text: "likes tea" });
    const headers = { "Idempotency-Key": "again" };
    const again = await remember(user, { text: "likes tea" }, headers);
    expect(again.body).toMatchObject({ id, version });
    await patch(user, id, { tags: ["new"] });
    const replayed = await remember(user, { text: "likes tea" }, headers);
    expect(replayed.body).toMatchObject({ id, version });
    const other = await remember(user, { text: "likes coffee" }, headers);
    expect(other.body.error.code).toBe("idempotency_conflict");
    expect((await forget(user, id)).status).toBe(204);
    expect((await remember(user, { text: "likes tea" }, headers)).status).toBe(201);
  });

  it("about another subject is another memory", async () => {
    const user = newUser();
    const alice = await remembered(user, { text: "likes tea", subject: "Alice" });
    const bob = await remembered(user, { text: "likes tea", subject: "Bob" });
    expect((await remembered(user, { text: "Likes tea", subject: "alice" })).id).toBe(alice.id);
    expect(bob.id).not.toBe(alice.id);
    expect((await remembered(user, { text: "likes tea" })).id).not.toBe(alice.id);
    expect(await list(user, "subject=ALICE")).toHaveLength(1);
    expect(await list(user)).toHaveLength(3);
  });

  it("is stored again with `dedupe: none`", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "hello", dedupe: "none" });
    const again = await remember(user, { text: "hello", dedupe: "none" });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(first.id);
    expect((await remember(user, { text: "hello" })).status).toBe(200);
    expect(await list(user)).toHaveLength(2);
  });

  it("follows a text that was corrected", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "the boat is red" });
    await patch(user, id, { text: "the boat is blue" });
    expect((await remembered(user, { text: "The boat is blue" })).id).toBe(id);
    const other = await remembered(user, { text: "the boat is red" });
    expect(other.id).not.toBe(id);
    expect(await listTexts(user)).toEqual(["the boat is blue", "the boat is red"]);
  });

  it("of a time that is over or to come is found again when it is sent again", async () => {
    const user = newUser();
    control.clockAt = T;
    const past = { text: "had a dog", validFrom: T - 9 * DAY, validTo: T - 8 * DAY };
    const coming = { text: "will have a cat", validFrom: T + DAY };
    for (const memory of [past, coming]) {
      const { id } = await remembered(user, memory);
      expect((await remembered(user, memory)).id).toBe(id);
    }
    // At another time it is another memory: a dog of now is not the dog of then.
    expect((await remember(user, { text: "had a dog" })).status).toBe(201);
    expect(await listTexts(user)).toEqual(["had a dog"]);
    expect(await listTexts(user, `validAt=${T - 9 * DAY}`)).toEqual(["had a dog"]);
  });

  it("is true from the earliest time that was said", async () => {
    const user = newUser();
    control.clockAt = T;
    const { id } = await remembered(user, { text: "likes tea" });
    expect((await remembered(user, { text: "likes tea", validFrom: T - DAY })).id).toBe(id);
    expect((await get(user, id, `validAt=${T - DAY}`)).status).toBe(200);
    expect((await remembered(user, { text: "likes tea" })).validFrom).toBe(T - DAY);
  });
});

it("merges a text into the fact that says it, without moving the fact in time", async () => {
  const user = newUser();
  control.clockAt = T;
  const lives = { subject: "Alice", predicate: "lives in" };
  await remembered(user, { ...lives, object: "Lisbon", validFrom: T - 2 * DAY });
  const { id } = await remembered(user, { ...lives, object: "Porto", validFrom: T - DAY });
  const told = await remembered(user, { text: "alice lives in porto", validFrom: T - 9 * DAY, tags: ["t"] });
  expect(told).toMatchObject({ id, tags: ["t"], validFrom: T - DAY });
  expect((await get(user, id)).body.object).toBe("Porto");
});

describe("an externalId", () => {
  it("is the same memory again, which is replaced as a whole", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "one", externalId: "e", tags: ["a"], metadata: { a: 1 } });
    const again = await remember(user, { text: "two", externalId: "e", score: 0.5 });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id: first.id, text: "two", score: 0.5, createdAt: first.createdAt });
    expect(again.body).not.toHaveProperty("tags");
    expect(again.body).not.toHaveProperty("metadata");
    expect(await history(user, first.id)).toHaveLength(2);
    expect(await listTexts(user, "externalId=e&externalId=unknown")).toEqual(["two"]);
    expect(await recallTexts(user, { query: "one two" })).toEqual(["two"]);
  });

  it("sent again unchanged makes no version", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "one", externalId: "e", tags: ["a"] });
    expect((await remembered(user, { text: "one", externalId: "e", tags: ["a"] })).version).toBe(
      first.version,
    );
    expect(await history(user, first.id)).toHaveLength(1);
  });

  it("may change kind and text, and is exact", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "x", externalId: "e" });
    const episode = { kind: "episode", text: "y", externalId: "e", context: "lunch" };
    expect(await remembered(user, episode)).toMatchObject({ id, kind: "episode", context: "lunch" });
    expect((await remembered(user, { text: "x", externalId: "E" })).id).not.toBe(id);
  });

  it("of another memory is taken: 409, and nothing is stored", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "x", externalId: "e" });
    const named = [
      { subject: "s", predicate: "p", object: "o", externalId: "e" },
      { text: "x", key: "k", externalId: "e" },
      { kind: "procedure", title: "t", text: "x", externalId: "e" },
    ];
    for (const memory of named) {
      const { status, body } = await remember(user, memory);
      expect(status).toBe(409);
      expect(body.error).toMatchObject({
        code: "external_id_taken",
        details: [{ path: "body.externalId", message: expect.stringContaining(id) }],
      });
    }
    expect(await list(user)).toHaveLength(1);
    await forget(user, id);
    expect((await remember(user, named[0] ?? {})).status).toBe(201);
  });

  it("on a fact goes with the statement that carries it", async () => {
    const user = newUser();
    const fact = { subject: "s", predicate: "p", cardinality: "one" };
    const { id } = await remembered(user, { ...fact, object: "o", externalId: "e1" });
    expect(await remembered(user, { ...fact, object: "o", tags: ["t"] })).toMatchObject({ externalId: "e1" });
    expect(await remembered(user, { ...fact, object: "o2", externalId: "e2" })).toMatchObject({ id });
    expect(await list(user, "externalId=e1")).toEqual([]);
    expect((await remember(user, { text: "free again", externalId: "e1" })).status).toBe(201);
  });
});

describe("on an import", () => {
  it("a memory has the times that it is given, and is true since it was made", async () => {
    const user = newUser();
    control.clockAt = T;
    const given = { text: "old", createdAt: T - 9 * DAY, updatedAt: T - 5 * DAY };
    const made = await remembered(user, given);
    expect(made).toMatchObject({ ...given, validFrom: T - 9 * DAY });
    expect(made.recordedAt).toBeGreaterThanOrEqual(T);
    expect(await remembered(user, { text: "once", createdAt: 5 })).toMatchObject({ updatedAt: 5 });
    expect(await remembered(user, { text: "then", updatedAt: 7 })).toMatchObject({
      createdAt: 7,
      updatedAt: 7,
    });
    expect(await remembered(user, { text: "before 1970", createdAt: -5 })).toMatchObject({ createdAt: -5 });
  });

  it("facts find their order in time, whichever comes first", async () => {
    const user = newUser();
    control.clockAt = T;
    const lives = { subject: "Alice", predicate: "lives in" };
    await remembered(user, { ...lives, object: "Porto", createdAt: T - DAY });
    const { id } = await remembered(user, { ...lives, object: "Lisbon", createdAt: T - 2 * DAY });
    expect((await get(user, id)).body.object).toBe("Porto");
    expect((await get(user, id, `validAt=${T - 2 * DAY}`)).body.object).toBe("Lisbon");
  });

  it("a memory that was made by a faster clock is there at once", async () => {
    const user = newUser();
    control.clockAt = T;
    const { id } = await remembered(user, { text: "from the future", createdAt: T + DAY });
    expect((await get(user, id)).body).toMatchObject({ createdAt: T + DAY });
    expect(await recallTexts(user, { query: "future" })).toEqual(["from the future"]);
  });

  it("an update before the creation is refused", async () => {
    const { status, body } = await remember(newUser(), { text: "x", createdAt: 5, updatedAt: 4 });
    expect(status).toBe(400);
    expect(body.error.details).toMatchObject([{ path: "body.updatedAt" }]);
  });
});
