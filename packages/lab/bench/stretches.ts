// The longest time for which work in the background holds up other users of the isolate: an ingest without a model of a thread
// that is stored already.
import { type Call, Client } from "./load.ts";
import { message } from "./operations.ts";
import { idle, startCairn } from "./servers.ts";

const BATCH = 1000;
/** Milliseconds that a stretch may take. */
const GOAL_MS = 50;
/** An ingest that takes longer has failed. */
const WITHIN_MS = 600_000;

const post = (path: string, json: unknown, status: number): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(json),
  status,
});

const get = (path: string): Call => ({ method: "GET", path, status: 200 });

/** Prints how long another user's call waited at most, beside what it takes by itself. */
export async function measureStretches(messages: number): Promise<void> {
  const server = await startCairn({ evicts: false });
  const client = new Client(server);
  const read = async <T>(call: Call) => JSON.parse(await client.call(call)) as T;
  try {
    await client.call({ method: "PUT", path: "/v1/users/other/kv/lake", body: "1", status: 200 });
    const { id } = await read<{ id: string }>(post("/v1/users/talker/threads", {}, 201));
    for (let from = 0; from < messages; from += BATCH) {
      const some = Array.from({ length: Math.min(BATCH, messages - from) }, (_, i) => message(from + i));
      await client.call(post(`/v1/threads/${id}/messages`, { messages: some }, 201));
    }
    await idle(server);
    const other = get("/v1/users/other/kv/lake");
    const timed = async () => {
      const before = performance.now();
      await client.call(other);
      return performance.now() - before;
    };
    const alone: number[] = [];
    for (let i = 0; i < 100; i++) alone.push(await timed());
    const { ingestId } = await read<{ ingestId: string }>(
      post("/v1/users/talker/ingest", { threadId: id }, 202),
    );
    const began = performance.now();
    const waits: number[] = [];
    for (let status = "queued"; status !== "done" && performance.now() - began < WITHIN_MS;) {
      for (let i = 0; i < 20; i++) waits.push(await timed());
      ({ status } = await read<{ status: string }>(get(`/v1/ingests/${ingestId}`)));
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const sorted = waits.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
    console.log(
      `\nAn ingest without a model of ${messages.toLocaleString("en-US")} stored messages took ${seconds} s.`,
    );
    console.log(
      `Another user's ${waits.length} reads took ${at(0.5)} ms (median), ${at(0.99)} ms (99 %) and ${at(1)} ms at most: ` +
        `the longest stretch (goal: ${GOAL_MS} ms). Alone, they took ${Math.max(...alone).toFixed(1)} ms at most.`,
    );
  } finally {
    await client.close();
    await server.stop();
  }
}
