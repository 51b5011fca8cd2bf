import { expect, it } from "vitest";
import { z } from "zod";
import { agentMemory } from "../src/agent-memory.ts";
import { cairnMemoryBlock, cairnSessionIngest } from "../src/agents.ts";
import { cairnMemoryStore, createMemoryPrepareStep } from "../src/ai-employee.ts";
import { cairnMemory, memoryStep, memoryTools } from "../src/ai-sdk.ts";
import { cairnMemoryFiles, withMemory } from "../src/anthropic.ts";
import { dexMemory } from "../src/dex.ts";
import {
  cairnCache,
  cairnConversations,
  cairnMemoryExtract,
  cairnMemoryInject,
  cairnRuns,
  cairnUserMemory,
} from "../src/gemstack.ts";
import { cairnKeyv } from "../src/keyv.ts";
import {
  cairnContextNode,
  cairnMemoryManager,
  cairnPrompt,
  CairnSaver,
  CairnStore,
} from "../src/langgraph.ts";
import {
  CairnMemoryStorage,
  cairnProcessor,
  cairnSemanticRecall,
  cairnStorage as mastraStorage,
} from "../src/mastra.ts";
import { molrooMemory } from "../src/molroo.ts";
import { cairnLayer, cairnScopedStorage, cairnStorage as noeticStorage } from "../src/noetic.ts";
import { cairnInputFilter, cairnSession } from "../src/openai-agents.ts";
import { cairnDriver } from "../src/unstorage.ts";
import { cairn } from "../../client/src/index.ts";

const memory = cairn({ url: "http://127.0.0.1:1", token: "t" });

/** As JavaScript calls them: with anything. `more` is what it wants besides its client and user. */
type Made = { name: string; make: (options: never) => unknown; more?: object };

const ofOneUser: Made[] = [
  { name: "CairnMemoryStorage", make: (options) => new CairnMemoryStorage(options) },
  { name: "CairnSaver", make: (options) => new CairnSaver(options) },
  { name: "CairnStore", make: (options) => new CairnStore(options) },
  { name: "cairnContextNode", make: (options) => cairnContextNode(options, () => ({})) },
  { name: "cairnDriver", make: cairnDriver },
  { name: "cairnInputFilter", make: cairnInputFilter },
  { name: "cairnKeyv", make: cairnKeyv },
  { name: "cairnMemory", make: cairnMemory },
  { name: "cairnMemoryFiles", make: cairnMemoryFiles },
  { name: "cairnMemoryInject", make: cairnMemoryInject },
  { name: "cairnMemoryBlock", make: cairnMemoryBlock },
  { name: "cairnMemoryExtract", make: cairnMemoryExtract, more: { session: "s" } },
  { name: "cairnMemoryManager", make: cairnMemoryManager },
  { name: "cairnMemoryStore", make: cairnMemoryStore },
  { name: "cairnPrompt", make: cairnPrompt },
  { name: "cairnProcessor", make: cairnProcessor },
  { name: "cairnSemanticRecall", make: cairnSemanticRecall },
  { name: "cairnSession", make: cairnSession },
  { name: "cairnSessionIngest", make: cairnSessionIngest, more: { name: "chat" } },
  { name: "cairnStorage", make: mastraStorage, more: { id: "cairn" } },
  { name: "cairnStorage", make: noeticStorage, more: { shared: "shared:team" } },
  { name: "dexMemory", make: dexMemory, more: { projectRoot: "/work" } },
  { name: "memoryStep", make: memoryStep },
  { name: "memoryTools", make: memoryTools },
  { name: "molrooMemory", make: molrooMemory },
  { name: "withMemory", make: withMemory },
];
const ofAnyUser: Made[] = [
  { name: "cairnConversations", make: cairnConversations },
  { name: "cairnLayer", make: cairnLayer, more: { z } },
  {
    name: "cairnScopedStorage",
    make: cairnScopedStorage,
    more: { layerId: "notes", scope: "resource", scopeKey: "alice" },
  },
];
const ofAllUsers: Made[] = [
  { name: "cairnCache", make: cairnCache },
  { name: "cairnUserMemory", make: cairnUserMemory },
];
const withClient = [...ofOneUser, ...ofAnyUser, ...ofAllUsers];

it.each(withClient)("$name is not made without its client", ({ name, make, more }) => {
  const user = ofAllUsers.some((one) => one.name === name) ? {} : { user: "alice" };
  for (const given of [undefined, {}, { ...more, ...user }, { ...more, memory: null, ...user }]) {
    expect(() => make(given as never)).toThrow(TypeError);
    expect(() => make(given as never)).toThrow(`${name}: \`memory\` is missing`);
  }
});

it.each(ofOneUser)("$name is not made without its user", ({ name, make, more }) => {
  for (const user of [undefined, "", null, 7])
    expect(() => make({ ...more, memory, user } as never)).toThrow(`${name}: \`user\` is missing`);
  expect(make({ ...more, memory, user: "alice" } as never)).toBeDefined();
});

