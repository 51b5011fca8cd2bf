import { AsyncBatchedStore, BaseStore, InMemoryStore, type Operation } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { fitsFilter } from "../src/langgraph/item-filter.ts";
import { textsAt } from "../src/langgraph/texts-at-path.ts";
import { CairnStore, type CairnStoreOptions } from "../src/langgraph.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { fromNow } from "../../../test/from-now.ts";
import { clocked, pass } from "./clocked.ts";

const newStore = async (
  options: Partial<CairnStoreOptions> = {},
  client: Partial<CairnOptions> = {},
): Promise<CairnStore> => {
  const user = options.user ?? newUser();
  return new CairnStore({ memory: await clientOf(user, client), user, ...options });
};

const namesOf = (items: readonly { namespace: string[]; key: string }[]): string[] =>
  items.map(({ namespace, key }) => [...namespace, key].join("/"));

/** The same over both stores; what differs in time is left out. */
const both = async (run: (store: BaseStore) => Promise<unknown>): Promise<[ours: unknown, theirs: unknown]> =>
  Promise.all([run(await newStore()), run(new InMemoryStore())]);

describe("get, put and delete", () => {
  it("keep a value under a namespace and a key", async () => {
    const store = await newStore();
    expect(await store.get(["a", "b"], "k")).toBeNull();
    await store.put(["a", "b"], "k", { n: 1, nested: { list: [1, "zwei", null] } });
    const item = await store.get(["a", "b"], "k");
    expect(item).toMatchObject({ namespace: ["a", "b"], key: "k" });
    expect(item?.value).toEqual({ n: 1, nested: { list: [1, "zwei", null] } });
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(await store.get(["a"], "k")).toBeNull();
    expect(await store.get(["a", "b", "c"], "k")).toBeNull();
    await store.delete(["a", "b"], "k");
    expect(await store.get(["a", "b"], "k")).toBeNull();
    await store.delete(["a", "b"], "k");
  });

  it("keep when an item was created as it is replaced, and note when that was", async () => {
    const store = await newStore();
    await store.put(["a"], "k", { n: 1 });
    const first = await store.get(["a"], "k");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.put(["a"], "k", { n: 2 });
    const second = await store.get(["a"], "k");
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThan(first?.updatedAt.getTime() ?? Infinity);
    expect(second?.value).toEqual({ n: 2 });
  });

  it("take keys and labels of any characters and any length", async () => {
    const store = await newStore();
    const keys = [
      "",
      ".",
      "..",
      "a/b",
      "a%2Fb",
      "a//b",
      "#",
      "ключ",
      "🙂",
      "x".repeat(3000),
      "y".repeat(3000),
    ];
    await store.batch(keys.map((key, n) => ({ namespace: ["ns/1", "%2F", "#"], key, value: { n } })));
    const items = await store.batch(keys.map((key) => ({ namespace: ["ns/1", "%2F", "#"], key })));
    expect(items.map((item) => item?.value.n)).toEqual(keys.map((_, n) => n));
    expect(items.map((item) => item?.key)).toEqual(keys);
    expect(await store.listNamespaces()).toEqual([["ns/1", "%2F", "#"]]);
  });

  it("refuse namespaces that the SDK refuses", async () => {
    const store = await newStore();
    await expect(store.put([], "k", {})).rejects.toThrow("Namespace cannot be empty");
    await expect(store.put(["a.b"], "k", {})).rejects.toThrow("cannot contain periods");
    await expect(store.put(["langgraph"], "k", {})).rejects.toThrow("langgraph");
    await expect(store.batch([{ namespace: ["a:b"], key: "k", value: {} }])).rejects.toThrow("colons");
  });

  it("take values larger than an entry, and leave nothing of the one before", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user });
    const big = { text: 'ä🙂"\u0001'.repeat(400_000) };
    await store.put(["big"], "k", big);
    expect((await store.get(["big"], "k"))?.value).toEqual(big);
    expect((await store.search(["big"]))[0]?.value).toEqual(big);
    const bigger = { text: "b".repeat(20_000_000) };
    await store.put(["big"], "k", bigger);
    expect((await store.get(["big"], "k"))?.value).toEqual(bigger);
    await store.put(["big"], "k", { text: "small" });
    expect((await memory.kv.list(user, { count: true })).count).toBe(1);
    await store.put(["big"], "k", big);
    await store.delete(["big"], "k");
    expect((await memory.kv.list(user, { count: true })).count).toBe(0);
  });
});

