// The client package against the Worker.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type Cairn, cairn } from "../../src/client/index.ts";
import { newUser, token } from "../call.ts";

const client = async (namespace?: string, bearer?: string): Promise<Cairn> =>
  cairn({
    url: "https://cairn.test",
    token: bearer ?? (await token(newUser())),
    fetch: (request) => exports.default.fetch(request),
    ...(namespace !== undefined && { namespace }),
  });

it("takes a value once", async () => {
  const { cache } = await client();
  await cache.set("run/1", { step: 2 });
  expect(await cache.take("run/1")).toEqual({ step: 2 });
  expect(await cache.take("run/1")).toBeNull();
});

it("creates a value under a lease, and shares it with who waits", async () => {
  const { cache } = await client();
  const mine = await cache.lease("k", { leaseMs: 60_000 });
  if (mine.status !== "lease") throw new Error(mine.status);
  const theirs = cache.lease<string>("k", { leaseMs: 60_000, waitMs: 60_000 });
  await cache.set("k", "made", { lease: mine.lease.id, ttlSeconds: 60 });
  expect(await theirs).toMatchObject({ status: "hit", value: "made" });
  await expect(cache.set("k", "late", { lease: mine.lease.id })).rejects.toMatchObject({
    code: "lease_lost",
  });
});

it("releases a lease", async () => {
  const { cache } = await client();
  const mine = await cache.lease("k", { leaseMs: 60_000 });
  expect((await cache.lease("k", { leaseMs: 1 })).status).toBe("wait");
  if (mine.status === "lease") await cache.release("k", mine.lease.id);
  expect((await cache.lease("k", { leaseMs: 1 })).status).toBe("lease");
});

it("forgets the version that it means", async () => {
  const { cache } = await client();
  const { version } = await cache.set("k", "old");
  await cache.set("k", "new");
  await expect(cache.set("k", "other", { ifVersion: null })).rejects.toThrow("precondition_failed");
  await cache.forget("k", { version });
  expect(await cache.get("k")).toBe("new");
  await cache.forget("k");
  expect(await cache.get("k")).toBeNull();
});

it("keeps to its namespace", async () => {
  const bearer = await token(newUser());
  const [one, two] = [await client("one", bearer), await client("two", bearer)];
  await one.cache.set("k", 1);
  expect(await two.cache.get("k")).toBeNull();
  expect(await one.cache.get("k")).toBe(1);
});

it("resolves, reports and reads what was saved", async () => {
  const { promptCache, cache } = await client();
  const prompt = { provider: "google", model: "gemini-2.5-pro", regions: ["system"], ttl: "1h" } as const;
  const create = await promptCache.resolve({ ...prompt, regions: [...prompt.regions] });
  if (create.status !== "create") throw new Error(create.status);
  const resource = { name: "cachedContents/1", expiresAt: Date.now() + 3_600_000 };
  const { lease, ttlSeconds = 0 } = create;
  await cache.set(create.key, resource, { lease: lease.id, ttlSeconds });
  expect(await promptCache.resolve({ ...prompt, regions: [...prompt.regions] })).toMatchObject(resource);
  await promptCache.report({
    provider: "google",
    model: "gemini-2.5-pro",
    cachedInputTokens: 9,
    uncachedInputTokens: 1,
  });
  const { total } = await promptCache.stats({ model: "gemini-2.5-pro" });
  expect(total).toMatchObject({ calls: 1, hitRate: 0.9, tokensSaved: 9 });
});

it("keeps threads: resumed, appended under conditions, forked, compacted, checked", async () => {
  const user = newUser();
  const { threads } = await client(undefined, await token("*"));
  const thread = await threads.resume(user, { agent: "a" });
  expect((await threads.resume(user, { agent: "a" })).id).toBe(thread.id);
  const hi = { role: "user", content: "hi" };
  const once = { idempotencyKey: crypto.randomUUID(), expectedLength: 0 };
  const appended = await threads.append(thread.id, [hi], once);
  expect(await threads.append(thread.id, [hi], once)).toEqual(appended);
  await expect(threads.append(thread.id, [hi], { expectedLength: 0 })).rejects.toMatchObject({
    code: "length_mismatch",
  });
  await threads.append(thread.id, [hi, { role: "user", content: "new" }], { validate: "strict" });
  expect(await threads.validate(thread.id, { messages: [hi] })).toMatchObject({
    code: "truncated-history",
  });
  const fork = await threads.fork(thread.id, { at: 1, title: "Fork" });
  const { id: compaction } = await threads.compact(fork.id, { summary: "greeted", to: 1 });
  expect((await threads.compactions(fork.id)).items).toHaveLength(1);
  const compacted = await threads.read(fork.id, { view: "compacted" });
  expect(compacted.items.map(({ message }) => message.content)).toEqual(["greeted"]);
  await threads.deleteCompaction(fork.id, compaction);
  expect((await threads.compactions(fork.id)).items).toEqual([]);
  expect((await threads.patch(fork.id, { title: "Renamed" })).title).toBe("Renamed");
  await threads.deleteMessage(thread.id, 2);
  expect((await threads.read(thread.id, { order: "oldest" })).items).toHaveLength(1);
  expect((await threads.list(user, { order: "created" })).items).toHaveLength(2);
  expect((await threads.listAll({ limit: 1 })).items).toHaveLength(1);
});

