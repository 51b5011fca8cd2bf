// Forgetting: by id, by a filter, all.
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { databaseOf } from "../../databases.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  forget,
  forgetAll,
  forgetWhere,
  get,
  history,
  historyPage,
  list,
  listTexts,
  patch,
  recallTexts,
  release,
  remember,
  remembered,
  rememberMany,
  restoreVersion,
} from "../../memory-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
afterEach(restore);
const lives = { subject: "Alice", predicate: "lives in" };
const rowsInD1 = async (user: string): Promise<number | null> =>
  (await databaseOf(user))
    .prepare("SELECT COUNT(*) AS n FROM memories WHERE user_id = ?")
    .bind(user)
    .first<number>("n");

it("a forgotten memory is gone everywhere, with its history, at any time", async () => {
  const user = newUser();
  const first = await remembered(user, { ...lives, object: "Lisbon" });
  await remembered(user, { ...lives, object: "Porto" });
  const { id, version } = first;
  expect((await forget(user, id)).status).toBe(204);
  const at = `asOf=${first.validFrom}`;
  const answers = [
    await get(user, id),
    await get(user, id, at),
    await historyPage(user, id),
    await forget(user, id),
    await patch(user, id, { score: 1 }),
    await restoreVersion(user, id, version),
    await release(user, id),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(404);
    expect(body.error.code).toBe("not_found");
  }
  expect([await list(user), await list(user, at), await recallTexts(user, { query: "Alice" })]).toEqual([
    [],
    [],
    [],
  ]);
  expect(await rowsInD1(user)).toBe(0);
  const again = await remember(user, { ...lives, object: "Faro" });
  expect(again).toMatchObject({ status: 201, body: { id } });
  expect(await history(user, id)).toHaveLength(1);
});

it("forgets under the version that is meant only", async () => {
  const user = newUser();
  const { id, version } = await remembered(user, { text: "x" });
  await patch(user, id, { score: 1 });
  const refused = await forget(user, id, { "If-Match": `"${version}"` });
  expect(refused.status).toBe(412);
  expect(await listTexts(user)).toEqual(["x"]);
  const current = (await get(user, id)).headers.get("ETag") ?? "";
  expect((await forget(user, id, { "If-Match": current })).status).toBe(204);
  expect((await forget(user, id, { "If-Match": current })).status).toBe(404);
});

it("forgets by subject and predicate, by title, by any filter, and says first what would go", async () => {
  const user = newUser();
  const { id } = await remembered(user, { ...lives, object: "Lisbon" });
  await remembered(user, { kind: "procedure", title: "t", text: "steps" });
  await remembered(user, { text: "old", createdAt: 5 });
  await remembered(user, { text: "tagged", tags: ["a"] });
  const filter = { subject: " alice", predicate: "LIVES in" };
  const dry = await forgetWhere(user, filter, { dryRun: true });
  expect(dry.body).toEqual({ count: 1, ids: [id] });
  expect(await list(user)).toHaveLength(4);
  expect((await forgetWhere(user, filter)).body).toEqual({ count: 1, ids: [id] });
  expect((await forgetWhere(user, filter)).body).toEqual({ count: 0, ids: [] });
  expect((await forgetWhere(user, { title: "t" })).body.count).toBe(1);
  expect((await forgetWhere(user, { createdAtMax: 5 })).body.count).toBe(1);
  expect(await listTexts(user)).toEqual(["tagged"]);
  expect(await recallTexts(user, { query: "Alice steps old tagged" })).toEqual(["tagged"]);
});

it("by a filter also forgets what waits for review, is over or is to come, unless that is said", async () => {
  const user = newUser();
  control.clockAt = T;
  const tags = ["t"];
  await remembered(user, { text: "quarantined", tags, status: "quarantined" });
  await remembered(user, { text: "over", tags, validFrom: T - 10, validTo: T - 5 });
  await remembered(user, { text: "coming", tags, validFrom: T + 1_000_000 });
  await remembered(user, { text: "now", tags });
  expect((await forgetWhere(user, { tags, status: ["quarantined"] })).body.count).toBe(1);
  expect((await forgetWhere(user, { tags })).body.count).toBe(3);
  expect(await rowsInD1(user)).toBe(0);
});

it("does not forget a fact for what only its history says", async () => {
  const user = newUser();
  const { id } = await remembered(user, { ...lives, object: "Lisbon", tags: ["old"] });
  await remembered(user, { ...lives, object: "Porto", tags: ["new"] });
  expect((await forgetWhere(user, { tags: ["old"] })).body.count).toBe(0);
  expect((await forgetWhere(user, { tags: ["new"] })).body).toEqual({ count: 1, ids: [id] });
  expect((await get(user, id)).status).toBe(404);
});