describe("batch", () => {
  it("answers each operation in its place, from before the batch", async () => {
    const [ours, theirs] = await both(async (store) => {
      await store.put(["a"], "old", { n: 1 });
      const operations: Operation[] = [
        { namespace: ["a"], key: "old" },
        { namespace: ["a"], key: "new", value: { n: 2 } },
        { namespace: ["a"], key: "new" },
        { namespacePrefix: ["a"], limit: 10, offset: 0 },
        { matchConditions: [], limit: 10, offset: 0 },
        { namespace: ["a"], key: "old", value: null },
      ];
      const results = await store.batch(operations);
      const after = await store.batch([
        { namespace: ["a"], key: "old" },
        { namespace: ["a"], key: "new" },
      ]);
      return JSON.parse(
        JSON.stringify([results, after], (name, value: unknown) => (name.endsWith("At") ? undefined : value)),
      );
    });
    expect(ours).toEqual(theirs);
  });

  it("lets the last of two writes of one item count", async () => {
    const store = await newStore();
    await store.batch([
      { namespace: ["a"], key: "k", value: { n: 1 } },
      { namespace: ["a"], key: "k", value: { n: 2 } },
    ]);
    expect((await store.get(["a"], "k"))?.value).toEqual({ n: 2 });
  });

  it("takes more items than one call of the server", async () => {
    const store = await newStore({ index: { fields: ["text"] } });
    const keys = Array.from({ length: 1200 }, (_, n) => `k${n}`);
    await store.batch(
      keys.map((key, n) => ({ namespace: ["many"], key, value: { n, text: `number ${n}` } })),
    );
    const items = await store.batch(keys.map((key) => ({ namespace: ["many"], key })));
    expect(items.map((item) => item?.value.n)).toEqual(keys.map((_, n) => n));
    expect(await store.search(["many"], { limit: 5000 })).toHaveLength(1200);
    await store.batch(keys.map((key) => ({ namespace: ["many"], key, value: null })));
    expect(await store.search(["many"], { limit: 5000 })).toEqual([]);
  });

  it("works behind the SDK's own batching, as a graph uses it", async () => {
    const store = new AsyncBatchedStore(await newStore());
    store.start();
    await Promise.all([store.put(["a"], "x", { n: 1 }), store.put(["a"], "y", { n: 2 })]);
    expect(namesOf(await store.search(["a"]))).toEqual(["a/x", "a/y"]);
    await store.stop();
  });
});

describe("search without a query", () => {
  const filled = async (store: BaseStore) => {
    await store.put(["docs"], "1", { kind: "a", n: 1, tags: ["x"], at: "2026-01-01" });
    await store.put(["docs", "sub"], "2", { kind: "b", n: 2, tags: ["y"], at: "2026-02-01" });
    await store.put(["docs", "sub", "sub"], "3", { kind: "a", n: 3, at: "2026-03-01" });
    await store.put(["docsy"], "4", { kind: "a", n: 4 });
    await store.put(["docs"], "1", { kind: "a", n: 1.5, tags: ["x"], at: "2026-01-01" });
    return store;
  };

  it("finds what is under a namespace, in the order of creation, and not what only begins alike", async () => {
    const [ours, theirs] = await both(async (store) => namesOf(await (await filled(store)).search(["docs"])));
    expect(ours).toEqual(["docs/1", "docs/sub/2", "docs/sub/sub/3"]);
    expect(ours).toEqual(theirs);
  });

  it("finds everything under no namespace, and pages through it", async () => {
    const store = await filled(await newStore());
    const all = namesOf(await store.search([]));
    expect(all).toHaveLength(4);
    const pages = [
      ...(await store.search([], { limit: 3 })),
      ...(await store.search([], { limit: 3, offset: 3 })),
    ];
    expect(namesOf(pages)).toEqual(all);
    expect(await store.search([], { limit: 3, offset: 4 })).toEqual([]);
    expect(pages[0]).not.toHaveProperty("score");
  });

  it.each([
    [{ kind: "a" }, ["1", "3"]],
    [{ kind: "a", n: 3 }, ["3"]],
    [{ n: { $eq: 2 } }, ["2"]],
    [{ kind: { $ne: "a" } }, ["2"]],
    [{ n: { $gt: 1.5 } }, ["2", "3"]],
    [{ n: { $gte: 1.5 } }, ["1", "2", "3"]],
    [{ n: { $lt: 2 } }, ["1"]],
    [{ n: { $lte: 2, $gt: 1.5 } }, ["2"]],
    [{ kind: { $in: ["b", "c"] } }, ["2"]],
    [{ kind: { $nin: ["b", "c"] } }, ["1", "3"]],
    [{ tags: ["y"] }, ["2"]],
    [{ at: { $gte: "2026-02-01" } }, ["2", "3"]],
    [{ missing: undefined }, ["1", "2", "3"]],
    [{ missing: 1 }, []],
  ])("filters by %j", async (filter, keys) => {
    const store = await filled(await newStore());
    expect((await store.search(["docs"], { filter })).map(({ key }) => key)).toEqual(keys);
  });

  it("ignores a query if the store has no index, as the reference does", async () => {
    const [ours, theirs] = await both(async (store) =>
      namesOf(await (await filled(store)).search(["docs"], { query: "b" })),
    );
    expect(ours).toEqual(theirs);
  });
});

