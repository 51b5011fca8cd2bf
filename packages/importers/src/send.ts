import { cairn as clientOf, type Cairn } from "../../client/src/index.ts";
import type { Cairn as Address } from "../../cli/transfer/cairn.ts";
import type { ImportedMemory } from "./fit.ts";
import type { ImportedThread } from "./fit-thread.ts";
import { itemsOf, type Pass } from "./items.ts";
import type { Outcome } from "./report.ts";
import { sendMemories } from "./send-memories.ts";
import { sendThreads } from "./send-threads.ts";

/** A call's worth of memories, and of threads. */
const BATCH = { items: 100, bytes: 4 * 1024 * 1024 };
type Batch = { memories: ImportedMemory[]; threads: ImportedThread[]; bytes: number };

/** Sends all of the export, a batch of a user after another. */
export async function send(pass: Pass, { address, outcome, extract }: Sending): Promise<void> {
  // A belief of another system ranks below the word of a user of Cairn.
  const cairn = clientOf({ ...address, trust: "import" });
  const waiting = new Map<string, Batch>();
  let bytes = 0;
  for await (const item of itemsOf(pass, "sending")) {
    if (item.type !== "memory" && item.type !== "thread") continue;
    const batch = waiting.get(item.user) ?? { memories: [], threads: [], bytes: 0 };
    waiting.set(item.user, batch);
    if (item.type === "memory") batch.memories.push(item.memory);
    else batch.threads.push(item.thread);
    const size = item.type === "memory" ? JSON.stringify(item.memory).length : item.thread.bytes;
    batch.bytes += size;
    bytes += size;
    const isFull = batch.memories.length >= BATCH.items || batch.threads.length >= BATCH.items;
    // Many users with a little each wait together.
    const due =
      bytes > 8 * BATCH.bytes
        ? [...waiting]
        : isFull || batch.bytes > BATCH.bytes
          ? [[item.user, batch] as const]
          : [];
    for (const [user, full] of due) {
      waiting.delete(user);
      bytes -= full.bytes;
      await sendBatch(cairn, { user, ...full }, { outcome, extract });
    }
  }
  for (const [user, batch] of waiting) await sendBatch(cairn, { user, ...batch }, { outcome, extract });
}

/** `extract`: an ingest of each thread is started. */
type Sending = { address: Address; outcome: Outcome; extract: boolean };

async function sendBatch(
  cairn: Cairn,
  { user, memories, threads }: Batch & { user: string },
  { outcome, extract }: Omit<Sending, "address">,
): Promise<void> {
  const stored = await sendThreads(cairn, { user, threads }, outcome);
  await sendMemories(cairn, { user, memories }, outcome);
  if (!extract) return;
  for (const { id } of stored) {
    await cairn.ingest(user, { threadId: id });
    outcome.extractions.started++;
  }
}