it.each(ofAnyUser)("$name may be made without a user, but not with an empty one", ({ name, make, more }) => {
  expect(make({ ...more, memory } as never)).toBeDefined();
  expect(() => make({ ...more, memory, user: "" } as never)).toThrow(`${name}: \`user\` is missing`);
});

const withUser = (one: Made): Made => ({ ...one, more: { ...one.more, memory, user: "alice" } });
const withoutUser = (one: Made): Made => ({ ...one, more: { ...one.more, memory } });
const all: Made[] = [
  ...[...ofOneUser, ...ofAnyUser].map(withUser),
  ...ofAllUsers.map(withoutUser),
  { name: "cairnRuns", make: cairnRuns, more: { cache: cairnCache({ memory }) } },
  {
    name: "createMemoryPrepareStep",
    make: (config) => createMemoryPrepareStep(noStore, config),
    more: { prefix: "memory:" },
  },
];
const agents: Made = { name: "agentMemory", make: agentMemory, more: { memory } };
const noStore = cairnMemoryStore({ memory, user: "alice" });

it.each(all)("$name names an option that it does not know", ({ name, make, more }) => {
  expect(make({ ...more } as never)).toBeDefined();
  for (const unknown of [{ colour: "red" }, { colour: undefined }, { constructor: 1 }]) {
    const [option] = Object.keys(unknown);
    expect(() => make({ ...more, ...unknown } as never)).toThrow(TypeError);
    expect(() => make({ ...more, ...unknown } as never)).toThrow(
      `${name}: \`${option}\` is not an option; the options are \``,
    );
  }
});

it.each([...all.filter(({ more }) => more !== undefined && "memory" in more), agents])(
  "$name takes a limit of time, and none that no timer has",
  ({ name, make, more }) => {
    expect(make({ ...more, timeoutMs: 500 } as never)).toBeDefined();
    for (const timeoutMs of [0, -1, Number.NaN, Infinity, 2 ** 31, "500", null])
      expect(() => make({ ...more, timeoutMs } as never)).toThrow(
        `${name}: \`timeoutMs\` must be a number from 1 to 2147483647`,
      );
  },
);

type Meant = [name: string, option: string, meant: string, make: (options: never) => unknown, given: object];
const of = { memory, user: "alice" };
const store = (options: never) => new CairnStore(options);

it.each<Meant>([
  ["cairnKeyv", "prefx", "prefix", cairnKeyv, { ...of, prefx: "a" }],
  ["cairnKeyv", "userId", "user", cairnKeyv, { memory, userId: "alice" }],
  ["cairnKeyv", "memroy", "memory", cairnKeyv, { memroy: memory, user: "alice" }],
  ["dexMemory", "episodic_recent", "episodicRecent", dexMemory, { ...of, episodic_recent: 2 }],
  ["dexMemory", "autowrite", "autoWrite", dexMemory, { ...of, autowrite: false }],
  ["cairnMemory", "context.buget", "context.budget", cairnMemory, { ...of, context: { buget: 500 } }],
  ["cairnLayer", "context.buget", "context.budget", cairnLayer, { ...of, z, context: { buget: 500 } }],
  ["cairnLayer", "recallmode", "recallMode", cairnLayer, { ...of, z, recallmode: "atomic" }],
  [
    "cairnMemoryInject",
    "context.cacheTTL",
    "context.cacheTtl",
    cairnMemoryInject,
    { ...of, context: { cacheTTL: "1h" } },
  ],
  ["cairnMemory", "thread.agents", "thread.agent", cairnMemory, { ...of, thread: { agents: "a" } }],
  ["cairnPrompt", "context.buget", "context.budget", cairnPrompt, { ...of, context: { buget: 500 } }],
  ["cairnInputFilter", "thread.agents", "thread.agent", cairnInputFilter, { ...of, thread: { agents: "a" } }],
  ["withMemory", "cache.TTL", "cache.ttl", withMemory, { ...of, cache: { TTL: "1h" } }],
  ["withMemory", "context.cacheTTL", "context.cacheTtl", withMemory, { ...of, context: { cacheTTL: "1h" } }],
  ["CairnStore", "ttl.defaultTTL", "ttl.defaultTtl", store, { ...of, ttl: { defaultTTL: 1 } }],
])("%s takes `%s` for `%s`, and says so", (name, option, meant, make, given) => {
  expect(() => make(given as never)).toThrow(
    `${name}: \`${option}\` is not an option; did you mean \`${meant}\`?`,
  );
});

it.each<Meant>([
  [
    "cairnLayer",
    "timeouts.dispose",
    "`timeouts.init`, `timeouts.recall`, `timeouts.store`",
    cairnLayer,
    { ...of, z, timeouts: { dispose: 1 } },
  ],
  ["CairnStore", "index.dims", "`index.fields`", store, { ...of, index: { dims: 3 } }],
])("%s names its options where `%s` is like none: %s", (name, option, known, make, given) => {
  expect(() => make(given as never)).toThrow(
    `${name}: \`${option}\` is not an option; the options are ${known}`,
  );
});
