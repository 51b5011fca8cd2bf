// `npm run bench`: what Cairn costs over a bare Worker with a Durable Object. docs/performance.md says how to read it.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Bounds, Client, type Round } from "./load.ts";
import { type Sizes as MemorySizes, prepareMemories } from "./memories.ts";
import { type Operation, prepare, type Sizes as ThreadSizes } from "./operations.ts";
import { countRows } from "./rows.ts";
import { print, summary } from "./table.ts";
import { type Server, startCairn, startFloor } from "./servers.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    rows: { type: "boolean", default: false },
  },
});
const roundCount = options.smoke ? 1 : Number(options.rounds);
const size = options.smoke ? "smoke" : options.quick ? "quick" : "full";
type Sizes = ThreadSizes & MemorySizes;
const allSizes: Record<"smoke" | "quick" | "full", Sizes> = {
  // Every operation a few times, over next to nothing: it shows that all of them work, and measures nothing.
  smoke: { thread: 200, entries: 2_000, memories: 1_000, recall: [100], cold: [[100, 2]], users: 4 },
  quick: {
    thread: 10_000,
    entries: 10_000,
    memories: 50_000,
    recall: [100, 2_000],
    cold: [
      [100, 32],
      [1_000, 16],
    ],
    users: 200,
  },
  full: {
    thread: 100_000,
    entries: 100_000,
    memories: 1_000_000,
    recall: [100, 1_000, 20_000, 100_000],
    cold: [
      [100, 32],
      [1_000, 16],
      [20_000, 4],
    ],
    users: 10_000,
  },
};
const sizes = allSizes[size];
const bounds: Record<"short" | "long", Bounds> = options.smoke
  ? { short: { ms: 50, calls: 4 }, long: { ms: 50, calls: 4 } }
  : { short: { ms: 500, calls: 10_000 }, long: { ms: 3_000, calls: 20_000 } };

// In memory where that is possible: a disk that is shared would drown what a write costs in what waiting costs.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";

/** The platform evicts an object that was idle for 10 s. */
const EVICTED_AFTER_MS = 11_000;

type Side = { client: Client; operations: Operation[] };
type Row = { operation: Operation; cairn: Round[]; floor: Round[]; endedAt?: number };

async function side(server: Server): Promise<Side> {
  const client = new Client(server);
  const operations = [...(await prepare(client, sizes)), ...(await prepareMemories(client, sizes))];
  await idle(server);
  return { client, operations };
}

/** Waits until the server has nothing left to do (a moment, where CPU time cannot be read): appends are embedded later. */
async function idle({ cpu }: Server): Promise<void> {
  for (let waited = 0; waited < 300; waited++) {
    const before = cpu();
    await sleep(1500);
    if ((cpu() ?? 0) - (before ?? 0) < 100) return;
  }
}

/** One round of one operation on both, the floor first. */
async function round(row: Row, i: number, sides: { floor: Side; cairn: Side }): Promise<void> {
  const { cold } = row.operation;
  if (cold !== undefined && !options.smoke)
    await sleep(Math.max(0, (row.endedAt ?? performance.now()) + EVICTED_AFTER_MS - performance.now()));
  for (const which of ["floor", "cairn"] as const) {
    const { client, operations } = sides[which];
    const { name, next, check, settles } = operations[i] ?? row.operation;
    // A call that only checks would wake a cold object: `cold` is the number of a user who is not measured.
    if (!check(await client.call(next(cold ?? 0))))
      throw new Error(`${which} does something else for: ${name}`);
    const bound = settles || cold !== undefined ? bounds.long : bounds.short;
    row[which].push(await client.run(next, cold === undefined ? bound : { ...bound, calls: cold }));
    if (settles) await idle(client.server);
  }
  row.endedAt = performance.now();
}

if (options.rows) await countRows(options);
else await compare();

async function compare(): Promise<void> {
  const servers: Server[] = [];
  try {
    servers.push(await startFloor(), await startCairn());
    const [floor, cairn] = await Promise.all(servers.map(side));
    if (floor && cairn) {
      const rows = cairn.operations.map((operation): Row => ({ operation, floor: [], cairn: [] }));
      // Rounds outside, operations inside: what is compared is measured within the same seconds.
      for (let count = 0; count <= roundCount; count++)
        for (const [i, row] of rows.entries())
          if (row.operation.name.includes(options.only)) await round(row, i, { floor, cairn });
      const measured = rows.filter((row) => row.cairn.length > 0);
      if (measured.length === 0) throw new Error(`no operation has '${options.only}' in its name`);
      print(measured.map(summary));
      await Promise.all([floor.client.close(), cairn.client.close()]);
    }
  } finally {
    for (const server of servers) await server.stop();
  }
}
