// Memories for review: never recalled, then released or rejected.
import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  forget,
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
  restoreVersion,
} from "../../memory-calls.ts";
import { exportOf, importTo } from "../../transfer-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
const DAY = 86_400_000;
afterEach(restore);
const extracted = (text: string, more: object = {}) => ({
  text,
  score: 0.5,
  source: { extractor: "gpt" },
  ...more,
});
const lives = { subject: "Alice", predicate: "lives in" };

it.each([
  ["an extractor's finding below 0.7", extracted("x", { score: 0.69 }), "quarantined"],
  ["an extractor's finding of 0.7", extracted("x", { score: 0.7 }), "active"],
  ["an extractor's finding without a score", { text: "x", source: { extractor: "gpt" } }, "active"],
  ["one below the caller's own threshold", extracted("x", { quarantineBelow: 0.6 }), "quarantined"],
  ["one at the caller's own threshold", extracted("x", { quarantineBelow: 0.5 }), "active"],
  ["what a caller says, whatever its score", { text: "x", score: 0 }, "active"],
  ["what a caller says of a thread", { text: "x", score: 0, source: { thread: "t" } }, "active"],
  ["what a caller wants reviewed", { text: "x", status: "quarantined" }, "quarantined"],
  ["what a caller wants active", extracted("x", { status: "active" }), "active"],
])("%s", async (_, memory, status) => {
  expect((await remembered(newUser(), memory)).status).toBe(status);
});

it("is never recalled, and listed only by its status", async () => {
  const user = newUser();
  const { id } = await remembered(user, extracted("Alice may like tea"));
  await remembered(user, { text: "Alice likes cake" });
  for (const query of [{ query: "tea" }, { query: "???" }, { query: "Alice", filter: { scoreMax: 0.5 } }])
    expect(await recallTexts(user, query)).not.toContain("Alice may like tea");
  expect(await listTexts(user)).toEqual(["Alice likes cake"]);
  expect(await listTexts(user, "status=quarantined")).toEqual(["Alice may like tea"]);
  expect(await list(user, "status=quarantined&status=active")).toHaveLength(2);
  expect((await get(user, id)).body.status).toBe("quarantined");
});

it("is listed and found by its id whatever the time it is true of", async () => {
  const user = newUser();
  control.clockAt = T;
  const fact = (object: string, more: object) =>
    remembered(user, extracted("", { ...lives, object, text: undefined, ...more }));
  const ahead = await fact("Porto", { validFrom: T + 3650 * DAY });
  const over = await fact("Lisbon", { validFrom: T - 9 * DAY, validTo: T - DAY });
  for (const { id } of [ahead, over]) expect((await get(user, id)).status).toBe(200);
  expect(await listTexts(user, "status=quarantined")).toEqual([
    "Alice lives in Lisbon",
    "Alice lives in Porto",
  ]);
  expect(await list(user)).toEqual([]);
  expect(await listTexts(user, `status=quarantined&validAt=${T - 2 * DAY}`)).toEqual([
    "Alice lives in Lisbon",
  ]);
  expect(await list(user, `status=quarantined&asOf=${T - 1}`)).toEqual([]);
  expect((await release(user, ahead.id)).status).toBe(200);
  expect(await listTexts(user, "status=quarantined")).toEqual(["Alice lives in Lisbon"]);
});

it("waits once, apart from what is active", async () => {
  const user = newUser();
  const active = await remembered(user, { text: "Alice likes tea" });
  const first = await remembered(user, extracted("Alice likes tea", { tags: ["a"] }));
  const again = await remember(user, extracted("alice likes  tea", { tags: ["b"], score: 0.6 }));
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({ id: first.id, tags: ["a", "b"], score: 0.6, status: "quarantined" });
  expect(first.id).not.toBe(active.id);
  expect((await get(user, active.id)).body).not.toHaveProperty("tags");
});

