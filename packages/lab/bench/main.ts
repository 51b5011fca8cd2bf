// `npm run bench`: what Cairn costs over a bare Worker with a Durable Object. docs/internals/performance.md says how to read it.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { measureBinding } from "./binding.ts";
import { measureCodes } from "./codes.ts";
import { type Bounds, Client, type Round } from "./load.ts";
import { type Sizes as MemorySizes, prepareMemories } from "./memories.ts";
import { type Operation, prepare, type Sizes as ThreadSizes } from "./operations.ts";
import { Progress } from "./progress.ts";
import { measureModels } from "./models.ts";
import { countRows } from "./rows.ts";
import { measureOverview } from "./overview.ts";
import { measureSizes } from "./sizes.ts";
import { measureStretches } from "./stretches.ts";
import { type Counts, countsBy, totalOf } from "./counts.ts";
import { median, print, type Summary, summary } from "./summary.ts";
import { idle, type Server, startCairn, startFloor } from "./servers.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    rows: { type: "boolean", default: false },
    sizes: { type: "boolean", default: false },
    stretches: { type: "boolean", default: false },
    models: { type: "boolean", default: false },
    codes: { type: "boolean", default: false },
    binding: { type: "boolean", default: false },
    overview: { type: "boolean", default: false },
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
    recall: [100, 1_000, 20_000],
    cold: [
      [100, 32],
      [1_000, 16],
      [20_000, 4],
    ],
    users: 1_000,
  },
};
const sizes = allSizes[size];
/** Messages of the thread that is ingested. */
const INGESTED = { smoke: 200, quick: 2_000, full: 10_000 } as const;
/** Memories of the tenant whose overview is opened; a smaller one is counted at each visit. */
const OVERVIEW = { smoke: 20_000, quick: 100_000, full: 1_000_000 } as const;
const bounds: Record<"short" | "long", Bounds> = options.smoke
  ? { short: { ms: 50, calls: 4 }, long: { ms: 50, calls: 4 } }
  : { short: { ms: 500, calls: 10_000 }, long: { ms: 3_000, calls: 20_000 } };

// In memory where that is possible: a disk that is shared would drown what a write costs in what waiting costs.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";

/** The platform evicts an object that was idle for 10 s. D1 is an object too, whose alarm begins them anew some seconds in. */
const EVICTED_AFTER_MS = 17_000;
/** Rows that a cold call reads at least, of those that it read when the server had just started. */
const STILL_COLD = 0.8;

/** Calls of each operation whose rows are counted. */
const COUNTED = 10;
/** Seconds that it takes to fill in threads and entries, then memories, and a round of all operations: for the time that is left. */
type Weights = { threads: number; memories: number; round: number };
const [QUICK, FULL] = [
  { threads: 15, memories: 15, round: 45 },
  { threads: 60, memories: 110, round: 50 },
];

type Side = { client: Client; operations: Operation[] };
type Row = { operation: Operation; cairn: Round[]; floor: Round[]; endedAt?: number };

async function side(server: Server, filling: (what: keyof Weights) => void): Promise<Side> {
  const client = new Client(server);
  filling("threads");
  const operations = await prepare(client, sizes);
  filling("memories");
  operations.push(...(await prepareMemories(client, sizes)));
  // The floor knows it first: it has less to fill in.
  if (!operations.some(({ name }) => name.includes(options.only)))
    throw new Error(`no operation has '${options.only}' in its name`);
  if (!options.smoke) await idle(server);
  return { client, operations };
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
    if (settles && !options.smoke) await idle(client.server);
  }
  row.endedAt = performance.now();
}

if (options.models) await measureModels();
else if (options.binding)
  await measureBinding({ smoke: options.smoke, rounds: roundCount, only: options.only });
else if (options.codes) await measureCodes(options);
else if (options.rows) await countRows(options);
else if (options.overview) await measureOverview(OVERVIEW[size]);
else if (options.stretches) await measureStretches(INGESTED[size]);
else {
  if (!options.sizes) await compare();
  if (!options.sizes && options.only === "") await measureStretches(INGESTED[size]);
  if (options.sizes || (options.smoke && options.only === "")) await measureSizes(size);
  if (options.smoke && options.only === "") await measureOverview(OVERVIEW[size]);
  if (options.smoke && options.only === "") await measureBinding({ smoke: true, rounds: 1 });
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cairn-bench-"));
  // Also where the run is interrupted.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const servers: Server[] = [];
  const weights = size === "full" ? FULL : QUICK;
  const progress = new Progress(weights.threads + weights.memories + (roundCount + 1) * weights.round, {
    silent: size === "smoke",
  });
  try {
    servers.push(await startFloor(), await startCairn({ folder }));
    const [floor, cairn] = await Promise.all(
      servers.map((server) =>
        side(server, (what) => {
          if (server.name === "cairn") progress.step("filling in", what, weights[what]);
        }),
      ),
    );
    if (!floor || !cairn) return;
    const rows = cairn.operations
      .map((operation, i) => ({ i, row: { operation, floor: [], cairn: [] } as Row }))
      .filter(({ row }) => row.operation.name.includes(options.only));
    // Rounds outside, operations inside: what is compared is measured within the same seconds.
    for (let count = 0; count <= roundCount; count++)
      for (const { i, row } of rows) {
        const which = `round ${count + 1} of ${roundCount + 1}`;
        progress.step(which, row.operation.name, weights.round / rows.length);
        await round(row, i, { floor, cairn });
      }
    await Promise.all([floor.client.close(), cairn.client.close()]);
    for (const server of servers.splice(0)) await server.stop();
    const counting = await startCairn({ counting: true, folder });
    servers.push(counting);
    const client = new Client(counting);
    const summaries: Summary[] = [];
    for (const { row } of rows)
      summaries.push(summary({ ...row, rows: await rowsOf(client, row.operation) }));
    await client.close();
    progress.end();
    print(summaries);
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** The rows that a call writes and reads, without the alarms that follow: medians, since alarms of earlier calls may run too. */
async function rowsOf(client: Client, operation: Operation): Promise<Counts> {
  const rows = await countedRows(client, operation);
  if (operation.cold === undefined || options.smoke) return rows;
  // The server had just started: the same calls after the pause between two rounds have to find the objects as cold.
  await sleep(EVICTED_AFTER_MS);
  const later = await countedRows(client, operation);
  if (later.read < STILL_COLD * rows.read)
    throw new Error(`${operation.name} is warm: it reads ${later.read} rows, and ${rows.read} if it is cold`);
  return rows;
}

async function countedRows(client: Client, { next, cold }: Operation): Promise<Counts> {
  const counts: Counts[] = [];
  for (let i = 0; i < (cold ?? COUNTED); i++) {
    const before = await totalOf(client);
    await client.call(next(i));
    const after = await totalOf(client);
    counts.push(countsBy((kind) => after[kind] - before[kind]));
  }
  return countsBy((kind) => median(counts.map((one) => one[kind])));
}