describe("listNamespaces", () => {
  const namespaces = [["a", "b", "c"], ["a", "b", "d", "e"], ["a", "x", "c"], ["ab"], ["z", "b", "c"]];
  const filled = async (store: BaseStore) => {
    await store.batch(namespaces.map((namespace) => ({ namespace, key: "k", value: {} })));
    await store.put(["a", "b", "c"], "k2", {});
    return store;
  };

  it.each([
    [{}],
    [{ prefix: ["a"] }],
    [{ prefix: ["a", "*", "c"] }],
    [{ prefix: ["*", "b"] }],
    [{ suffix: ["c"] }],
    [{ suffix: ["b", "*"] }],
    [{ prefix: ["a"], suffix: ["c"] }],
    [{ maxDepth: 1 }],
    [{ maxDepth: 2, prefix: ["a"] }],
    [{ limit: 2 }],
    [{ limit: 2, offset: 2 }],
    [{ offset: 4 }],
    [{ prefix: ["nowhere"] }],
    [{ prefix: ["a", "b", "c", "d", "e"] }],
  ])("answers %j as the reference does", async (options) => {
    const [ours, theirs] = await both(async (store) => (await filled(store)).listNamespaces(options));
    expect(ours).toEqual(theirs);
  });

  it("forgets a namespace with its last item", async () => {
    const store = await filled(await newStore());
    await store.delete(["ab"], "k");
    expect(await store.listNamespaces({ prefix: ["ab"] })).toEqual([]);
  });
});

