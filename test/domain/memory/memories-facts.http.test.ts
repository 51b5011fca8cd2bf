// Facts of which one is true at a time: by subject and predicate, or by a topic key.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  get,
  history,
  list,
  listTexts,
  recall,
  recallTexts,
  remember,
  remembered,
} from "../../memory-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
const DAY = 86_400_000;
beforeEach(() => {
  control.clockAt = T;
});
afterEach(restore);
/** Lets a day go by. */
const nextDay = () => {
  control.clockAt = (control.clockAt ?? T) + DAY;
};
const livesIn = (object: string, more: object = {}) => ({
  subject: "Alice",
  predicate: "lives in",
  object,
  ...more,
});
const object = async (user: string, id: string, query = "") => (await get(user, id, query)).body.object;

it("takes a fact's triple for its text, and finds it by its parts", async () => {
  const user = newUser();
  const { status, body } = await remember(user, livesIn("Lisbon"));
  expect(status).toBe(201);
  expect(body).toMatchObject({ text: "Alice lives in Lisbon", ...livesIn("Lisbon") });
  const worded = await remembered(user, { ...livesIn("tea"), predicate: "likes", text: "Tea is her drink" });
  expect(worded.text).toBe("Tea is her drink");
  expect(await recallTexts(user, { query: "Alice likes" })).toContain("Tea is her drink");
});

it("names a fact by subject and predicate, in any case, width and spacing, within scope and user", async () => {
  const user = newUser();
  const { id } = await remembered(user, livesIn("Lisbon"));
  const same = await remembered(user, { subject: " ＡＬＩＣＥ", predicate: "Lives  In", object: "Porto" });
  expect(same.id).toBe(id);
  const others = [
    await remembered(user, livesIn("Lisbon", { scope: "work" })),
    await remembered(user, { ...livesIn("Lisbon"), predicate: "was born in" }),
    await remembered(newUser(), livesIn("Lisbon")),
  ];
  expect(new Set([id, ...others.map((one) => one.id)]).size).toBe(4);
});

it("gives a fact that was forgotten its id again", async () => {
  const [one, other] = [newUser(), newUser()];
  const { id } = await remembered(one, livesIn("Lisbon"));
  expect((await remembered(one, livesIn("Porto"))).id).toBe(id);
  expect((await remembered(other, livesIn("Porto"))).id).not.toBe(id);
});

it("lets a new object supersede the old one, which stays in the history", async () => {
  const user = newUser();
  const lisbon = await remembered(user, livesIn("Lisbon"));
  nextDay();
  const answer = await remember(user, livesIn("Porto"));
  expect(answer.status).toBe(200);
  const porto = answer.body;
  expect(await list(user)).toHaveLength(1);
  expect(await object(user, lisbon.id)).toBe("Porto");
  expect(await recallTexts(user, { query: "where does Alice live?" })).toEqual(["Alice lives in Porto"]);
  const versions = await history(user, lisbon.id);
  expect(versions).toMatchObject([
    { version: porto.version, object: "Porto", validFrom: porto.validFrom, recordedAt: porto.recordedAt },
    {
      version: lisbon.version,
      object: "Lisbon",
      validFrom: lisbon.validFrom,
      validTo: porto.validFrom,
      recordedAt: lisbon.recordedAt,
      supersededBy: porto.version,
    },
  ]);
  expect(porto.validFrom - lisbon.validFrom).toBe(DAY);
  for (const key of ["validTo", "supersededBy", "correctedAt"]) expect(versions[0]).not.toHaveProperty(key);
  expect(versions[1]).not.toHaveProperty("correctedAt");
});

it("keeps a fact's createdAt while its object changes, so that it keeps its place in the list", async () => {
  const user = newUser();
  const lisbon = await remembered(user, livesIn("Lisbon"));
  nextDay();
  await remembered(user, { text: "in between" });
  nextDay();
  const porto = await remembered(user, livesIn("Porto"));
  expect(porto.createdAt).toBe(lisbon.createdAt);
  expect(porto.updatedAt).toBe(porto.validFrom);
  expect((await list(user)).map(({ text }) => text)).toEqual(["in between", "Alice lives in Porto"]);
  const newest = await recall(user, { query: "???" });
  expect(newest.map(({ text }) => text)).toEqual(["Alice lives in Porto", "in between"]);
});