it("is recalled once it is released", async () => {
  const user = newUser();
  const { id } = await remembered(user, extracted("Alice likes tea"));
  const released = await release(user, id);
  expect(released.status).toBe(200);
  expect(released.body).toMatchObject({ id, status: "active", indexing: "full" });
  expect(await recallTexts(user, { query: "tea" })).toEqual(["Alice likes tea"]);
  expect(await list(user, "status=quarantined")).toEqual([]);
  expect((await release(user, id)).body.version).toBe(released.body.version);
});

it("becomes one with the active memory of its text when it is released", async () => {
  const user = newUser();
  const active = await remembered(user, { text: "Alice likes tea", tags: ["a"] });
  const { id } = await remembered(user, extracted("Alice likes tea", { tags: ["b"] }));
  expect((await release(user, id)).body).toMatchObject({ id: active.id, tags: ["a", "b"] });
  expect((await get(user, id)).body).toMatchObject({ id: active.id, waitedAs: id, tags: ["a", "b"] });
  const again = await release(user, id);
  expect([again.status, again.body.id]).toEqual([200, active.id]);
  expect(await list(user, "status=quarantined&status=active")).toHaveLength(1);
});

it("supersedes the live fact when it is released, from then on, also if it was corrected before", async () => {
  for (const corrected of [false, true]) {
    const user = newUser();
    control.clockAt = T;
    const waiting = await remembered(user, extracted("", { ...lives, object: "Porto", text: undefined }));
    control.clockAt = T + DAY;
    const live = await remembered(user, { ...lives, object: "Lisbon" });
    expect(live.id).not.toBe(waiting.id);
    if (corrected) await patch(user, waiting.id, { score: 0.6 });
    control.clockAt = T + 2 * DAY;
    const { body } = await release(user, waiting.id);
    expect(body).toMatchObject({ id: live.id, object: "Porto", status: "active" });
    expect(body.validFrom).toBeGreaterThanOrEqual(T + 2 * DAY);
    expect(body.updatedAt).toBeGreaterThanOrEqual(T + 2 * DAY);
    expect((await get(user, live.id)).body.object).toBe("Porto");
    expect(await history(user, live.id)).toMatchObject([{ object: "Porto" }, { object: "Lisbon" }]);
    expect((await get(user, waiting.id)).body).toMatchObject({ id: live.id, object: "Porto" });
  }
});

it("is found under the id that it waited under, by each call, also after later changes", async () => {
  const user = newUser();
  const waiting = await remembered(user, extracted("", { ...lives, object: "Porto", text: undefined }));
  const { body: released } = await release(user, waiting.id);
  expect(released.id).not.toBe(waiting.id);
  const corrected = await patch(user, waiting.id, { object: "Braga" });
  expect(corrected.body).toMatchObject({ id: released.id, object: "Braga" });
  await remembered(user, { ...lives, object: "Lisbon" });
  expect((await get(user, waiting.id)).body).toMatchObject({ id: released.id, object: "Lisbon" });
  const { items, cursor } = (await historyPage(user, waiting.id, "limit=2")).body;
  expect(items.map(({ object }: { object: string }) => object)).toEqual(["Lisbon", "Braga"]);
  const rest = (await historyPage(user, waiting.id, `limit=2&cursor=${cursor}`)).body;
  expect(rest.items[0]).toMatchObject({ object: "Porto", waitedAs: waiting.id });
  const { body: restored } = await restoreVersion(user, waiting.id, released.version);
  expect(restored).toMatchObject({ id: released.id, object: "Porto" });
  expect((await forget(user, waiting.id)).status).toBe(204);
  for (const id of [waiting.id, released.id]) expect((await get(user, id)).status).toBe(404);
  expect((await forget(user, waiting.id)).status).toBe(404);
});

