// Mastra's memory over LibSQL: messages in SQLite, and their vectors in an index beside them.
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { inLanes } from "../bench/load.ts";
import { message } from "../bench/operations.ts";
import { embed, MODEL } from "./embed.ts";
import { HITS, memoryText, PAGE, type Peer, queryText, recalls, temporaryFolder, THREAD } from "./peer.ts";

const BATCH = 100;
const resourceId = "user";

export const mastra: Peer = {
  name: "Mastra Memory (LibSQL)",
  start: async (memories) => {
    const folder = temporaryFolder();
    const stores: { close: () => Promise<void> }[] = [];
    const open = async (threadId: string) => {
      // Two files: in one, their writes lock each other out.
      const url = (name: string) => `file:${join(folder, `${threadId}-${name}.db`)}`;
      const storage = new LibSQLStore({ id: threadId, url: url("messages") });
      const vector = new LibSQLVector({ id: threadId, url: url("vectors") });
      stores.push(storage, vector);
      const memory = new Memory({
        storage,
        vector,
        embedder,
        options: { lastMessages: PAGE, semanticRecall: { topK: HITS, messageRange: 0, scope: "resource" } },
      });
      await storage.init();
      await memory.createThread({ threadId, resourceId });
      return {
        save: (messages: { role: string; content: string }[]) =>
          memory.saveMessages({
            messages: messages.map(({ role, content }) => ({
              id: randomUUID(),
              role: role === "user" ? "user" : "assistant",
              createdAt: new Date(),
              threadId,
              resourceId,
              content: { format: 2, parts: [{ type: "text", text: content }], content },
            })),
          }),
        last: async () => (await memory.recall({ threadId, resourceId, perPage: PAGE })).messages,
        recall: async (vectorSearchString: string) =>
          (await memory.recall({ threadId, resourceId, perPage: 0, vectorSearchString })).messages,
      };
    };
    const [growing, thread] = [await open("growing"), await open("thread")];
    await inLanes((i) => thread.save([message(i)]), { ms: 60_000, calls: THREAD });
    return {
      lacks:
        "in the caller's process, no network; a recall is of messages, by vectors only, no words; no KV, no token",
      operations: {
        "append of one message": (i) => growing.save([message(i)]),
        "last 50 of 1,000": thread.last,
        ...(await recalls(memories, async (size, isLate) => {
          const { save, recall } = await open(`recaller-${size}`);
          for (let from = 0; from < size && !isLate(from); from += BATCH)
            await save(
              Array.from({ length: BATCH }, (_, i) => ({ role: "user", content: memoryText(from + i) })),
            );
          return (i) => recall(queryText(i));
        })),
      },
      stop: async () => {
        for (const store of stores) await store.close();
      },
    };
  },
};

const embedder = {
  specificationVersion: "v2" as const,
  provider: "cairn",
  modelId: MODEL,
  maxEmbeddingsPerCall: BATCH,
  supportsParallelCalls: true,
  doEmbed: async ({ values }: { values: string[] }) => ({ embeddings: values.map(embed) }),
};
