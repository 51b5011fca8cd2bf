// `npm run bench`: what Cairn costs over a bare Worker with a Durable Object. docs/performance.md says how to read it.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Bounds, Client, type Round } from "./load.ts";
import { type Operation, prepare } from "./operations.ts";
import { print, summary } from "./table.ts";
import { type Server, startCairn, startFloor } from "./servers.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string", default: "9" },
    only: { type: "string", default: "" },
  },
});
const rounds = Number(options.rounds);
const sizes = options.quick ? { thread: 10_000, entries: 10_000 } : { thread: 100_000, entries: 100_000 };
const bounds = { short: { ms: 500, calls: 10_000 }, long: { ms: 3_000, calls: 20_000 } } satisfies Record<
  string,
  Bounds
>;

// In memory where that is possible: a disk that is shared would drown what a write costs in what waiting costs.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";

type Side = { client: Client; operations: Operation[] };
type Row = { operation: Operation; cairn: Round[]; floor: Round[] };

async function side(server: Server): Promise<Side> {
  const client = new Client(server);
  const operations = await prepare(client, sizes);
  await idle(server);
  return { client, operations };
}

/** Waits until the server has nothing left to do: what is appended is embedded after the answer. */
async function idle({ cpu }: Server): Promise<void> {
  for (let waited = 0; waited < 300; waited++) {
    const before = cpu();
    await sleep(1500);
    if ((cpu() ?? 0) - (before ?? 0) < 100) return;
  }
}

async function compare(i: number, sides: { floor: Side; cairn: Side }): Promise<Row | undefined> {
  const operation = sides.cairn.operations[i];
  if (operation === undefined || !operation.name.includes(options.only)) return undefined;
  const row: Row = { operation, cairn: [], floor: [] };
  for (let round = -1; round < rounds; round++)
    for (const which of ["floor", "cairn"] as const) {
      const { client, operations } = sides[which];
      const { name, next, check, settles } = operations[i] ?? operation;
      if (!check(await client.call(next(0)))) throw new Error(`${which} does something else for: ${name}`);
      const measured = await client.run(next, settles ? bounds.long : bounds.short);
      // The first round of each only warms it up.
      if (round >= 0) row[which].push(measured);
      if (settles) await idle(client.server);
    }
  return row;
}

const servers: Server[] = [];
try {
  servers.push(await startFloor(), await startCairn());
  const [floor, cairn] = await Promise.all(servers.map(side));
  if (floor && cairn) {
    const rows: Row[] = [];
    for (const [i] of cairn.operations.entries()) {
      const row = await compare(i, { floor, cairn });
      if (row) rows.push(row);
    }
    print(rows.map(summary));
    await Promise.all([floor.client.close(), cairn.client.close()]);
  }
} finally {
  for (const server of servers) await server.stop();
}
