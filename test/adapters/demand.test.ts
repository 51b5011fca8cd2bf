import { expect, it } from "vitest";
import { z } from "zod";
import { cairnMemoryStore } from "../../src/client/adapters/ai-employee.ts";
import { dexMemory } from "../../src/client/adapters/dex.ts";
import { cairnCache, cairnConversations, cairnUserMemory } from "../../src/client/adapters/gemstack.ts";
import { cairnKeyv } from "../../src/client/adapters/keyv.ts";
import { molrooMemory } from "../../src/client/adapters/molroo.ts";
import { cairnLayer, cairnScopedStorage, cairnStorage } from "../../src/client/adapters/noetic.ts";
import { cairnSession } from "../../src/client/adapters/openai-agents.ts";
import { cairnDriver } from "../../src/client/adapters/unstorage.ts";
import { cairn } from "../../src/client/index.ts";

/** As JavaScript calls them: with anything. */
const ofOneUser: Record<string, (options: never) => unknown> = {
  cairnDriver,
  cairnKeyv,
  cairnMemoryStore,
  cairnSession,
  cairnStorage,
  dexMemory,
  molrooMemory,
};
const ofAnyUser: Record<string, (options: never) => unknown> = {
  cairnCache,
  cairnConversations,
  cairnLayer,
  cairnScopedStorage,
  cairnUserMemory,
};

const memory = cairn({ url: "http://127.0.0.1:1", token: "t" });
const more = { projectRoot: "/work", z, layerId: "notes", scope: "resource", scopeKey: "alice" };

it.each(Object.entries({ ...ofOneUser, ...ofAnyUser }))("%s is not made without its client", (name, make) => {
  for (const given of [undefined, {}, { ...more, user: "alice" }, { ...more, memory: null, user: "alice" }]) {
    expect(() => make(given as never)).toThrow(TypeError);
    expect(() => make(given as never)).toThrow(`${name}: \`memory\` is missing`);
  }
});

it.each(Object.entries(ofOneUser))("%s is not made without its user", (name, make) => {
  for (const user of [undefined, "", null, 7])
    expect(() => make({ ...more, memory, user } as never)).toThrow(`${name}: \`user\` is missing`);
  expect(make({ ...more, memory, user: "alice" } as never)).toBeDefined();
});

it.each(["cairnConversations", "cairnLayer", "cairnScopedStorage"])(
  "%s may be made without a user, but not with an empty one",
  (name) => {
    const make = ofAnyUser[name];
    expect(make?.({ ...more, memory } as never)).toBeDefined();
    expect(() => make?.({ ...more, memory, user: "" } as never)).toThrow(`${name}: \`user\` is missing`);
  },
);
