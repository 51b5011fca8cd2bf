// Corrections, history, restore and forgetting.
import { afterEach, describe, expect, it } from "vitest";
import { newUser, pagesOf } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  get,
  history,
  historyPage,
  list,
  patch,
  recallTexts,
  release,
  remembered,
  restoreVersion,
} from "../../memory-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
afterEach(restore);
const lives = { subject: "Alice", predicate: "lives in" };
const UNKNOWN = "019a0000-0000-7000-8000-000000000000";

describe("PATCH", () => {
  it("corrects what is given, leaves the rest, and keeps what was wrong in the history", async () => {
    const user = newUser();
    const made = await remembered(user, { text: "the boat is red", tags: ["a"], score: 0.3 });
    const { status, body, headers } = await patch(user, made.id, { text: "the boat is blue" });
    expect(status).toBe(200);
    expect(headers.get("ETag")).toBe(`"${body.version}"`);
    expect(body).toMatchObject({ text: "the boat is blue", tags: ["a"], score: 0.3, indexing: "full" });
    expect(body).toMatchObject({ createdAt: made.createdAt, validFrom: made.validFrom });
    expect(await history(user, made.id)).toMatchObject([
      { text: "the boat is blue" },
      { text: "the boat is red", correctedAt: body.recordedAt },
    ]);
    expect(await recallTexts(user, { query: "boat" })).toEqual(["the boat is blue"]);
    const asOf = body.recordedAt - 1;
    expect((await get(user, made.id, `asOf=${asOf}`)).body.text).toBe("the boat is red");
  });

  it("takes fields away by null, and tags by an empty list", async () => {
    const user = newUser();
    const emotion = { valence: 0.5, arousal: 0.5, dominance: 0.5 };
    const full = {
      kind: "episode",
      text: "lunch",
      tags: ["t"],
      metadata: { a: 1 },
      score: 0.5,
      importance: 0.5,
      source: { thread: "t" },
      sourceEntity: "bob",
      context: "kitchen",
      type: "meal",
      intensity: 0.5,
      appraisal: { urgency: 0.1 },
      emotion,
      validTo: 9e12,
      expiresAt: 9e12,
    };
    const { id } = await remembered(user, full);
    const { text: _text, kind: _kind, tags: _tags, ...fields } = full;
    const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    const { body } = await patch(user, id, { ...nulls, tags: [] });
    expect(Object.keys(body).toSorted()).toEqual(
      "createdAt id indexing kind recordedAt status text trust updatedAt userId validFrom version writtenBy".split(
        " ",
      ),
    );
    expect((await patch(user, id, fields)).body).toMatchObject(fields);
  });

  it("moves a triple's text with its object, and leaves a text of its own", async () => {
    const user = newUser();
    const plain = await remembered(user, { ...lives, object: "Lisbon" });
    expect((await patch(user, plain.id, { object: "Porto" })).body).toMatchObject({
      object: "Porto",
      text: "Alice lives in Porto",
    });
    const worded = await remembered(user, { ...lives, subject: "Bob", object: "Faro", text: "Bob: Faro" });
    expect((await patch(user, worded.id, { object: "Lagos" })).body.text).toBe("Bob: Faro");
  });

  it.each([
    [{}, "body"],
    [{ text: " \n" }, "body.text"],
    [{ text: null }, "body.text"],
    [{ context: "x" }, "body.context"],
    [{ trigger: null, text: "y" }, "body.trigger"],
    [{ object: "x" }, "body.object"],
    [{ validTo: 1 }, "body.validTo"],
    [{ subject: "x" }, "body.subject"],
    [{ kind: "episode" }, "body.kind"],
    [{ createdAt: 1 }, "body.createdAt"],
    [{ externalId: "x" }, "body.externalId"],
    [{ score: 1.1 }, "body.score"],
  ])("refuses %j and names the field", async (change, path) => {
    const user = newUser();
    const { id } = await remembered(user, { text: "x" });
    const { status, body } = await patch(user, id, change);
    expect(status).toBe(400);
    const paths = body.error.details.map((detail: { path: string }) => detail.path);
    expect(paths).toContain(path);
    expect(await history(user, id)).toHaveLength(1);
  });

  it("is done under the version that it is meant for only", async () => {
    const user = newUser();
    const { id, version } = await remembered(user, { text: "x" });
    const mine = { "If-Match": `"${version}"` };
    const changed = await patch(user, id, { score: 0.1 }, mine);
    expect(changed.status).toBe(200);
    const late = await patch(user, id, { score: 0.2 }, mine);
    expect(late.status).toBe(412);
    expect(late.body.error.code).toBe("precondition_failed");
    expect((await patch(user, id, { score: 0.3 }, { "If-Match": "*" })).status).toBe(200);
    expect((await patch(user, UNKNOWN, { score: 1 }, mine)).status).toBe(404);
  });

  it("of two at once under one version lets one through", async () => {
    const user = newUser();
    const { id, version } = await remembered(user, { text: "x" });
    const mine = { "If-Match": `"${version}"` };
    const both = await Promise.all([0.1, 0.2].map((score) => patch(user, id, { score }, mine)));
    expect(both.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 412]));
    expect(await history(user, id)).toHaveLength(2);
  });

  it("brings a fact back whose end was a mistake", async () => {
    const user = newUser();
    control.clockAt = T;
    const { id } = await remembered(user, { ...lives, object: "Lisbon", validTo: T + 1000 });
    control.clockAt = T + 5000;
    expect((await get(user, id)).status).toBe(404);
    expect((await patch(user, id, { validTo: null })).status).toBe(200);
    expect((await get(user, id)).body.object).toBe("Lisbon");
  });

  it("corrects the version that is true, and leaves the one it superseded and the one to come", async () => {
    const user = newUser();
    control.clockAt = T;
    const { id } = await remembered(user, { ...lives, object: "Lisbon" });
    control.clockAt = T + 10_000;
    await remembered(user, { ...lives, object: "Porto" });
    await remembered(user, { ...lives, object: "Faro", validFrom: T + 50_000 });
    await patch(user, id, { object: "Braga" });
    const at = async (time: number) => (await get(user, id, `validAt=${time}`)).body.object;
    expect([await at(T + 5000), await at(T + 20_000), await at(T + 50_000)]).toEqual([
      "Lisbon",
      "Braga",
      "Faro",
    ]);
  });
});

