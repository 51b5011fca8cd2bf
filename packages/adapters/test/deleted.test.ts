// What one adapter has written and another one deletes is gone for all of them, and with it what was kept of it elsewhere.
import { describe, expect, inject, it } from "vitest";
import { memoryTools } from "../src/ai-sdk.ts";
import { cairnUserMemory } from "../src/gemstack.ts";
import { CairnStore } from "../src/langgraph.ts";
import { molrooMemory } from "../src/molroo.ts";
import type { Cairn } from "../../client/src/index.ts";
import { clientOf, newUser, tokenOf } from "./cairn.ts";
import { agent } from "./dex.ts";

type At = { user: string; memory: Cairn };
type Steps = Record<string, (at: At) => Promise<unknown>>;

const boat = { subject: "Ana", predicate: "keeps her boat in", object: "Setúbal" };
const named = { subject: boat.subject, predicate: boat.predicate };
const BOAT = "Ana keeps her boat in Setúbal";
const storeOf = (at: At) => new CairnStore({ ...at, index: { fields: ["text", "also"] } });
const allOf = async ({ user, memory }: At) => {
  const all: { id: string }[] = [];
  for await (const one of memory.memories.all(user)) all.push(one);
  return all;
};

/** Through MCP, as a client of it calls a tool. */
async function callTool(user: string, name: string, given: object): Promise<void> {
  const response = await fetch(`${inject("cairn").url}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${await tokenOf(user)}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }),
  });
  expect(await response.text()).not.toContain('isError":true');
  expect(response.status).toBe(200);
}

/** Facts without a subject, which are forgotten by their ids or all at once. */
const plain: Steps = {
  api: ({ user, memory }) => memory.memories.remember(user, { text: BOAT }),
  gemstack: ({ user, memory }) => cairnUserMemory({ memory }).remember(user, BOAT),
  "langgraph's store": (at) => storeOf(at).put(["boats"], "ana", { text: BOAT, year: 2026 }),
  "langgraph's store, an item of two texts": (at) =>
    storeOf(at).put(["boats"], "ana", { text: BOAT, also: "She sails on Sundays" }),
  "langgraph's store, a large item": (at) =>
    storeOf(at).put(["boats"], "ana", { text: BOAT, log: "x".repeat(300_000) }),
};
const triples: Steps = {
  "ai-sdk": (at) => memoryTools(at).memory_remember_fact.execute(boat, {}),
  dex: async ({ user }) => (await agent({ user })).call("memory_remember_fact", boat),
  mcp: ({ user }) => callTool(user, "memory_remember_fact", boat),
};
const episodes: Steps = {
  "molroo, a large episode": (at) =>
    molrooMemory({ ...at, scope: "s" }).saveEpisode({
      id: "e",
      timestamp: Date.UTC(2026, 0, 1),
      type: "chat_message",
      context: `${BOAT} ${"x".repeat(300_000)}`,
      importance: 0.6,
      emotionSnapshot: { V: 0.4, A: 0.1, D: 0 },
    }),
};

const everything: Steps = {
  "the API, by id": async (at) => {
    const [first] = await allOf(at);
    await at.memory.memories.forget(at.user, first?.id ?? "");
  },
  "the API, by filter": ({ user, memory }) =>
    memory.memories.forgetWhere(user, { kinds: ["fact", "episode"] }),
  "the API, all memories": ({ user, memory }) => memory.memories.forgetAll(user),
  "gemstack's forgetAll": ({ user, memory }) => cairnUserMemory({ memory }).forgetAll(user),
  "an erasure of the user": ({ user, memory }) => memory.erasures.user(user),
};
const oneFact: Steps = {
  "gemstack's forget": async ({ user, memory }) => {
    const facts = cairnUserMemory({ memory });
    const listed = await facts.list(user);
    // The last one: an item of LangGraph's store may be several.
    await facts.forget(user, listed.at(-1)?.id ?? "");
  },
};
const byName: Steps = {
  "ai-sdk's tool": (at) => memoryTools(at).memory_forget_fact.execute(named, {}),
  "dex's tool": async ({ user }) => (await agent({ user })).call("memory_forget_fact", named),
  "mcp's tool": ({ user }) => callTool(user, "memory_forget_fact", named),
};
const ofLangGraph: Steps = {
  "langgraph's delete": (at) => storeOf(at).delete(["boats"], "ana"),
  "an erasure of the scope": ({ user, memory }) => memory.erasures.scope(user, "langgraph/store/"),
};

const ASKED = "Where does Ana keep her boat?";
const read: Record<string, (at: At) => Promise<unknown>> = {
  "the API's list": allOf,
  "the API's entries": async ({ user, memory }) => (await memory.kv.list(user)).items,
  "the API's recall": async ({ user, memory }) => (await memory.recall(user, { query: ASKED })).hits,
  "gemstack's list": ({ user, memory }) => cairnUserMemory({ memory }).list(user),
  "gemstack's recall": ({ user, memory }) => cairnUserMemory({ memory }).recall(user, ASKED),
  "langgraph's get": async (at) => (await storeOf(at).get(["boats"], "ana")) ?? [],
  "langgraph's search": (at) => storeOf(at).search(["boats"]),
  "langgraph's search by meaning": (at) => storeOf(at).search(["boats"], { query: ASKED }),
  "molroo's recall": (at) => molrooMemory({ ...at, scope: "s" }).recall({}),
};
const seen = async (at: At) =>
  Object.fromEntries(
    await Promise.all(Object.entries(read).map(async ([name, ask]) => [name, await ask(at)] as const)),
  );
const NOTHING = Object.fromEntries(Object.keys(read).map((name) => [name, []]));

const isLangGraphs = (writer: string): boolean => writer.startsWith("langgraph");
const pairs = (writers: Steps, deleters: Steps) =>
  Object.entries(writers).flatMap(([writer, write]) =>
    Object.entries(deleters).map(([deleter, remove]) => ({ writer, deleter, write, remove })),
  );
const langGraphs = Object.fromEntries(Object.entries(plain).filter(([writer]) => isLangGraphs(writer)));
const matrix = [
  ...pairs({ ...plain, ...triples }, { ...everything, ...oneFact }),
  ...pairs(triples, byName),
  ...pairs(langGraphs, ofLangGraph),
  ...pairs(episodes, everything),
];

describe("what was written by", () => {
  it.each(matrix)("$writer and deleted by $deleter is gone for every adapter", async ({ write, remove }) => {
    const user = newUser();
    const [writing, deleting, reading] = [await clientOf(user), await clientOf(user), await clientOf(user)];
    await write({ user, memory: writing });
    expect(await allOf({ user, memory: reading })).not.toEqual([]);
    await remove({ user, memory: deleting });
    expect(await seen({ user, memory: reading })).toEqual(NOTHING);
    // Also what no list shows.
    const exported = await new Response(await reading.transfer.export(user)).text();
    expect(exported).not.toContain("Setúbal");
    expect(exported).not.toContain("x".repeat(100));
  });
});

describe("an item of LangGraph's store", () => {
  it("stays when it is put again with fewer texts, and when what it was found by has expired", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = storeOf({ user, memory });
    await store.put(["boats"], "ana", { text: BOAT, also: "She sails on Sundays" });
    await store.put(["boats"], "ana", { text: BOAT });
    expect((await store.get(["boats"], "ana"))?.value).toEqual({ text: BOAT });
    await memory.memories.forgetWhere(user, { kinds: ["fact"] }, { keepEntries: true });
    expect((await store.get(["boats"], "ana"))?.value).toEqual({ text: BOAT });
  });

  it("leaves those beside it, whoever deletes it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = storeOf({ user, memory });
    await store.put(["boats"], "ana", { text: BOAT });
    await store.put(["boats"], "ana2", { text: "Rui keeps his boat in Faro" });
    const facts = cairnUserMemory({ memory });
    const [{ id } = { id: "" }] = (await facts.list(user)).filter(({ fact }) => fact === BOAT);
    await facts.forget(user, id);
    expect((await store.search(["boats"])).map(({ key }) => key)).toEqual(["ana2"]);
  });
});