it("is found under the id that an ingest answered, once it is released", async () => {
  const user = newUser();
  const live = await remembered(user, { ...lives, subject: "user", object: "Porto" });
  const ingest = {
    mode: "wait",
    messages: [{ role: "user", content: "I live in Ghent." }],
    extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Ghent", sources: [0] }] },
  };
  const { ingestId } = (await call(`/v1/users/${user}/ingest`, { json: ingest })).body;
  const [{ outcome, memoryId }] = (await call(`/v1/ingests/${ingestId}`)).body.results;
  expect([outcome, (await get(user, memoryId)).body.status]).toEqual(["quarantined", "quarantined"]);
  expect((await release(user, memoryId)).body.id).toBe(live.id);
  expect((await get(user, memoryId)).body).toMatchObject({ id: live.id, object: "Ghent" });
});

it("is found under its former id after an export and an import", async () => {
  const user = newUser();
  const { id } = await remembered(user, extracted("", { ...lives, object: "Porto", text: undefined }));
  const released = (await release(user, id)).body;
  const text = await exportOf(user);
  expect((await call(`/v1/users/${user}`, { method: "DELETE" })).status).toBeLessThan(300);
  expect((await importTo(user, text)).status).toBe(200);
  expect((await get(user, id)).body).toMatchObject({ id: released.id, waitedAs: id });
  const other = newUser();
  await importTo(other, text);
  expect((await get(other, id)).status).toBe(404);
  expect((await list(other))[0]).not.toHaveProperty("waitedAs");
});

it("is the one that waits again under the same id, and rejecting it leaves what the former one became", async () => {
  const user = newUser();
  const porto = extracted("", { ...lives, object: "Porto", text: undefined });
  const { id } = await remembered(user, porto);
  const { body: released } = await release(user, id);
  expect(await remembered(user, porto)).toMatchObject({ id, status: "quarantined" });
  expect((await get(user, id)).body.status).toBe("quarantined");
  expect((await forget(user, id)).status).toBe(204);
  expect((await get(user, id)).body).toMatchObject({ id: released.id, status: "active" });
});

it("keeps the time that was said of it when it is released", async () => {
  const user = newUser();
  control.clockAt = T;
  const past = { ...lives, object: "Lisbon", text: undefined, validFrom: T - 9 * DAY };
  const waiting = await remembered(user, extracted("", past));
  const { id } = await remembered(user, { ...lives, object: "Porto" });
  await release(user, waiting.id);
  expect((await get(user, id)).body.object).toBe("Porto");
  expect((await get(user, id, `validAt=${T - 9 * DAY}`)).body.object).toBe("Lisbon");
});

it("is rejected by forgetting it", async () => {
  const user = newUser();
  const { id } = await remembered(user, extracted("Alice likes tea"));
  expect((await forget(user, id)).status).toBe(204);
  expect((await release(user, id)).status).toBe(404);
  expect(await list(user, "status=quarantined")).toEqual([]);
});

it("keeps a reviewer's correction when the extractor finds the same again", async () => {
  const user = newUser();
  const { id } = await remembered(user, extracted("Alice likes the"));
  expect((await patch(user, id, { text: "Alice likes tea" })).body.status).toBe("quarantined");
  const again = await remembered(user, extracted("Alice likes the", { tags: ["t"] }));
  expect(again).toMatchObject({ id, text: "Alice likes tea", tags: ["t"] });
  expect((await release(user, id)).body.text).toBe("Alice likes tea");
});

it("is released under its version only", async () => {
  const user = newUser();
  const { id, version } = await remembered(user, extracted("Alice likes tea"));
  expect((await release(user, id, { "If-Match": `"${version + 1}"` })).status).toBe(412);
  expect((await release(user, id, { "If-Match": `"${version}"` })).status).toBe(200);
});

it("is not released over another memory's externalId", async () => {
  const user = newUser();
  await remembered(user, { text: "mine", externalId: "e" });
  const { id } = await remembered(
    user,
    extracted("", { ...lives, object: "x", text: undefined, externalId: "e" }),
  );
  const { id: ofMany } = await remembered(
    user,
    extracted("", { ...lives, predicate: "likes", object: "x", text: undefined, externalId: "e" }),
  );
  for (const one of [id, ofMany]) {
    const refused = await release(user, one);
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe("external_id_taken");
    expect((await get(user, one)).body.status).toBe("quarantined");
  }
});
