import { afterAll, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";

const fact = (predicate: string, object: string, more = {}) => ({
  subject: "user",
  predicate,
  object,
  ...more,
});
const remember = (user: string, memory: object) => call(`/v1/users/${user}/memories`, { json: memory });
const objects = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories?order=asc`)).body.items.map(
    ({ object }: { object: string }) => object,
  );
const setRule = (predicate: string, json: object) =>
  call(`/v1/predicates/${encodeURIComponent(predicate)}`, { method: "PUT", json });

describe("a predicate of many", () => {
  it("has several objects at a time", async () => {
    const user = newUser();
    const { body: tea } = await remember(user, fact("likes", "tea"));
    await remember(user, fact("Likes", "coffee"));
    const again = await remember(user, fact("LIKES", "tea"));
    expect(again.status).toBe(200);
    expect(again.body.id).toBe(tea.id);
    expect(await objects(user)).toEqual(["tea", "coffee"]);
    expect(tea.cardinality).toBe("many");
  });

  it("is every predicate that no table knows, in any language", async () => {
    for (const predicate of [
      "allergy",
      "has a son",
      "bought",
      "works on project",
      "is",
      "mag",
      "住んでいる",
    ]) {
      const user = newUser();
      for (const object of ["a", "b"]) await remember(user, fact(predicate, object));
      expect([predicate, await objects(user)]).toEqual([predicate, ["a", "b"]]);
    }
  });

  it("is none of those that have one: the new object supersedes the old one", async () => {
    for (const predicate of ["lives in", "home city", "current address", "works at", "e-mail", "manager"]) {
      const user = newUser();
      for (const object of ["a", "b"]) await remember(user, fact(predicate, object));
      expect([predicate, await objects(user)]).toEqual([predicate, ["b"]]);
    }
  });

  it("follows the fact's own cardinality", async () => {
    const user = newUser();
    for (const object of ["tea", "coffee"])
      await remember(user, fact("likes", object, { cardinality: "one" }));
    expect(await objects(user)).toEqual(["coffee"]);
    for (const object of ["red", "blue"])
      await remember(user, fact("home city", object, { cardinality: "many" }));
    expect(await objects(user)).toEqual(["coffee", "red", "blue"]);
  });

  it("is the same fact where it was stored as one of one", async () => {
    const user = newUser();
    const { body: tea } = await remember(user, fact("likes", "tea", { cardinality: "one" }));
    const again = await remember(user, fact("likes", "Tea"));
    expect([again.status, again.body.id]).toEqual([200, tea.id]);
    expect((await remember(user, fact("likes", "coffee"))).status).toBe(201);
    expect(await objects(user)).toEqual(["tea", "coffee"]);
  });

  it("can be corrected, and is then known by its new object", async () => {
    const user = newUser();
    const { body: tea } = await remember(user, fact("likes", "tee"));
    const path = `/v1/users/${user}/memories/${tea.id}`;
    const { body: corrected } = await call(path, { method: "PATCH", json: { object: "tea" } });
    expect(corrected).toMatchObject({ id: tea.id, text: "user likes tea", cardinality: "many" });
    expect((await remember(user, fact("likes", "tea"))).body.id).toBe(tea.id);
    expect((await remember(user, fact("likes", "tee"))).status).toBe(201);
  });

  it("is forgotten as a whole by its predicate", async () => {
    const user = newUser();
    for (const object of ["tea", "coffee"]) await remember(user, fact("likes", object));
    const filter = { subject: "user", predicate: "likes" };
    const { body } = await call(`/v1/users/${user}/memories/forget`, { json: { filter } });
    expect(body.count).toBe(2);
  });
});

describe("the tenant's rule of a predicate", () => {
  const named = (): string => `relates ${crypto.randomUUID()}`;
  const set: string[] = [];
  afterAll(async () => {
    for (const predicate of set)
      await call(`/v1/predicates/${encodeURIComponent(predicate)}`, { method: "DELETE" });
  });
  const ruled = async (json: object): Promise<string> => {
    const predicate = named();
    set.push(predicate);
    expect((await setRule(predicate, json)).status).toBe(200);
    return predicate;
  };

  it("is listed, and deleted", async () => {
    const predicate = await ruled({ cardinality: "many" });
    const rule = { predicate, cardinality: "many", policy: "highestTrust" };
    expect((await call("/v1/predicates")).body.items).toContainEqual(rule);
    await call(`/v1/predicates/${encodeURIComponent(predicate)}`, { method: "DELETE" });
    expect((await call("/v1/predicates")).body.items).not.toContainEqual(rule);
  });

  it("makes a predicate one of many, or of one, over the tables", async () => {
    for (const [name, cardinality, left] of [
      ["favourite", "many", ["a", "b"]],
      ["allergy", "one", ["b"]],
    ] as const) {
      const [user, predicate] = [newUser(), `${name} ${crypto.randomUUID()}`];
      set.push(predicate);
      await setRule(predicate, { cardinality });
      for (const object of ["a", "b"]) await remember(user, fact(predicate.toUpperCase(), object));
      expect([name, await objects(user)]).toEqual([name, left]);
    }
  });

  it("leaves the cardinality of its predicate, unless it sets one", async () => {
    for (const policy of ["reject", "lastWriter"]) {
      const [user, predicate] = [newUser(), await ruled({ policy })];
      for (const object of ["a", "b"])
        expect((await remember(user, fact(predicate, object))).status).toBe(201);
      expect(await objects(user)).toEqual(["a", "b"]);
    }
    const one = { policy: "reject", cardinality: "one" };
    expect((await setRule(await ruled(one), one)).body).toMatchObject(one);
  });

  it("keeps all by keepAll", async () => {
    const [user, predicate] = [newUser(), await ruled({ policy: "keepAll" })];
    for (const object of ["a", "b"]) await remember(user, fact(predicate, object));
    expect(await objects(user)).toEqual(["a", "b"]);
  });

  it("refuses a contradiction by reject, and names the memory", async () => {
    const [user, predicate] = [newUser(), await ruled({ policy: "reject", cardinality: "one" })];
    const { body: stored } = await remember(user, fact(predicate, "a"));
    expect((await remember(user, fact(predicate, "a"))).status).toBe(200);
    const { status, body } = await remember(user, fact(predicate, "b"));
    expect([status, body.error.code]).toEqual([409, "fact_conflict"]);
    expect(body.error.details).toEqual([
      { path: "body.object", message: `contradicts the memory ${stored.id}` },
    ]);
    expect(await objects(user)).toEqual(["a"]);
  });

  it("lets the last writer win by lastWriter, whatever its trust", async () => {
    const [user, predicate] = [newUser(), await ruled({ policy: "lastWriter", cardinality: "one" })];
    await remember(user, fact(predicate, "a"));
    const headers = { "Cairn-Trust": "import" };
    await call(`/v1/users/${user}/memories`, { json: fact(predicate, "b"), headers });
    expect(await objects(user)).toEqual(["b"]);
  });

  it("is refused with an unknown policy", async () => {
    const { status, body } = await setRule(named(), { policy: "coinToss" });
    expect([status, body.error.details[0].path]).toEqual([400, "body.policy"]);
  });
});
