// LangGraph's long-term memory: items in namespaces, in the caller's memory or in PostgreSQL.
import { Embeddings } from "@langchain/core/embeddings";
import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { inLanes } from "../bench/load.ts";
import { key, value } from "../bench/operations.ts";
import { DIMENSIONS, embed } from "./embed.ts";
import {
  ENTRIES,
  HITS,
  memoryText,
  PAGE,
  pgvectorHint,
  type Peer,
  queryText,
  recalls,
  type Started,
} from "./peer.ts";
import { missingPostgres, startPostgres } from "./postgres-server.ts";

class Embedder extends Embeddings {
  override embedQuery = async (text: string): Promise<number[]> => embed(text);
  override embedDocuments = async (texts: string[]): Promise<number[][]> => texts.map(embed);
}
const embeddings = new Embedder({});

export const langgraphInMemory: Peer = {
  name: "LangGraph InMemoryStore",
  start: async (memories) => {
    const store = new InMemoryStore({ index: { dims: DIMENSIONS, embeddings, fields: ["text"] } });
    return {
      lacks:
        "in the caller's process, no network; not durable; vectors only, no words; no messages (LangGraph keeps them in checkpoints), no token",
      operations: { ...(await entries(store)), ...(await searched(store, memories)) },
      stop: async () => {},
    };
  },
};

export const langgraphPostgres: Peer = {
  name: "LangGraph PostgresStore",
  missing: missingPostgres,
  start: async (memories) => {
    const { options, hasPgvector, stop } = await startPostgres();
    const store = new PostgresStore({
      connectionOptions: options,
      ...(hasPgvector && { index: { dims: DIMENSIONS, embed: embeddings, fields: ["text"] } }),
    });
    await store.setup();
    return {
      lacks: "no messages (LangGraph keeps them in checkpoints), no token",
      // Its search of words wants all of them in a text.
      ...(!hasPgvector && {
        hint: `LangGraph's PostgresStore is measured without its search. ${pgvectorHint}`,
      }),
      operations: { ...(await entries(store)), ...(hasPgvector && (await searched(store, memories))) },
      stop: async () => {
        await store.stop();
        await stop();
      },
    };
  },
};

function split(i: number): [group: string, name: string] {
  const [group = "", name = ""] = key(i % ENTRIES).split("/");
  return [group, name];
}

/** A group of keys is a namespace: a list by prefix is a search in one. */
async function entries(store: BaseStore): Promise<Started["operations"]> {
  const put = (owner: string, i: number) => {
    const [group, name] = split(i);
    return store.put([owner, group], name, JSON.parse(value(i)) as Record<string, unknown>, false);
  };
  await inLanes((i) => put("read", i), { ms: 60_000, calls: ENTRIES });
  return {
    "KV put": (i) => put("put", i),
    "KV get": (i) => {
      const [group, name] = split(i);
      return store.get(["read", group], name);
    },
    "list 50 of 1,000": (i) => store.search(["read", `group-${i % (ENTRIES / PAGE)}`], { limit: PAGE }),
  };
}

async function searched(store: BaseStore, memories: readonly number[]): Promise<Started["operations"]> {
  let written = 0;
  const remember = (owner: string, i: number) => store.put([owner], `memory-${i}`, { text: memoryText(i) });
  return {
    "remember one": () => remember("remembering", written++),
    ...(await recalls(memories, async (size, isLate) => {
      const owner = `recaller-${size}`;
      for (let i = 0; i < size && !isLate(i); i++) await remember(owner, i);
      return (i) => store.search([owner], { query: queryText(i), limit: HITS });
    })),
  };
}
