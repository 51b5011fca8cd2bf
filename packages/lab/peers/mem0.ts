// mem0's open-source version without its language model: a memory is kept as it was said, as Cairn's is.
import { Memory } from "mem0ai/oss";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { join } from "node:path";
import { inLanes } from "../bench/load.ts";
import { DIMENSIONS, embed, MODEL } from "./embed.ts";
import { HITS, memoryText, type Peer, queryText, recalls, temporaryFolder } from "./peer.ts";

export const mem0: Peer = {
  name: "mem0 (in memory, infer: false)",
  start: async (memories) => {
    const folder = temporaryFolder();
    process.env["MEM0_DIR"] = folder;
    const endpoint = await serveEmbeddings();
    const open = (userId: string) => {
      const memory = new Memory({
        embedder: {
          provider: "openai",
          config: {
            apiKey: "none",
            baseURL: endpoint.url,
            model: MODEL,
            embeddingDims: DIMENSIONS,
          },
        },
        vectorStore: {
          provider: "memory",
          config: { collectionName: userId, dimension: DIMENSIONS, dbPath: join(folder, `${userId}.db`) },
        },
        // Never asked.
        llm: { provider: "openai", config: { apiKey: "none", baseURL: endpoint.url } },
        disableHistory: true,
      });
      return {
        add: (i: number) => memory.add(memoryText(i), { userId, infer: false }),
        search: async (text: string) =>
          (await memory.search(text, { topK: HITS, filters: { user_id: userId } })).results,
      };
    };
    const remembering = open("remembering");
    let written = 0;
    return {
      lacks:
        "in the caller's process, no network but to its embedder; looks through all memories, as it has no index; no messages, no KV, no token",
      operations: {
        "remember one": () => remembering.add(written++),
        ...(await recalls(memories, async (size) => {
          const { add, search } = open(`recaller-${size}`);
          await inLanes(add, { ms: 60_000, calls: size });
          return (i) => search(queryText(i));
        })),
      },
      stop: endpoint.stop,
    };
  },
};

/** Cairn's model behind OpenAI's API, which is how mem0 is given an embedder of one's own. */
async function serveEmbeddings(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (!(address instanceof Object)) throw new Error("the embedder has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { input } = (await json(request)) as { input: string | string[] };
  const data = [input].flat().map((text, index) => ({ object: "embedding", index, embedding: embed(text) }));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ object: "list", model: MODEL, data }));
}