it("adds the same statement to the one that is there, and makes no history of it", async () => {
  const user = newUser();
  const first = await remembered(user, livesIn("Lisbon", { tags: ["a"], score: 0.4 }));
  nextDay();
  const again = await remember(user, livesIn("lisbon", { tags: ["b"], score: 0.8, externalId: "e" }));
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({
    id: first.id,
    tags: ["a", "b"],
    score: 0.8,
    validFrom: first.validFrom,
    externalId: "e",
  });
  expect(again.body.updatedAt).toBeGreaterThan(Number(first.updatedAt));
  const [now, before] = await history(user, first.id);
  expect(now).not.toHaveProperty("correctedAt");
  expect(before).toMatchObject({ correctedAt: now?.recordedAt });
  expect(before).not.toHaveProperty("supersededBy");
});

it("adds the same statement of the same time to the one that is there", async () => {
  const user = newUser();
  const first = await remembered(user, livesIn("Lisbon", { validFrom: T - DAY, tags: ["a"] }));
  const again = await remember(user, livesIn("Lisbon", { validFrom: T - DAY, tags: ["b"] }));
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({ id: first.id, tags: ["a", "b"], validFrom: T - DAY });
  expect(again.body).not.toHaveProperty("validTo");
  // The one before it was incomplete, and was at no time followed by another.
  const [, before] = await history(user, first.id);
  expect(before).toMatchObject({ version: first.version, correctedAt: expect.any(Number) });
  expect(before).not.toHaveProperty("supersededBy");
});

it("puts a fact of the past before the one that is true", async () => {
  const user = newUser();
  const porto = await remembered(user, livesIn("Porto", { validFrom: T - 2 * DAY }));
  const answer = await remember(user, livesIn("Lisbon", { validFrom: T - 10 * DAY }));
  expect(answer.body).toMatchObject({ object: "Lisbon", validTo: T - 2 * DAY });
  expect(await object(user, porto.id)).toBe("Porto");
  expect(await object(user, porto.id, `validAt=${T - 5 * DAY}`)).toBe("Lisbon");
  expect((await get(user, porto.id, `validAt=${T - 11 * DAY}`)).status).toBe(404);
  // Between the two, and with an end of its own.
  await remembered(user, livesIn("Faro", { validFrom: T - 6 * DAY, validTo: T - 4 * DAY }));
  expect(await object(user, porto.id, `validAt=${T - 6 * DAY - 1}`)).toBe("Lisbon");
  expect(await object(user, porto.id, `validAt=${T - 6 * DAY}`)).toBe("Faro");
  expect((await get(user, porto.id, `validAt=${T - 4 * DAY}`)).status).toBe(404);
  expect(await object(user, porto.id)).toBe("Porto");
});

it("lets a fact of the future take its place when its time comes", async () => {
  const user = newUser();
  const { id } = await remembered(user, livesIn("Lisbon"));
  await remembered(user, livesIn("Porto", { validFrom: T + DAY }));
  expect((await get(user, id)).body).toMatchObject({ object: "Lisbon", validTo: T + DAY });
  expect(await listTexts(user, `validAt=${T + DAY}`)).toEqual(["Alice lives in Porto"]);
  control.clockAt = T + DAY;
  expect(await object(user, id)).toBe("Porto");
  expect(await recallTexts(user, { query: "Alice" })).toEqual(["Alice lives in Porto"]);
});

it("says that a fact was true earlier than was known", async () => {
  const user = newUser();
  const { id } = await remembered(user, livesIn("Lisbon"));
  const earlier = await remembered(user, livesIn("Lisbon", { validFrom: T - DAY }));
  expect(earlier.validFrom).toBe(T - DAY);
  expect(await object(user, id, `validAt=${T - DAY}`)).toBe("Lisbon");
  expect(await object(user, id)).toBe("Lisbon");
});

it("does not end what is true by a stay of the same kind in the past", async () => {
  const user = newUser();
  const { id } = await remembered(user, livesIn("Lisbon"));
  await remembered(user, livesIn("Lisbon", { validFrom: T - 9 * DAY, validTo: T - 8 * DAY }));
  expect(await object(user, id)).toBe("Lisbon");
  expect(await object(user, id, `validAt=${T - 9 * DAY}`)).toBe("Lisbon");
  expect((await get(user, id, `validAt=${T - 8 * DAY}`)).status).toBe(404);
});

