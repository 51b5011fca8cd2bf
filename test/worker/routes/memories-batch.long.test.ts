// Many at once, all or none; and writes that are sent twice.
import { env } from "cloudflare:workers";
import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  forget,
  forgetWhere,
  get,
  history,
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

afterEach(restore);
const key = () => ({ "Idempotency-Key": crypto.randomUUID() });
const lives = { subject: "Alice", predicate: "lives in" };

describe("a batch", () => {
  it("of 500 is stored and found, each in its place", async () => {
    const user = newUser();
    const memories = Array.from({ length: 500 }, (_, i) => ({ text: `memory number ${i}` }));
    const { status, body } = await rememberMany(user, memories);
    expect(status).toBe(200);
    expect(body.items.map(({ memory }: { memory: { text: string } }) => memory.text)).toEqual(
      memories.map(({ text }) => text),
    );
    expect(body.items.every(({ created }: { created: boolean }) => created)).toBe(true);
    expect(await list(user)).toHaveLength(500);
    expect(await recallTexts(user, { query: "number 499", k: 1 })).toEqual(["memory number 499"]);
  });

  it("of 501 is refused, and so is an empty one", async () => {
    const user = newUser();
    const refused = await rememberMany(
      user,
      Array.from({ length: 501 }, (_, i) => ({ text: `${i}` })),
    );
    expect(refused.body.error).toMatchObject({
      code: "limit_exceeded",
      details: [{ path: "body.memories" }],
    });
    expect((await rememberMany(user, [])).status).toBe(400);
    expect(await list(user)).toEqual([]);
  });

  it.each([
    [{ text: "x", tags: [1] }, "invalid_request", "body.memories[2].tags[0]"],
    [{ text: "" }, "invalid_request", "body.memories[2].text"],
    [{ text: "x", tags: ["t".repeat(65)] }, "limit_exceeded", "body.memories[2].tags[0]"],
    [{ text: "x", validTo: 1 }, "invalid_request", "body.memories[2].validTo"],
    [{ ...lives, object: "o", externalId: "e" }, "external_id_taken", "body.memories[2].externalId"],
    [
      { text: "tagged", tags: Array.from({ length: 20 }, (_, i) => `other ${i}`) },
      "limit_exceeded",
      "body.memories[2].tags",
    ],
  ])("with one bad memory stores none, and names it: %j", async (bad, code, path) => {
    const user = newUser();
    const tagged = { text: "tagged", tags: Array.from({ length: 20 }, (_, i) => `tag ${i}`) };
    await remembered(user, tagged);
    await remembered(user, { text: "has it", externalId: "e" });
    const { body } = await rememberMany(user, [{ text: "good" }, { text: "fine" }, bad, { text: "last" }]);
    expect(body.error).toMatchObject({ code, details: [{ path }] });
    expect(await listTexts(user)).toEqual(["has it", "tagged"]);
  });

  it("may say the same twice: what comes later adds, replaces and supersedes", async () => {
    const user = newUser();
    const { body } = await rememberMany(user, [
      { text: "tea", tags: ["a"] },
      { text: "Tea", tags: ["b"] },
      { ...lives, object: "Lisbon" },
      { ...lives, object: "Porto" },
      { ...lives, object: "porto", tags: ["c"] },
      { text: "one", externalId: "e" },
      { text: "two", externalId: "e" },
    ]);
    const items = body.items as { created: boolean; memory: { id: string } }[];
    expect(items.map(({ created }) => created)).toEqual([true, false, true, false, false, true, false]);
    expect(new Set(items.map(({ memory }) => memory.id)).size).toBe(3);
    expect(await listTexts(user)).toEqual(["Alice lives in Porto", "tea", "two"]);
    expect((await list(user, "tag=a&tag=b")).map(({ text }) => text)).toEqual(["tea"]);
    expect((await history(user, items[2]?.memory.id ?? "")).map(({ object }) => object)).toContain("Lisbon");
    expect(await recallTexts(user, { query: "Lisbon Porto one two tea" })).toEqual([
      "Alice lives in Porto",
      "tea",
      "two",
    ]);
  });
});

