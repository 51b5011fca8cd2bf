// Adapters that keep any value of their SDK's caller, each with one key of its own, for the tests of large values.
import { createStorage } from "unstorage";
import { cairnMemoryStore } from "../src/ai-employee.ts";
import { inBatches } from "../src/entries/in-batches.ts";
import { cairnCache, cairnRuns } from "../src/gemstack.ts";
import { cairnKeyv } from "../src/keyv.ts";
import { CairnStore } from "../src/langgraph.ts";
import { cairnScopedStorage, cairnStorage } from "../src/noetic.ts";
import { cairnDriver } from "../src/unstorage.ts";
import type { Cairn } from "../../client/src/index.ts";
import { isPart } from "../../../src/domain/entry-parts.ts";
import { clientOf, newUser } from "./cairn.ts";

export type Value = { text: string };
/** One key of an adapter, as its SDK uses it. */
export type Place = {
  set: (value: Value, ttlSeconds?: number) => Promise<unknown>;
  get: () => Promise<Value | null>;
  delete: () => Promise<unknown>;
  /** All keys that there are. */
  keys?: () => Promise<string[]>;
  clear?: () => Promise<unknown>;
};
type At = { user: string; memory: Cairn };

const text = (value: string | null): Value | null => (value === null ? null : (JSON.parse(value) as Value));
const KEY = "runs/a b/ü";

export const places: Record<string, (at: At) => Place> = {
  "noetic's storage": (at) => {
    const storage = cairnStorage(at);
    return {
      set: (value) => storage.set(KEY, value),
      get: () => storage.get<Value>(KEY),
      delete: () => storage.delete(KEY),
      keys: () => storage.list(""),
    };
  },
  "noetic's storage of a layer": ({ memory, user }) => {
    const storage = cairnScopedStorage({ memory, layerId: "l", scope: "resource", scopeKey: user });
    return {
      set: (value) => storage.set(KEY, value),
      get: () => storage.get<Value>(KEY),
      delete: () => storage.delete(KEY),
      keys: () => storage.list(),
    };
  },
  "ai-employee": (at) => {
    const store = cairnMemoryStore(at);
    return {
      set: (value, ttl) => store.set(KEY, value, ttl && ttl * 1000),
      get: () => store.get<Value>(KEY),
      delete: () => store.delete(KEY),
      keys: () => store.list(),
    };
  },
  keyv: (at) => {
    const store = cairnKeyv(at);
    store.namespace = "n";
    return {
      set: (value, ttl) => store.set(KEY, value, ttl && ttl * 1000),
      get: async () => (await store.get<Value>(KEY)) ?? null,
      delete: () => store.delete(KEY),
      keys: async () => {
        const keys: string[] = [];
        for await (const [key] of store.iterator()) keys.push(key);
        return keys;
      },
      clear: () => store.clear(),
    };
  },
  unstorage: (at) => {
    const storage = createStorage<string>({ driver: cairnDriver(at) });
    return {
      set: (value, ttl) => storage.setItemRaw("a:b", JSON.stringify(value), { ttl }),
      get: async () => text(await storage.getItemRaw<string>("a:b")),
      delete: () => storage.removeItem("a:b"),
      keys: () => storage.getKeys(),
      clear: () => storage.clear(),
    };
  },
  "gemstack's cache": ({ memory, user }) => {
    const cache = cairnCache({ memory, namespace: user });
    return {
      set: (value, ttl) => cache.set("k", value, ttl),
      get: () => cache.get<Value>("k"),
      delete: () => cache.forget("k"),
    };
  },
  "gemstack's cache in single flight": ({ memory, user }) => {
    const cache = cairnCache({ memory, namespace: user, singleFlight: [""] });
    return {
      set: (value, ttl) => cache.set("k", value, ttl),
      get: () => cache.get<Value>("k"),
      delete: () => cache.forget("k"),
    };
  },
  "gemstack's runs": ({ memory, user }) => {
    const runs = cairnRuns<Value>({ cache: cairnCache({ memory, namespace: user }) });
    return {
      set: (value) => runs.store("run", value),
      get: () => runs.load("run"),
      delete: () => runs.consume("run"),
    };
  },
  "langgraph's store": (at) => {
    const store = new CairnStore(at);
    return {
      set: (value) => store.put(["n"], "k", value),
      get: async () => ((await store.get(["n"], "k"))?.value as Value | undefined) ?? null,
      delete: () => store.delete(["n"], "k"),
      keys: async () => (await store.search([])).map(({ key }) => key),
    };
  },
};

/** A client that notes the keys of all parts that are written, and a look at which of them are there. */
export async function watched() {
  const user = newUser();
  const plain = await clientOf(user);
  const entries = new Set<string>();
  const registry = new Set<string>();
  const memory = await clientOf(user, {
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (request.method === "POST" && pathname.endsWith("/kv/batch")) {
        const body = (await request.clone().json()) as { operations: { op: string; key: string }[] };
        const { operations } = body;
        for (const { op, key } of operations) if (op === "set" && isPart(key)) entries.add(key);
      }
      const key = decodeURIComponent(pathname.split("/").at(-1) ?? "");
      if (request.method === "PUT" && isPart(key)) registry.add(key);
      return fetch(request);
    },
  });
  const parts = async (): Promise<string[]> => {
    const gets = [...entries].map((key) => ({ op: "get" as const, key }));
    const [results, cached] = await Promise.all([
      inBatches(plain, user, gets),
      Promise.all([...registry].map(async (key) => ((await plain.cache.get(key)) === null ? [] : [key]))),
    ]);
    return [...results.flatMap(({ found, key = "" }) => (found ? [key] : [])), ...cached.flat()];
  };
  return { user, memory, parts };
}

export const MIB = 1024 * 1024;
/** So many characters of one, two, three and four bytes, that end somewhere in a part. */
export const large = (sign: string, mebibytes = 1.3): Value => ({
  text: `${sign}é€🙂"`.repeat(
    Math.ceil((mebibytes * MIB) / (new TextEncoder().encode(`${sign}é€🙂"`).length + 1)),
  ),
});