it("ends a fact that is no longer true, keeps it, and begins it anew", async () => {
  const user = newUser();
  const { id } = await remembered(user, livesIn("Lisbon"));
  control.clockAt = T + 2 * DAY;
  const ended = await remember(user, livesIn("Lisbon", { validTo: T + DAY }));
  expect(ended.body).toMatchObject({ id, validTo: T + DAY });
  expect((await get(user, id)).status).toBe(404);
  expect(await list(user)).toEqual([]);
  expect(await recallTexts(user, { query: "Alice" })).toEqual([]);
  expect(await object(user, id, `validAt=${T + DAY - 1}`)).toBe("Lisbon");
  await remembered(user, livesIn("Lisbon"));
  expect(await object(user, id)).toBe("Lisbon");
  expect((await get(user, id, `validAt=${T + DAY}`)).status).toBe(404);
});

it("refuses an end that is not after the beginning, which is now unless set", async () => {
  const user = newUser();
  for (const memory of [
    { text: "x", validTo: T - DAY },
    livesIn("Lisbon", { validTo: T }),
    { text: "x", title: "t", kind: "procedure", validTo: T - 1 },
    { text: "x", validFrom: T, validTo: T },
  ]) {
    const { status, body } = await remember(user, memory);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "invalid_request", details: [{ path: "body.validTo" }] });
  }
  expect(await list(user, `validAt=${T}`)).toEqual([]);
});

describe("a topic key", () => {
  it("holds one text at a time, in any case, and its history", async () => {
    const user = newUser();
    const first = await remembered(user, { key: "Diet", text: "eats everything" });
    nextDay();
    const next = await remembered(user, { key: " diet", text: "is vegan" });
    expect(next.id).toBe(first.id);
    expect(await listTexts(user)).toEqual(["is vegan"]);
    expect(await history(user, first.id)).toMatchObject([
      { text: "is vegan" },
      { text: "eats everything", validTo: next.validFrom, supersededBy: next.version },
    ]);
    const other = await remembered(user, { key: "diet", text: "is vegan", scope: "work" });
    expect(other.id).not.toBe(first.id);
  });

  it("goes with a fact that has no triple", async () => {
    const { status, body } = await remember(newUser(), livesIn("Lisbon", { key: "home" }));
    expect(status).toBe(400);
    expect(body.error.details).toMatchObject([{ path: "body.key" }]);
  });
});

describe("as of a time, and at a time", () => {
  it("tells what was held then and what was true then apart, in get, list and recall", async () => {
    const user = newUser();
    const { id } = await remembered(user, livesIn("Lisbon"));
    const before = Number(control.clockAt) + 1000;
    nextDay();
    // She moved before we heard of it.
    await remembered(user, livesIn("Porto", { validFrom: T + DAY / 2 }));
    const told = Number(control.clockAt) + 1000;
    const cases: [query: { asOf?: number; validAt?: number }, expected: string | undefined][] = [
      [{}, "Porto"],
      [{ validAt: T + 1000 }, "Lisbon"],
      [{ validAt: T + DAY / 2 }, "Porto"],
      [{ asOf: before }, "Lisbon"],
      [{ asOf: before, validAt: T + DAY }, "Lisbon"],
      [{ asOf: told }, "Porto"],
      [{ asOf: told, validAt: T + 1000 }, "Lisbon"],
      [{ asOf: T - 1 }, undefined],
      [{ validAt: T - 1 }, undefined],
    ];
    for (const [query, expected] of cases) {
      const params = new URLSearchParams(Object.entries(query).map(([name, time]) => [name, String(time)]));
      const texts = expected === undefined ? [] : [`Alice lives in ${expected}`];
      expect(await object(user, id, params.toString())).toBe(expected);
      expect(await listTexts(user, params.toString())).toEqual(texts);
      expect(await recallTexts(user, { query: "Alice", ...query })).toEqual(texts);
    }
  });

  it("does not tell of an end that nobody knew of then", async () => {
    const user = newUser();
    const { id } = await remembered(user, livesIn("Lisbon"));
    const before = T + 1000;
    nextDay();
    await remembered(user, livesIn("Porto"));
    expect((await get(user, id, `validAt=${before}`)).body).toHaveProperty("validTo");
    expect((await get(user, id, `asOf=${before}`)).body).not.toHaveProperty("validTo");
    expect((await list(user, `asOf=${before}`))[0]).not.toHaveProperty("validTo");
  });
});

it("is said without the spaces that do not tell facts apart", async () => {
  const odd = { subject: " BOB ", predicate: "works\t at", object: "  Acme " };
  expect(await remembered(newUser(), odd)).toMatchObject({ ...odd, text: "BOB works at Acme" });
});