it("keeps entries: odd keys, versions, batches, prefixes", async () => {
  const user = newUser();
  const { kv } = await client(undefined, await token(user));
  for (const key of [".", "a/b", "100%", "😀"]) {
    await kv.set(user, key, { key });
    expect(await kv.get(user, key)).toEqual({ key });
  }
  const { version } = await kv.set(user, "v", 1, { ifVersion: null });
  await expect(kv.set(user, "v", 2, { ifVersion: null })).rejects.toMatchObject({
    code: "precondition_failed",
  });
  await kv.set(user, "v", 2, { ifVersion: version, ttlMs: 60_000, refreshOnRead: true });
  await expect(kv.delete(user, "v", { ifVersion: version })).rejects.toMatchObject({ status: 412 });
  const { results } = await kv.batch(user, [
    { op: "get", key: "v" },
    { op: "set", key: "x/1", value: [1] },
  ]);
  expect(results[0]).toMatchObject({ found: true, value: 2 });
  expect(await kv.deletePrefix(user, "x/")).toEqual({ deleted: 1 });
  expect((await kv.list(user, { count: true, limit: 1 })).count).toBe(5);
});

it("keeps memories: many at once, corrected, superseded, restored, asked of any time", async () => {
  const user = newUser();
  const { memories, recall } = await client(undefined, await token(user));
  const lives = { subject: "Alice", predicate: "lives in" };
  const once = { idempotencyKey: crypto.randomUUID() };
  const batch = [
    { ...lives, object: "Lisbon", validFrom: 1000, metadata: { by: "hand" } },
    { text: "maybe", status: "quarantined" as const },
  ];
  const { items } = await memories.rememberMany(user, batch, once);
  expect(await memories.rememberMany(user, batch, once)).toEqual({ items });
  const [lisbon, maybe] = items.map(({ memory }) => memory);
  if (lisbon === undefined || maybe === undefined) throw new Error("two were remembered");
  const porto = await memories.remember(user, { ...lives, object: "Porto", validFrom: 2000 });
  expect((await memories.get(user, porto.id))?.object).toBe("Porto");
  expect((await memories.get(user, porto.id, { validAt: 1500 }))?.object).toBe("Lisbon");
  expect(await memories.get(user, porto.id, { asOf: 1 })).toBeNull();
  const query = { kind: ["fact" as const], metadata: { by: "hand" }, validAt: 1500 };
  expect((await memories.list(user, query)).items.map(({ object }) => object)).toEqual(["Lisbon"]);
  expect((await memories.list(user, { createdAtMin: 1, sort: "score", limit: 1 })).items).toHaveLength(1);

  await expect(memories.update(user, porto.id, { score: 1 }, { ifVersion: 999 })).rejects.toMatchObject({
    code: "precondition_failed",
  });
  const braga = await memories.update(user, porto.id, { object: "Braga" }, { ifVersion: porto.version });
  expect((await memories.restore(user, porto.id, porto.version, { ifVersion: braga.version })).object).toBe(
    "Porto",
  );
  const past = (await memories.history(user, porto.id)).items;
  expect(past.map(({ object }) => object)).toEqual(["Porto", "Braga", "Porto", "Lisbon"]);
  expect((await memories.history(user, porto.id, { limit: 1 })).cursor).toBeDefined();

  const released = await memories.release(user, maybe.id, { ifVersion: maybe.version });
  expect(released.status).toBe("active");
  const hits = async (more: object) =>
    (await recall(user, { query: "Alice", kinds: ["fact"], filter: { subject: "alice" }, ...more })).hits;
  expect((await hits({})).map(({ object }) => object)).toEqual(["Porto"]);
  expect((await hits({ validAt: 1500 })).map(({ object }) => object)).toEqual(["Lisbon"]);

  await expect(memories.forget(user, maybe.id, { ifVersion: 999 })).rejects.toMatchObject({ status: 412 });
  await memories.forget(user, maybe.id, { ifVersion: released.version });
  const wanted = { subject: "Alice", predicate: "lives in" };
  expect((await memories.forgetWhere(user, wanted, { dryRun: true })).count).toBe(1);
  expect(await memories.forgetWhere(user, wanted)).toEqual({ count: 1, ids: [porto.id] });
  await memories.remember(user, { text: "the last one" });
  await memories.forgetAll(user);
  expect((await memories.list(user)).items).toEqual([]);
});

it("rejects with its own error, and the cause, when there is no answer", async () => {
  const cause = new TypeError("fetch failed");
  const { kv } = cairn({ url: "https://cairn.test", token: "t", fetch: () => Promise.reject(cause) });
  await expect(kv.get("u", "k")).rejects.toMatchObject({
    name: "CairnError",
    code: "network",
    status: 0,
    cause,
    message: "no answer: fetch failed",
  });
});

it.each(["https://cairn.test/memory", "https://cairn.test/memory/", "https://cairn.test/memory?x=1"])(
  "calls under the path of %s",
  async (url) => {
    const asked: string[] = [];
    const fetch = (request: Request) => {
      asked.push(request.url);
      return Promise.resolve(Response.json({ items: [] }));
    };
    await cairn({ url, token: "t", fetch }).kv.list("a/b", { prefix: "p" });
    expect(asked).toEqual(["https://cairn.test/memory/v1/users/a%2Fb/kv?prefix=p"]);
  },
);

it("rebuilds a user's index", async () => {
  const user = newUser();
  const { memories } = await client(undefined, await token(user));
  expect((await memories.reindexState(user)).status).toBe("none");
  expect((await memories.reindex(user)).startedAt).toBeTypeOf("number");
});