describe("search by meaning", () => {
  const facts = [
    ["food", "Alice loves spicy ramen"],
    ["pet", "Her cat is called Minka"],
    ["home", "She moved to Lisbon in March"],
  ] as const;
  const filled = async (store: BaseStore) => {
    await store.batch(
      facts.map(([key, text]) => ({ namespace: ["alice", "facts"], key, value: { text, kind: key } })),
    );
    return store;
  };

  it("puts what answers the query first, with scores that go down, and all else behind it", async () => {
    const store = await filled(await newStore({ index: { fields: ["text"] } }));
    await store.put(["alice", "facts"], "hidden", { text: "Where does she live? Nobody knows" }, false);
    const found = await store.search(["alice"], { query: "which city does she live in?" });
    expect(found[0]?.key).toBe("home");
    expect(found).toHaveLength(4);
    const scores = found.flatMap(({ score }) => score ?? []);
    expect(scores.length).toBeGreaterThan(0);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(found.find(({ key }) => key === "hidden")).not.toHaveProperty("score");
    expect(found.at(-1)?.key).toBe("hidden");
  });

  it("stays within the namespace, and the filter, and the page", async () => {
    const store = await filled(await newStore({ index: { fields: ["text"] } }));
    await store.put(["bob", "facts"], "home", { text: "He moved to Porto, the city that he lives in" });
    await store.put(["alice", "facts2"], "home", { text: "The city of facts2 is Berlin" });
    const query = "which city?";
    expect(namesOf(await store.search(["alice", "facts"], { query }))).not.toContain("bob/facts/home");
    expect(namesOf(await store.search(["alice", "facts"], { query }))).not.toContain("alice/facts2/home");
    expect(namesOf(await store.search(["alice", "facts"], { query, limit: 1 }))).toEqual([
      "alice/facts/home",
    ]);
    expect((await store.search(["alice"], { query, filter: { kind: { $ne: "home" } } }))[0]?.key).not.toBe(
      "food2",
    );
    const all = namesOf(await store.search([], { query }));
    const pages = [
      ...(await store.search([], { query, limit: 2 })),
      ...(await store.search([], { query, limit: 3, offset: 2 })),
    ];
    expect(namesOf(pages)).toEqual(all);
  });

  it("finds an item by each of its fields, also in lists, once", async () => {
    const store = await newStore({ index: { fields: ["title", "chapters[*].content"] } });
    await store.put(["books"], "sea", {
      title: "Stories of the sea",
      chapters: [{ content: "A whale sinks the ship" }, { content: "The captain marries a baker" }],
    });
    await store.put(["books"], "hill", {
      title: "Stories of a hill",
      chapters: [{ content: "Sheep graze" }],
    });
    const found = await store.search(["books"], { query: "a wedding of the captain" });
    expect(namesOf(found)).toEqual(["books/sea", "books/hill"]);
  });

  it("indexes what a put names instead, and the whole value if nothing is named", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user, index: {} });
    await store.put(["a"], "whole", { x: 1 });
    await store.put(["a"], "named", { x: 1, note: "the gate code is 4711" }, ["note"]);
    const texts = (await memory.memories.list(user)).items.map(({ text }) => text);
    expect(texts.toSorted()).toEqual(['{\n  "x": 1\n}', "the gate code is 4711"].toSorted());
  });

  it("follows what is replaced and deleted, and leaves nothing behind", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user, index: { fields: ["notes[*]"] } });
    await store.put(["a"], "k", { notes: ["tulips in spring", "skates in winter", "kites in autumn"] });
    await store.put(["a"], "k", { notes: ["boats in summer"] });
    const { items } = await memory.memories.list(user);
    expect(items.map(({ text }) => text)).toEqual(["boats in summer"]);
    const [found] = await store.search(["a"], { query: "tulips" });
    expect(found?.value).toEqual({ notes: ["boats in summer"] });
    await store.delete(["a"], "k");
    expect((await memory.memories.list(user)).items).toEqual([]);
    expect((await memory.kv.list(user)).items).toEqual([]);
  });

  it("scores items that say the same alike", async () => {
    const store = await newStore({ index: { fields: ["text"] } });
    for (const key of ["1", "2"]) await store.put(["a"], key, { text: "The bakery opens at seven" });
    await store.put(["a"], "3", { text: "Cats sleep" });
    const found = await store.search(["a"], { query: "when does the bakery open?" });
    expect(namesOf(found.slice(0, 2)).toSorted()).toEqual(["a/1", "a/2"]);
    expect(found[0]?.score).toBe(found[1]?.score);
  });

  it("finds texts longer than a memory, and takes queries longer than the server's", async () => {
    const store = await newStore({ index: { fields: ["text"] } });
    await store.put(["a"], "long", {
      text: `${"Nothing happens here. ".repeat(3000)} The treasure lies under the oak.`,
    });
    await store.put(["a"], "other", { text: "Cats sleep" });
    const found = await store.search(["a"], { query: `where is the treasure? ${"🙂".repeat(9000)}` });
    expect(found[0]?.key).toBe("long");
  });

  it("indexes texts longer than a call, under keys longer than metadata", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user, index: { fields: ["text"] } });
    const key = "k".repeat(20_000);
    await store.put(["a"], key, { text: `${"\u0001".repeat(3_000_000)} the lighthouse` });
    const [found] = await store.search(["a"], { query: "lighthouse" });
    expect(found).toMatchObject({ key, score: expect.any(Number) });
    await store.delete(["a"], key);
    expect((await memory.memories.list(user)).items).toEqual([]);
  });

  it("is found by what uses Cairn without this adapter", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    await filled(new CairnStore({ memory, user, index: { fields: ["text"] } }));
    const { hits } = await memory.recall(user, { query: "what is the cat's name?" });
    expect(hits[0]?.text).toBe("Her cat is called Minka");
    expect(hits[0]?.metadata).toMatchObject({ key: "pet", namespace0: "alice", namespace1: "facts" });
  });
});

