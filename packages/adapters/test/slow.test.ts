// A store's method ends at its limit, however many calls it makes, and though Cairn answers each of them below the limit.
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Cairn, cairn } from "../../client/src/index.ts";
import { agentMemory } from "../src/agent-memory.ts";
import { cairnMemoryStore } from "../src/ai-employee.ts";
import { cairnMemoryFiles } from "../src/anthropic.ts";
import { dexMemory } from "../src/dex.ts";
import { cairnCache, cairnConversations, cairnUserMemory } from "../src/gemstack.ts";
import { cairnKeyv } from "../src/keyv.ts";
import { KeyedEntries } from "../src/entries/keyed-entries.ts";
import { CairnSaver, CairnStore } from "../src/langgraph.ts";
import { cairnSemanticRecall, CairnMemoryStorage } from "../src/mastra.ts";
import { molrooMemory } from "../src/molroo.ts";
import { cairnStorage } from "../src/noetic.ts";
import { cairnSession } from "../src/openai-agents.ts";
import { cairnDriver } from "../src/unstorage.ts";
import { realTime } from "../../client/src/retry.ts";

const user = "alice";
/** More than one batch reads. */
const KEYS = Array.from({ length: 30_000 }, (_, i) => `k${i}`);

const methods: Record<string, (memory: Cairn) => Promise<unknown>> = {
  "AI Employee's store": (memory) => cairnMemoryStore({ memory, user }).list(""),
  "Noetic's storage": (memory) => cairnStorage({ memory, user }).list(""),
  unstorage: (memory) => cairnDriver({ memory, user }).getKeys(),
  Keyv: (memory) => cairnKeyv({ memory, user }).hasMany(KEYS),
  "Anthropic's memory tool": async (memory) =>
    cairnMemoryFiles({ memory, user }).view({ command: "view", path: "/memories" }),
  "Dex's tools": async (memory) => {
    const { tools } = dexMemory({ memory, user, projectRoot: "/shop", procedureOwner: user });
    await tools
      .find(({ name }) => name === "memory_store_procedure")
      ?.execute({ title: "Release", body: "Tag it" });
  },
  molroo: (memory) => molrooMemory({ memory, user, onError: () => {} }).recall({}),
  "the OpenAI Agents SDK's session": (memory) =>
    cairnSession({ memory, user, sessionId: "s" }).clearSession(),
  "GemStack's conversations": (memory) => cairnConversations({ memory, user }).list(),
  "GemStack's user memory": (memory) => cairnUserMemory({ memory }).list(user),
  "LangGraph's store": (memory) => new CairnStore({ memory, user }).listNamespaces(),
  "LangGraph's saver": (memory) =>
    new CairnSaver({ memory, user }).getTuple({ configurable: { thread_id: "t" } }),
  "Mastra's storage": (memory) => new CairnMemoryStorage({ memory, user }).listThreads({}),
};

/** A Cairn that takes so long for each call, whose lists have no end, and the requests that it got. */
function slow(ms: number) {
  const requests: string[] = [];
  const timers = new Map<() => void, number>();
  let now = 1_000_000;
  vi.spyOn(realTime, "now").mockImplementation(() => now);
  vi.spyOn(realTime, "after").mockImplementation((after, run) => {
    timers.set(run, now + after);
    return () => void timers.delete(run);
  });
  const fetch = async ({ method, url }: Request): Promise<Response> => {
    requests.push(`${method} ${new URL(url).pathname}`);
    if (requests.length > 15) throw new Error("the method goes on for ever");
    now += ms;
    for (const [run, at] of timers) if (at <= now) run();
    return Response.json({ items: [], results: [], hits: [], cursor: "more" });
  };
  const memory = cairn({ fetch, token: "t", retry: false });
  return { memory, requests, began: now, now: () => now };
}

afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(methods))("a method of %s", (_, method) => {
  it("rejects at the limit while Cairn answers each call just below it, and sends nothing later", async () => {
    const { memory, requests, began, now } = slow(2_900);
    await expect(method(memory)).rejects.toMatchObject({ code: "timeout" });
    expect(now() - began).toBe(5_800);
    await new Promise((resolve) => void setTimeout(resolve));
    expect(requests).toHaveLength(2);
  });
});

/** Each class of stores, and its methods without a limit: they make no call, limit each call, or limit themselves. */
const classes: Record<string, [store: (memory: Cairn) => object | Promise<object>, without: string[]]> = {
  "AI Employee's entries": [(memory) => new KeyedEntries({ memory, user }), ["entries"]],
  Keyv: [(memory) => cairnKeyv({ memory, user }), ["iterator", "disconnect", "on"]],
  "the OpenAI Agents SDK's session": [
    (memory) => cairnSession({ memory, user, sessionId: "s" }),
    ["getSessionId", "withContext", "prepareHistoryItemForModelInput"],
  ],
  "GemStack's conversations": [(memory) => cairnConversations({ memory, user }), ["forUser"]],
  "GemStack's user memory": [(memory) => cairnUserMemory({ memory }), []],
  "GemStack's cache": [(memory) => cairnCache({ memory }), ["get"]],
  "LangGraph's store": [(memory) => new CairnStore({ memory, user }), []],
  "LangGraph's saver": [(memory) => new CairnSaver({ memory, user }), ["list", "getNextVersion"]],
  "Mastra's storage": [(memory) => new CairnMemoryStorage({ memory, user }), []],
  "Mastra's observational storage": [(memory) => new CairnMemoryStorage({ memory, user }), []],
  "Mastra's vector store": [
    (memory) => cairnSemanticRecall({ memory, user }).vector,
    [
      "upsert",
      "createIndex",
      "deleteIndex",
      "listIndexes",
      "describeIndex",
      "updateVector",
      "deleteVector",
      "deleteVectors",
    ],
  ],
  "Agent Memory's profile": [(memory) => agentMemory({ memory }).getProfile("alice"), []],
};

it.each(Object.entries(classes))(
  "%s: each method has a limit, or is an exception",
  async (name, [made, without]) => {
    const store = await made(slow(1).memory);
    let own: object = Object.getPrototypeOf(store);
    if (name === "Mastra's observational storage") own = Object.getPrototypeOf(own);
    const names = Object.getOwnPropertyNames(own).filter(
      (one) =>
        one !== "constructor" && typeof Object.getOwnPropertyDescriptor(own, one)?.value === "function",
    );
    // A limited method is the store's own property.
    expect(names.filter((one) => !Object.hasOwn(store, one)).toSorted()).toEqual(without.toSorted());
  },
);

it("each method has the limit anew", async () => {
  const { memory, requests } = slow(1_600);
  const store = cairnMemoryStore({ memory, user });
  for (const key of ["a", "b", "c"]) await store.delete(key);
  expect(requests).toHaveLength(3);
});
