// Leaving with everything.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, pagesOf, token } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { erased, eraseUser, objectOf, ring } from "../../../erasure-calls.ts";
import {
  history,
  list,
  patch,
  recallTexts,
  remember,
  remembered,
  rememberMany,
} from "../../../memory-calls.ts";
import { append, create, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { at, busyUser, DRINK, exportOf, importTo, linesOf } from "../../../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

describe("an export", () => {
  it("is erased, taken back and exported again as the very same bytes", async () => {
    const { user, origin, branch, twig, kept, plain } = await busyUser();
    const before = await exportOf(user);
    const read = async () => ({
      threads: (await call(`/v1/users/${user}/threads?limit=100`)).body,
      messages: await Promise.all([origin, branch, twig, kept].map(async ({ id }) => said(id))),
      compacted: await said(origin.id, "view=compacted"),
      entries: (await call(`/v1/users/${user}/kv?values=true`)).body,
      memories: (await list(user, "status=active&status=quarantined")).map((one) => ({ ...one, version: 0 })),
      history: (await history(user, plain.id)).map(({ text }) => text),
    });
    const seen = await read();
    await erased(user, (await eraseUser(user)).body.id);
    // It has no time in it, nor anything that depends on one.
    const back = await importTo(user, before);
    expect(back).toMatchObject({
      status: 200,
      body: { complete: true, there: {}, lines: linesOf(before).length },
    });
    expect(await exportOf(user)).toBe(before);
    expect(await read()).toEqual(seen);
    for (let rung = 0; rung < 3; rung++) await ring(user);
    expect(await recallTexts(user, { query: "Porto five", k: 2 })).toEqual(["I moved to Porto", "five"]);
    const catalogue = (await call("/v1/threads?limit=100", { token: await token(user) })).body.items;
    expect(catalogue).toHaveLength(seen.threads.items.length);
  });

  it("tells how a thread is indexed, and an import keeps to it", async () => {
    const user = newUser();
    const words = await create(user, { indexing: "lexical" });
    await append(words.id, [say("about herons")]);
    const full = await threadOf(user, ["about storks"]);
    const before = await exportOf(user);
    expect(linesOf(before).map(({ indexing }) => indexing)).toContain("lexical");
    await eraseUser(user);
    await importTo(user, before);
    expect((await call(`/v1/threads/${words.id}`)).body.indexing).toBe("lexical");
    expect((await call(`/v1/threads/${full.id}`)).body.indexing).toBeUndefined();
    const pending = async () => (await call(`/v1/users/${user}/reindex`)).body.pending;
    expect(await pending()).toBe(1);
    for (let rung = 0; rung < 3; rung++) await ring(user);
    expect(await pending()).toBe(0);
    expect(await recallTexts(user, { query: "herons" })).toContain("about herons");
    const vectors = await runInDurableObject(await objectOf(user), (_, { storage }) =>
      storage.sql.exec("SELECT n FROM vectors WHERE model IS NOT NULL").toArray(),
    );
    expect(vectors).toHaveLength(1);
    expect(await exportOf(user)).toBe(before);
  });

  it("goes on after its import as if it had never been away", async () => {
    const { user, branch, twig } = await busyUser();
    const before = await exportOf(user);
    await eraseUser(user);
    await importTo(user, before);
    expect((await append(branch.id, [say("six")])).body).toMatchObject({ firstSeq: 5, length: 4 });
    expect(await said(twig.id)).toEqual(["one", "three", "five", "éé"]);
    // The history of a fact goes on.
    const water = await remember(user, { ...DRINK, object: "wine" });
    expect(water.status).toBe(200);
    expect(await history(user, water.body.id)).toHaveLength(4);
    await call(`/v1/threads/${branch.id}`, { method: "DELETE" });
    expect(await said(twig.id)).toEqual(["one", "three", "five", "éé"]);
  });

  it("begins with its format and ends with the number of its lines", async () => {
    const user = newUser();
    expect(linesOf(await exportOf(user))).toEqual([
      { format: "cairn-export", version: 1, userId: user, userHash: await userHash(user) },
      { type: "end", lines: 2 },
    ]);
  });

  it("is whole over many pages of the object and of D1", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (let i = 0; i < 3; i++)
      await append(
        id,
        Array.from({ length: 1000 }, (_, n) => say(`${i} ${n} ${"x".repeat(500)}`)),
      );
    await call(`/v1/users/${user}/memories/batch`, {
      json: { memories: Array.from({ length: 250 }, (_, n) => ({ text: `memory ${n}` })) },
    });
    const text = await exportOf(user);
    const counts = Object.fromEntries(
      [...Map.groupBy(linesOf(text), ({ type }) => String(type))].map(([type, of]) => [type, of.length]),
    );
    expect(counts).toEqual({ undefined: 1, thread: 1, message: 3000, memory: 250, end: 1 });
    const other = newUser();
    expect((await importTo(other, text)).body.imported).toEqual({
      threads: 1,
      messages: 3000,
      memoryVersions: 250,
    });
    expect((await importTo(other, text)).body.imported).toEqual({});
  });

  it("holds of a thread that is written to meanwhile what its line tells of, and can be taken in", async () => {
    const user = newUser();
    const { id } = await create(user);
    const texts = Array.from({ length: 2100 }, (_, n) => `message ${n + 1}`);
    for (let from = 0; from < texts.length; from += 700)
      await append(
        id,
        texts.slice(from, from + 700).map((text) => say(text)),
      );
    let reads = 0;
    control.duringD1Read = async () => {
      // The first page has been read, and the thread has another.
      if (++reads !== 1) return;
      await append(id, [say("late"), say("later")]);
      await fork(id, { at: 2102 });
      await call(`/v1/threads/${id}/messages/2101`, { method: "DELETE" });
      at(1);
      await call(`/v1/threads/${id}/compactions`, { json: { summary: "the first", to: 10 } });
      await call(`/v1/threads/${id}/compactions`, { json: { summary: "all", to: 2102 } });
    };
    const exported = await exportOf(user);
    expect(reads).toBeGreaterThan(0);
    const other = newUser();
    const { status, body } = await importTo(other, exported);
    expect([status, body.imported]).toEqual([200, { threads: 1, messages: 2100 }]);
    const there = id.replace(await userHash(user), await userHash(other));
    expect((await call(`/v1/threads/${there}`)).body.length).toBe(2100);
    expect((await append(there, [say("on")])).body).toMatchObject({ firstSeq: 2101 });
  });

  it("tells of compactions as they were, and of none that cuts through one that was deleted meanwhile", async () => {
    const user = newUser();
    const { id } = await create(user);
    // With the thread's line and the first compaction a page is full.
    for (let i = 0; i < 2; i++)
      await append(
        id,
        Array.from({ length: 999 }, (_, n) => say(`${i} ${n}`)),
      );
    const compact = (from: number, to: number) =>
      call(`/v1/threads/${id}/compactions`, { json: { summary: "some", from, to } });
    const first = (await compact(1, 10)).body.id;
    await compact(20, 30);
    let reads = 0;
    control.duringD1Read = async () => {
      if (++reads !== 1) return;
      at(1);
      await call(`/v1/threads/${id}/compactions/${first}`, { method: "DELETE" });
      await compact(5, 15);
    };
    const exported = await exportOf(user);
    const { status, body } = await importTo(newUser(), exported);
    expect([status, body.imported.compactions]).toEqual([200, 2]);
    // Also where the clock that they were made by was ahead.
    at(-24 * 3600_000);
    expect(linesOf(await exportOf(user)).filter(({ type }) => type === "compaction")).toHaveLength(2);
  });

  it.each([
    ["the last of a page", 99, 1, 2],
    ["of more versions than a page holds", 20, 180, 3],
  ])(
    "tells of a memory at one time, also of one that is corrected meanwhile: %s",
    async (_, others, versions, then) => {
      const user = newUser();
      await rememberMany(
        user,
        Array.from({ length: others }, (_one, n) => ({ text: `memory number ${n}` })),
      );
      at(1000);
      const { id } = await remembered(user, { text: "I live in town 1" });
      for (let version = 2; version <= versions; version++)
        await patch(user, id, { text: `I live in town ${version}` });
      let reads = 0;
      control.duringD1Read = async () => {
        // The first one only asks whether D1 answers.
        if (++reads === then) await patch(user, id, { text: "I live in another town" });
      };
      const exported = await exportOf(user);
      expect(reads).toBeGreaterThan(2);
      const told = linesOf(exported).filter((line) => line.id === id);
      expect(told.map(({ version }) => version)).toEqual(told.map((_line, n) => n + 1));
      expect(told.filter(({ correctedAt }) => correctedAt === undefined)).toEqual([told.at(-1)]);
      const other = newUser();
      expect((await importTo(other, exported)).body.imported.memoryVersions).toBe(others + told.length);
      const seen = (await call(`/v1/users/${other}/memories?limit=1000`)).body.items;
      expect(seen.filter(({ text }: { text: string }) => text.startsWith("I live"))).toHaveLength(1);
    },
  );

  it("breaks off without its last line when the user is erased in the middle", async () => {
    const user = newUser();
    await remember(user, { text: "x" });
    let reads = 0;
    control.duringD1Read = async () => {
      // The second read is the one of the memories' lines.
      if (++reads === 2) await eraseUser(user);
    };
    const failed = await exportOf(user).catch((error: Error) => error.message);
    expect(failed).toContain("could not go on");
  });

  it("is kept in no cache", async () => {
    const { headers } = await call(`/v1/users/${newUser()}/export`);
    expect(headers.get("Cache-Control")).toBe("no-store");
  });

  it("answers 503 before its first byte where D1 does not answer", async () => {
    control.d1Reads = "fail";
    expect((await call(`/v1/users/${newUser()}/export`)).body.error.code).toBe("storage_unavailable");
  });
});

describe("GET /v1/users", () => {
  it("lists who has threads, memories or only entries, page by page, and nobody who was erased", async () => {
    const users = Array.from({ length: 4 }, newUser);
    const [a = "", b = "", c = "", d = ""] = users;
    await create(a);
    await remember(b, { text: "x" });
    await call(`/v1/users/${c}/kv/k`, { method: "PUT", json: 1 });
    await create(d);
    await ring(c);
    const all = async () => {
      const found: string[] = [];
      for await (const { items } of pagesOf("/v1/users?limit=2"))
        found.push(...items.map(({ userId }: { userId: string }) => userId));
      return found.filter((user) => users.includes(user)).toSorted();
    };
    expect(await all()).toEqual(users.toSorted());
    await eraseUser(b);
    await eraseUser(d);
    expect(await all()).toEqual([a, c].toSorted());
    expect((await call("/v1/users", { token: await token(a) })).status).toBe(403);
    expect((await call("/v1/users?cursor=x")).body.error.code).toBe("invalid_cursor");
  });
});