it.each([
  [{ filter: {} }, "body.filter"],
  [{ filter: { metadata: {} } }, "body.filter.metadata"],
  [{ filter: { tags: [] } }, "body.filter.tags"],
  [{ filter: { kind: ["fact"] } }, "body.filter.kind"],
  [{}, "body.filter"],
  [{ filter: { kinds: ["fact"] }, dryrun: true }, "body.dryrun"],
])("never takes %j for all memories", async (json, path) => {
  const user = newUser();
  await remembered(user, { text: "x" });
  const { status, body } = await call(`/v1/users/${user}/memories/forget`, { json });
  expect(status).toBe(400);
  expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  expect(await listTexts(user)).toEqual(["x"]);
});

it("forgets more by one filter than one page tells of", async () => {
  const user = newUser();
  for (let i = 0; i < 3; i++)
    await rememberMany(
      user,
      Array.from({ length: 400 }, (_, j) => ({ text: `memory ${i} ${j}`, scope: "s" })),
    );
  const { body } = await forgetWhere(user, { scope: ["s"] });
  expect(body.count).toBe(1200);
  expect(body.ids).toHaveLength(1000);
  expect(await rowsInD1(user)).toBe(0);
});

it("forgets all of one user, and nothing of another", async () => {
  const [user, other] = [newUser(), newUser()];
  await remembered(other, { text: "stays" });
  for (const text of ["a", "b"]) await remembered(user, { text, externalId: text });
  await remembered(user, { text: "maybe", status: "quarantined" });
  expect((await forgetAll(user)).status).toBe(204);
  expect(await list(user, "status=active&status=quarantined")).toEqual([]);
  expect(await recallTexts(user, { query: "a b maybe" })).toEqual([]);
  expect(await rowsInD1(user)).toBe(0);
  expect(await listTexts(other)).toEqual(["stays"]);
  expect((await forgetAll(user)).status).toBe(204);
  expect((await remember(user, { text: "a", externalId: "a" })).status).toBe(201);
});

it("by a filter also forgets what D1 has not confirmed yet", async () => {
  const user = newUser();
  control.d1Writes = "after";
  expect((await remember(user, { text: "uncertain", tags: ["t"] })).status).toBe(503);
  control.d1Writes = "ok";
  expect((await forgetWhere(user, { tags: ["t"] })).body.count).toBe(1);
  expect(await rowsInD1(user)).toBe(0);
  expect(await recallTexts(user, { query: "uncertain" })).toEqual([]);
});

describe("the entry that a memory names", () => {
  const kv = (user: string, key: string) => `/v1/users/${user}/kv/${encodeURIComponent(key)}`;
  const put = (user: string, key: string) => call(kv(user, key), { method: "PUT", json: key });
  const left = async (user: string, keys: readonly string[]): Promise<string[]> => {
    const there = await Promise.all(keys.map(async (key) => (await call(kv(user, key))).status === 200));
    return keys.filter((_, i) => there[i]);
  };
  const naming = (user: string, text: string, cairnEntry: unknown) =>
    remembered(user, { text, metadata: { cairnEntry } });

  it.each(["by id", "by a filter", "all"])("stays if only history names it, forgotten %s", async (how) => {
    const user = newUser();
    for (const key of ["p1", "p2"]) await put(user, key);
    const { id } = await naming(user, "a place", "p1");
    await patch(user, id, { metadata: { cairnEntry: "p2" } });
    if (how === "by id") await forget(user, id);
    else if (how === "all") await forgetAll(user);
    else await forgetWhere(user, { metadata: { cairnEntry: "p2" } });
    expect(await listTexts(user)).toEqual([]);
    expect(await left(user, ["p1", "p2"])).toEqual(["p1"]);
  });

  it("goes without a memory that named it once, which keeps the entry that it names now", async () => {
    const user = newUser();
    for (const key of ["x", "y"]) await put(user, key);
    const { id } = await naming(user, "A", "x");
    const other = await naming(user, "B", "x");
    await patch(user, other.id, { metadata: { cairnEntry: "y" } });
    await naming(user, "C", "y");
    await naming(user, "D", "x");
    await forget(user, id);
    expect(await listTexts(user)).toEqual(["B", "C"]);
    expect(await left(user, ["x", "y"])).toEqual(["y"]);
  });

  it.each([
    ["a number", 5.5, "5.5"],
    ["an object", { a: 1 }, '{"a":1}'],
    ["a list", ["a"], '["a"]'],
    ["true", true, "1"],
  ])("is named by a string, not by %s", async (_kind, cairnEntry, key) => {
    const user = newUser();
    await put(user, key);
    const { id } = await naming(user, "no link", cairnEntry);
    await naming(user, "no link either", cairnEntry);
    await forget(user, id);
    expect(await listTexts(user)).toEqual(["no link either"]);
    await forgetAll(user);
    expect(await left(user, [key])).toEqual([key]);
  });
});