describe("a crash between the two writes of a put", () => {
  /** A store whose calls fail that are meant, once there is a reason to. */
  const breakable = async (isMeant: (path: string, body: string) => boolean, user: string) => {
    const state = { broken: false };
    const answer = async (request: Request) => {
      const { pathname } = new URL(request.url);
      const isLost = state.broken && isMeant(pathname, await request.clone().text());
      return isLost ? new Response("", { status: 503 }) : fetch(request);
    };
    const store = await newStore({ user, index: { fields: ["text"] } }, { retry: false, fetch: answer });
    return { store, state };
  };
  const isOfMemories = (path: string) => path.includes("/memories");

  it("leaves the old item, and what it is found by is mended by a search that meets it", async () => {
    const user = newUser();
    const { store, state } = await breakable((_, body) => body.includes('"op":"set"'), user);
    await store.put(["a"], "k", { text: "The spare key is under the mat" });
    state.broken = true;
    const put = store.put(["a"], "k", { text: "The spare key is with the neighbour" });
    await expect(put).rejects.toMatchObject({ status: 503 });
    state.broken = false;
    const memory = await clientOf(user);
    const [remembered] = (await memory.memories.list(user)).items;
    expect(remembered?.text).toBe("The spare key is with the neighbour");
    expect((await store.get(["a"], "k"))?.value).toEqual({ text: "The spare key is under the mat" });
    vi.useFakeTimers({ toFake: ["Date"], now: fromNow(600_000) });
    try {
      const found = await store.search(["a"], { query: "spare key neighbour" });
      expect(found[0]?.value).toEqual({ text: "The spare key is under the mat" });
      const texts = async () => (await memory.memories.list(user)).items.map(({ text }) => text);
      await expect.poll(texts).toEqual(["The spare key is under the mat"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("of the server is not taken for an empty store", async () => {
    let status = 0;
    const store = await newStore(
      { index: {} },
      { retry: false, fetch: (request) => (status === 0 ? fetch(request) : new Response("", { status })) },
    );
    await store.put(["a"], "k", { n: 1 });
    for (status of [429, 503]) {
      await expect(store.get(["a"], "k")).rejects.toMatchObject({ status });
      await expect(store.search(["a"])).rejects.toMatchObject({ status });
      await expect(store.search(["a"], { query: "n" })).rejects.toMatchObject({ status });
      await expect(store.listNamespaces()).rejects.toMatchObject({ status });
      await expect(store.delete(["a"], "k")).rejects.toMatchObject({ status });
    }
    status = 0;
    expect((await store.get(["a"], "k"))?.value).toEqual({ n: 1 });
  });

  it("rejects, and the same put again heals it", async () => {
    const user = newUser();
    const { store, state } = await breakable(isOfMemories, user);
    state.broken = true;
    await expect(store.put(["a"], "k", { text: "one" })).rejects.toMatchObject({ status: 503 });
    expect(await store.get(["a"], "k")).toBeNull();
    state.broken = false;
    await store.put(["a"], "k", { text: "one" });
    expect((await store.search(["a"], { query: "one" }))[0]).toMatchObject({
      key: "k",
      score: expect.any(Number),
    });
  });

  it("of a delete leaves nothing that is found, and the same delete again takes the rest along", async () => {
    const user = newUser();
    const { store, state } = await breakable(isOfMemories, user);
    await store.put(["a"], "k", { text: "The code is 4711" });
    state.broken = true;
    await expect(store.delete(["a"], "k")).rejects.toMatchObject({ status: 503 });
    expect(await store.search(["a"], { query: "code" })).toEqual([]);
    state.broken = false;
    await store.delete(["a"], "k");
    expect((await (await clientOf(user)).memories.list(user)).items).toEqual([]);
  });
});

describe("time to live", () => {
  it("ends an item, and what it is found by no later than it has to", async () => {
    const user = newUser();
    const memory = await clientOf(user, await clocked(user));
    const store = new CairnStore({
      memory,
      user,
      index: { fields: ["text"] },
      ttl: { defaultTtl: 10, refreshOnRead: false },
    });
    await store.put(["a"], "k", { text: "short lived" });
    expect(await store.get(["a"], "k")).not.toBeNull();
    const [found] = (await memory.memories.list(user)).items;
    expect(found?.expiresAt).toBeGreaterThan(fromNow(60_000));
    await pass(601_000);
    expect(await store.get(["a"], "k")).toBeNull();
    expect(await store.search(["a"], { query: "short" })).toEqual([]);
    expect(await store.listNamespaces()).toEqual([]);
  });

  it("begins anew with each read, by key or by search", async () => {
    const user = newUser();
    const store = await newStore({ user, ttl: { defaultTtl: 4 } }, await clocked(user));
    await store.put(["a"], "k", { n: 1 });
    await store.put(["b"], "k", { n: 1 });
    for (let i = 0; i < 3; i++) {
      await pass(90_000);
      expect(await store.search(["a"])).toHaveLength(1);
    }
    expect(await store.get(["a"], "k")).not.toBeNull();
    expect(await store.get(["b"], "k")).toBeNull();
  });

  it("keeps an item that is read findable", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user, index: { fields: ["text"] }, ttl: { defaultTtl: 2 } });
    await store.put(["a"], "k", { text: "kept alive" });
    const [before] = (await memory.memories.list(user)).items;
    vi.useFakeTimers({ toFake: ["Date"], now: fromNow(150_000) });
    try {
      await store.get(["a"], "k");
      const expiry = async () => (await memory.memories.list(user)).items[0]?.expiresAt;
      await expect.poll(expiry).toBeGreaterThan((before?.expiresAt ?? 0) + 100_000);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("one user", () => {
  it("has nothing of another's", async () => {
    const [alice, bob] = [newUser(), newUser()];
    const ofAlice = await newStore({ user: alice, index: {} });
    await ofAlice.put(["a"], "k", { text: "mine" });
    const memory = await clientOf(bob);
    await expect(new CairnStore({ memory, user: alice }).get(["a"], "k")).rejects.toMatchObject({
      status: 404,
    });
    expect(await new CairnStore({ memory, user: bob }).search([])).toEqual([]);
  });

  it("is erased with its items, and with what they are found by", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user, index: {} });
    await store.put(["a"], "k", { text: "mine" });
    await memory.erasures.user(user);
    expect(await store.search([], { query: "mine" })).toEqual([]);
    expect((await memory.memories.list(user)).items).toEqual([]);
  });

  it("can have several stores, each of its own prefix", async () => {
    const user = newUser();
    const one = await newStore({ user, prefix: "one/", index: {} });
    const two = await newStore({ user, prefix: "two/", index: {} });
    await one.put(["a"], "k", { text: "only in one" });
    expect(await two.search([], { query: "only in one" })).toEqual([]);
    expect(await two.listNamespaces()).toEqual([]);
  });
});

describe("paths and filters", () => {
  const value = {
    title: "T",
    n: 5,
    on: false,
    none: null,
    author: { name: "A", tags: ["x", "y"] },
    chapters: [{ content: "one" }, { content: "two" }, {}],
  };

  it.each([
    ["title", ["T"]],
    ["n", ["5"]],
    ["on", ["false"]],
    ["none", []],
    ["missing.deeper", []],
    ["author.name", ["A"]],
    ["author.tags[*]", ["x", "y"]],
    ["author.tags[1]", ["y"]],
    ["author.tags[-1]", ["y"]],
    ["author.tags[7]", []],
    ["chapters[*].content", ["one", "two"]],
    ["chapters[0]", ['{\n  "content": "one"\n}']],
    ["{title,author.name}", ["T", "A"]],
    ["author.*", ["A", '[\n  "x",\n  "y"\n]']],
    ["toString", []],
    ["$", [JSON.stringify(value, null, 2)]],
  ])("finds the texts at %s", (path, texts) => {
    expect(textsAt(value, path)).toEqual(texts);
  });

  it("a filter of a value's own fields fits it, and $ne of any of them does not", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.boolean())), (fields) => {
        expect(fitsFilter(fields, fields)).toBe(true);
        for (const [name, held] of Object.entries(fields))
          expect(fitsFilter(fields, { [name]: { $ne: held } })).toBe(false);
      }),
    );
  });
});

it("is a BaseStore by its types", async () => {
  const store: BaseStore = await newStore();
  expect(store).toBeInstanceOf(BaseStore);
});
