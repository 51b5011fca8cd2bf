// Leaving with everything.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../src/ids.ts";
import { type Answer, call, newUser, token } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { erased, eraseUser, objectOf, ring } from "../erasure-calls.ts";
import { history, list, recallTexts, remember } from "../memory-calls.ts";
import { append, create, said, say, threadOf } from "../thread-calls.ts";
import { busyUser, exportOf, importTo, linesOf } from "../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = Date.now() + 24 * 3600_000));
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
      storage.sql.exec("SELECT n FROM vectors").toArray(),
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
    const water = await remember(user, { subject: "I", predicate: "drink", object: "wine", scope: "home" });
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
      for (let cursor: string | undefined = ""; cursor !== undefined;) {
        const { body }: Answer = await call(`/v1/users?limit=2${cursor && `&cursor=${cursor}`}`);
        found.push(...body.items.map(({ userId }: { userId: string }) => userId));
        ({ cursor } = body);
      }
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