it("writes of one fact at once leave one live version, and all of them in the history", async () => {
  const user = newUser();
  const objects = Array.from({ length: 8 }, (_, i) => `city ${i}`);
  const answers = await Promise.all(objects.map((object) => remember(user, { ...lives, object })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
  const [live, ...others] = await list(user);
  expect(others).toEqual([]);
  const versions = await history(user, live?.id ?? "");
  expect(versions.map(({ object }) => String(object)).toSorted()).toEqual(objects);
  expect(versions.filter((version) => version.supersededBy === undefined)).toHaveLength(1);
});

describe("with an Idempotency-Key", () => {
  it("each write is done once, and answered alike", async () => {
    const user = newUser();
    const first = await remembered(user, { text: "v1", externalId: "e" });
    const quarantined = await remembered(user, { text: "maybe", status: "quarantined" });
    const writes = [
      (headers: Record<string, string>) => remember(user, { text: "x", dedupe: "none" }, headers),
      (headers: Record<string, string>) => rememberMany(user, [{ text: "y", dedupe: "none" }], headers),
      (headers: Record<string, string>) => patch(user, first.id, { text: "v2" }, headers),
      (headers: Record<string, string>) => restoreVersion(user, first.id, first.version, headers),
      (headers: Record<string, string>) => release(user, quarantined.id, headers),
    ];
    for (const write of writes) {
      const headers = key();
      const answer = await write(headers);
      expect(answer.status).toBeLessThan(300);
      const again = await write(headers);
      expect(again.status).toBe(answer.status);
      expect(again.body).toEqual(answer.body);
      const other = await remember(user, { text: "another request" }, headers);
      expect(other.body.error.code).toBe("idempotency_conflict");
    }
    expect(await listTexts(user)).toEqual(["maybe", "v1", "x", "y"]);
    expect(await history(user, first.id)).toHaveLength(3);
  });

  it("a batch of long texts is answered alike, too", async () => {
    const user = newUser();
    // More than a row of SQLite takes.
    const memories = Array.from({ length: 300 }, (_, i) => ({
      kind: "episode",
      text: `memory ${i}`,
      context: "é".repeat(16_000),
    }));
    const headers = key();
    const first = await rememberMany(user, memories, headers);
    expect(first.status).toBe(200);
    expect((await rememberMany(user, memories, headers)).body).toEqual(first.body);
    expect((await forgetWhere(user, { kinds: ["episode"] }, { dryRun: true })).body.count).toBe(300);
    const [one] = first.body.items;
    await forget(user, one.memory.id);
    expect((await rememberMany(user, memories, headers)).body.items[0].created).toBe(true);
  });

  it.each(["before", "after"] as const)(
    "what is retried after D1 failed %s its write is there once, without any dedupe",
    async (moment) => {
      for (const alarm of [false, true]) {
        const user = newUser();
        const headers = key();
        const write = () => rememberMany(user, [{ text: "x", dedupe: "none" }, { text: "y" }], headers);
        control.d1Writes = moment;
        expect((await write()).status).toBe(503);
        control.d1Writes = "ok";
        if (alarm) {
          control.clockAhead += 600_000;
          await runDurableObjectAlarm(env.USER_MEMORY.getByName(await userHash(user)));
        }
        const { status, body } = await write();
        expect(status).toBe(200);
        expect(await listTexts(user)).toEqual(["x", "y"]);
        expect((await get(user, body.items[0].memory.id)).body.text).toBe("x");
      }
    },
  );

  it("what was forgotten is remembered anew by the same request", async () => {
    const user = newUser();
    const headers = key();
    const { id } = (await remember(user, { text: "x" }, headers)).body;
    await forget(user, id);
    const again = await remember(user, { text: "x" }, headers);
    expect(again.status).toBe(201);
    expect((await get(user, again.body.id)).status).toBe(200);
  });

  it("which carries only a failure may be tried again with another body", async () => {
    const user = newUser();
    const headers = key();
    expect((await remember(user, { text: "" }, headers)).status).toBe(400);
    expect((await remember(user, { text: "x" }, headers)).status).toBe(201);
  });
});