describe("history", () => {
  it("is complete over its pages, the newest first", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "v0", externalId: "e" });
    for (let i = 1; i < 7; i++) await remembered(user, { text: `v${i}`, externalId: "e" });
    const texts: string[] = [];
    for await (const { items } of pagesOf(`/v1/users/${user}/memories/${id}/history?limit=3`))
      texts.push(...items.map(({ text }: { text: string }) => text));
    expect(texts).toEqual(["v6", "v5", "v4", "v3", "v2", "v1", "v0"]);
    expect((await historyPage(user, UNKNOWN)).status).toBe(404);
    expect((await historyPage(user, id, "cursor=nonsense")).body.error.code).toBe("invalid_cursor");
  });
});

describe("restore", () => {
  it("lets a version take the place of what is said now, as one more version", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "red", tags: ["a"], metadata: { a: 1 } });
    await patch(user, first.id, { text: "blue", tags: ["b"], metadata: null });
    const { body } = await restoreVersion(user, first.id, first.version);
    expect(body).toMatchObject({ text: "red", tags: ["a"], metadata: { a: 1 }, createdAt: first.createdAt });
    expect(body.version).toBeGreaterThan(first.version);
    expect(await history(user, first.id)).toHaveLength(3);
    expect(await recallTexts(user, { query: "red blue" })).toEqual(["red"]);
    expect((await remembered(user, { text: "RED" })).id).toBe(first.id);
  });

  it("restores the kind that an externalId had", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "x", externalId: "e", subject: "s" });
    await remembered(user, { kind: "episode", text: "y", externalId: "e", context: "c" });
    const { body } = await restoreVersion(user, first.id, first.version);
    expect(body).toMatchObject({ kind: "fact", text: "x", subject: "s" });
    expect(body).not.toHaveProperty("context");
  });

  it("of an ended statement corrects the live one, and does not end it", async () => {
    const user = newUser();
    control.clockAt = T;
    const lisbon = await remembered(user, { ...lives, object: "Lisbon", validTo: T + 1000 });
    control.clockAt = T + 5000;
    await remembered(user, { ...lives, object: "Porto" });
    await restoreVersion(user, lisbon.id, lisbon.version);
    expect((await get(user, lisbon.id)).body.object).toBe("Lisbon");
    expect((await get(user, lisbon.id, `validAt=${T + 1000}`)).status).toBe(404);
  });

  it("takes no externalId that another memory has by now", async () => {
    const user = newUser();
    const first = await remembered(user, { ...lives, object: "Lisbon", externalId: "e" });
    await remembered(user, { ...lives, object: "Porto" });
    const { id } = await remembered(user, { text: "other", externalId: "e" });
    expect((await restoreVersion(user, first.id, first.version)).body).not.toHaveProperty("externalId");
    expect((await list(user, "externalId=e")).map((memory) => memory.id)).toEqual([id]);
  });

  it("does not put what was released back into quarantine", async () => {
    const user = newUser();
    const { id, version } = await remembered(user, { text: "maybe", status: "quarantined" });
    await release(user, id);
    expect((await restoreVersion(user, id, version)).body.status).toBe("active");
  });

  it("is refused for a version that is not the memory's, and under another If-Match", async () => {
    const user = newUser();
    const { id, version } = await remembered(user, { text: "x" });
    const other = await remembered(user, { text: "y" });
    const refused = await restoreVersion(user, id, other.version);
    expect(refused.status).toBe(404);
    expect(refused.body.error.details).toMatchObject([{ path: "body.version" }]);
    expect((await restoreVersion(user, UNKNOWN, 1)).status).toBe(404);
    expect((await restoreVersion(user, id, version, { "If-Match": '"99"' })).status).toBe(412);
  });
});
