// What the client and a Cairn behind it do together: run over the Worker, over the one in memory, and over a server.
import { expect, it } from "vitest";
import { type Cairn, type CairnOptions, cairn, type ResolveBody } from "../src/index.ts";

/** A Cairn to run the contract on. */
export type Subject = {
  /** Where it is, and a right of this user, or of all (`*`), to everything. */
  optionsOf: (user: string) => Promise<CairnOptions>;
};

let users = 0;
const newUser = (): string => `client-${++users}-${crypto.randomUUID()}`;

/** Registers the tests of the contract over what `subject` gives when they run. */
export function clientContract(subject: () => Subject): void {
  const client = async (user = newUser(), more: Partial<CairnOptions> = {}): Promise<Cairn> => {
    const options = await subject().optionsOf(user);
    return cairn({ ...options, ...more });
  };

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
    const user = newUser();
    const [one, two] = [await client(user, { namespace: "one" }), await client(user, { namespace: "two" })];
    await one.cache.set("k", 1);
    expect(await two.cache.get("k")).toBeNull();
    expect(await one.cache.get("k")).toBe(1);
  });

  it("resolves, reports and reads what was saved", async () => {
    const { promptCache, cache } = await client();
    const prompt: ResolveBody = {
      provider: "google",
      model: "gemini-2.5-pro",
      regions: ["system", { context: "V8Q-Ys2xUkgqUJnAQdqXZw" }],
      ttl: "1h",
    };
    const create = await promptCache.resolve(prompt);
    if (create.status !== "create") throw new Error(create.status);
    // Ahead of every Cairn's clock: that of the Worker under test is decades ahead of the real one.
    const resource = { name: "cachedContents/1", expiresAt: Date.UTC(2190, 0) };
    const { lease, ttlSeconds = 0 } = create;
    await cache.set(create.key, resource, { lease: lease.id, ttlSeconds });
    expect(await promptCache.resolve(prompt)).toMatchObject(resource);
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
    const { threads } = await client("*");
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
    const { kv } = await client(user);
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
    const { memories, recall } = await client(user);
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

    const unchanged = { code: "precondition_failed" };
    const late = memories.remember(user, { ...lives, object: "Faro" }, { ifVersion: porto.version });
    await expect(late).rejects.toMatchObject(unchanged);
    const again = memories.remember(user, { ...lives, object: "Faro" }, { ifVersion: null });
    await expect(again).rejects.toMatchObject(unchanged);
    const one = [{ ...lives, object: "Faro", ifVersion: porto.version }];
    await expect(memories.rememberMany(user, one)).rejects.toMatchObject(unchanged);

    const released = await memories.release(user, maybe.id, { ifVersion: maybe.version });
    expect(released.status).toBe("active");
    const hits = async (more: object) =>
      (await recall(user, { query: "Alice", kinds: ["fact"], filter: { subject: "alice" }, ...more })).hits;
    expect((await hits({})).map(({ object }) => object)).toEqual(["Porto"]);
    expect((await hits({ validAt: 1500 })).map(({ object }) => object)).toEqual(["Lisbon"]);

    await expect(memories.forget(user, maybe.id, { ifVersion: 999 })).rejects.toMatchObject({ status: 412 });
    await memories.forget(user, maybe.id, { ifVersion: released.version });
    const wanted = { subject: "Alice", predicate: "lives in" };
    for (const text of ["perhaps one", "perhaps two"])
      await memories.remember(user, { text, status: "quarantined" });
    const reviewed = [];
    for await (const { outcome } of memories.reviewAll(user, { decision: "reject" })) reviewed.push(outcome);
    expect(reviewed).toEqual(["rejected", "rejected"]);
    expect((await memories.forgetWhere(user, wanted, { dryRun: true })).count).toBe(1);
    expect(await memories.forgetWhere(user, wanted)).toEqual({ count: 1, ids: [porto.id] });
    await memories.remember(user, { text: "the last one" });
    await memories.forgetAll(user);
    expect((await memories.list(user)).items).toEqual([]);
  });

  it("rebuilds a user's index", async () => {
    const user = newUser();
    const { memories } = await client(user);
    expect((await memories.reindexState(user)).status).toBe("none");
    expect((await memories.reindex(user)).startedAt).toBeTypeOf("number");
  });

  it("reads a whole thread page by page, and as a stream, and what a user has in all", async () => {
    const user = newUser();
    const all = await client("*");
    const { id } = await all.threads.create(user, { agent: "a" });
    const said = Array.from({ length: 25 }, (_, i) => ({ role: "user", content: `message ${i}` }));
    await all.threads.append(id, said);
    const contents = async (items: AsyncIterable<{ message: { [field: string]: unknown } }>) => {
      const found: unknown[] = [];
      for await (const { message } of items) found.push(message.content);
      return found;
    };
    const wanted = said.map(({ content }) => content);
    expect(await contents(all.threads.messages(id, { limit: 10 }))).toEqual(wanted);
    expect(await contents(all.threads.stream(id))).toEqual(wanted);
    expect(await contents(all.threads.stream(id, { after: 23 }))).toEqual(wanted.slice(23));
    for (let i = 0; i < 3; i++) await all.threads.create(user, { title: `thread ${i}` });
    const titles: string[] = [];
    for await (const { title } of all.threads.all(user, { limit: 2 })) titles.push(title);
    expect(titles).toEqual(["thread 2", "thread 1", "thread 0", "New conversation"]);
    await all.kv.batch(
      user,
      ["a/1", "a/2", "a/3", "b"].map((key) => ({ op: "set", key, value: { key } })),
    );
    const keys: string[] = [];
    for await (const { key, value } of all.kv.all(user, { prefix: "a/", values: true, limit: 2 })) {
      expect(value).toEqual({ key });
      keys.push(key);
    }
    expect(keys).toEqual(["a/1", "a/2", "a/3"]);
    await all.memories.rememberMany(user, [{ text: "one" }, { text: "two" }, { text: "three" }]);
    const texts: string[] = [];
    for await (const { text } of all.memories.all(user, { limit: 2, order: "asc" })) texts.push(text);
    expect(texts.toSorted()).toEqual(["one", "three", "two"]);
  });

  it("gives values with the version that a write can demand", async () => {
    const user = newUser();
    const { kv, cache } = await client(user);
    await kv.set(user, "k", { n: 1 });
    const read = await kv.getVersioned<{ n: number }>(user, "k");
    expect(read?.value).toEqual({ n: 1 });
    await kv.set(user, "k", { n: 2 }, { ifVersion: read?.version });
    await expect(kv.set(user, "k", { n: 3 }, { ifVersion: read?.version })).rejects.toMatchObject({
      code: "precondition_failed",
    });
    expect(await kv.getVersioned(user, "none")).toBeNull();
    await cache.set("k", 1);
    const cached = await cache.getVersioned("k");
    await cache.forget("k", { version: cached?.version });
    expect(await cache.get("k")).toBeNull();
  });

  it("recalls what was remembered and said, by words and by meaning, and nobody else's", async () => {
    const [user, other] = [newUser(), newUser()];
    const mine = await client(user);
    await mine.memories.remember(user, { text: "I moved to Lisbon in March" });
    await mine.memories.remember(user, { text: "My sister plays the cello" });
    const thread = await mine.threads.create(user);
    await mine.threads.append(thread.id, [{ role: "user", content: "the invoice is number 4711" }]);
    const first = async (query: string) => (await mine.recall(user, { query })).hits[0]?.text;
    expect(await first("which city do I live in?")).toBe("I moved to Lisbon in March");
    expect(await first("sister's cello")).toBe("My sister plays the cello");
    expect(await first("invoice 4711")).toBe("the invoice is number 4711");
    expect((await (await client(other)).recall(other, { query: "Lisbon" })).hits).toEqual([]);
  });

  it("keeps users apart, and says which field is wrong", async () => {
    const [user, other] = [newUser(), newUser()];
    const [mine, theirs] = [await client(user), await client(other)];
    const thread = await mine.threads.create(user);
    expect(await theirs.threads.get(thread.id)).toBeNull();
    await expect(theirs.kv.set(user, "k", 1)).rejects.toMatchObject({ code: "not_found", status: 404 });
    // What a program without types may send.
    const wrong = { textt: "typo" } as object;
    await expect(mine.memories.remember(user, wrong)).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "body.textt", message: expect.stringMatching(/^is unknown/) }, { path: "body.text" }],
    });
    await expect(mine.kv.list(user, { cursor: "nonsense" })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  it("does a write once under its key, and refuses the key for another", async () => {
    const user = newUser();
    const { threads } = await client(user);
    const idempotencyKey = crypto.randomUUID();
    const { id } = await threads.create(user, { title: "one" }, { idempotencyKey });
    expect((await threads.create(user, { title: "one" }, { idempotencyKey })).id).toBe(id);
    await expect(threads.create(user, { title: "two" }, { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });

  it("lets an entry go when its time is over", async () => {
    const user = newUser();
    const { kv } = await client(user);
    await kv.set(user, "short", 1, { ttlMs: 1 });
    await kv.set(user, "long", 2, { ttlMs: 60_000 });
    await expect.poll(() => kv.get(user, "short")).toBeNull();
    expect(await kv.get(user, "long")).toBe(2);
  });

  it("says what is live", async () => {
    const { tenant } = await client("*");
    expect(await tenant.health()).toMatchObject({ status: "ok", vectorIndex: "object" });
    expect((await tenant.openapi()).openapi).toBe("3.1.0");
  });
}
