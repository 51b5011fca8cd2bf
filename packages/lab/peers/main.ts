// `npm run bench:peers`: Cairn beside other memories for agents. docs/internals/performance.md says how to read it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Bounds, Client, inLanes } from "../bench/load.ts";
import { prepareMemories } from "../bench/memories.ts";
import { prepare } from "../bench/operations.ts";
import { type Server, startCairn } from "../bench/servers.ts";
import {
  ENTRIES,
  type OperationName,
  operations,
  PAGE,
  type Peer,
  recallAmong,
  type Run,
  type Started,
  THREAD,
} from "./peer.ts";
import { type Pair, print } from "./pairs.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string", default: "" },
  },
});
const roundCount = options.smoke ? 0 : Number(options.rounds ?? (options.quick ? 3 : 5));
const memories = options.quick || options.smoke ? [1_000] : [1_000, 20_000];
const bounds: Bounds = options.smoke
  ? { ms: 50, calls: 4 }
  : { ms: options.quick ? 200 : 500, calls: Infinity };

// In memory where that is possible: a disk that is shared would drown what a write costs in what waiting costs.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";
// No peer reports its use to its makers.
process.env["MEM0_TELEMETRY"] = "false";
process.env["MASTRA_TELEMETRY_DISABLED"] = "1";

if (!existsSync(join(import.meta.dirname, "node_modules")))
  throw new Error("the peers are not installed: npm --prefix packages/lab/peers ci");
const peers: Peer[] = [];
for (const file of ["agents", "redis", "postgres", "langgraph", "mastra", "mem0"])
  peers.push(...Object.values((await import(`./${file}.ts`)) as Record<string, Peer>));

// Only a process that exits tells its servers and removes its folders.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const tty = process.stderr.isTTY;
/** One line, rewritten; without a terminal, a line of each round only. */
function progress(text: string, isRound = false): void {
  if (tty) process.stderr.write(`\r\u{1b}[K${text}`);
  else if (isRound) console.error(text);
}

const isWanted = (peer: Peer, operation: string): boolean =>
  [peer.name, operation].some((name) => name.toLowerCase().includes(options.only.toLowerCase()));

const answers: Record<OperationName, (answer: unknown) => boolean> = {
  "append of one message": () => true,
  "last 50 of 1,000": isPage,
  "KV put": () => true,
  "KV get": (answer) => JSON.stringify(answer).includes("book the ferry"),
  "list 50 of 1,000": isPage,
  "remember one": () => true,
  "recall among 1,000": isFound,
  "recall among 20,000": isFound,
};
function isPage(answer: unknown): boolean {
  return Array.isArray(answer) && answer.length === PAGE;
}
function isFound(answer: unknown): boolean {
  return Array.isArray(answer) && answer.length > 0;
}

/** Cairn's operations as a caller makes them: an answer is parsed, as the peers' clients parse theirs. */
async function cairnRuns(client: Client): Promise<Map<string, Run>> {
  const prepared = [
    ...(await prepare(client, { thread: THREAD, entries: ENTRIES })),
    ...(await prepareMemories(client, { memories: 0, recall: memories, cold: [], users: 0 })),
  ];
  return new Map(
    prepared.map(({ name, next }) => [
      name,
      async (i) => {
        const answer = JSON.parse(await client.call(next(i))) as { items?: unknown; hits?: unknown };
        return answer.items ?? answer.hits ?? answer;
      },
    ]),
  );
}

/** Waits until the server has nothing left to do, so that its work does not slow the peer down. */
async function settle({ cpu }: Server): Promise<void> {
  for (let waited = 0; waited < 20; waited++) {
    const before = cpu();
    await sleep(100);
    if ((cpu() ?? 0) - (before ?? 0) < 20) return;
  }
}

async function measure(name: string, operation: OperationName, run: Run): Promise<number> {
  // A peer in this process may have held the event loop: connections that were closed meanwhile are seen now.
  await sleep(20);
  // Some calls first: an object that was idle for 10 s is evicted.
  for (const until = performance.now() + bounds.ms / 5; ;) {
    if (!answers[operation](await run(0))) throw new Error(`${name} does something else for: ${operation}`);
    if (performance.now() > until) break;
  }
  return (await inLanes(run, bounds)).rps;
}

const started: { peer: Peer; made: Started }[] = [];
const cairn = await startCairn();
const client = new Client(cairn);
try {
  progress("filling Cairn");
  const runs = await cairnRuns(client);
  for (const peer of peers.filter((one) => operations.some((operation) => isWanted(one, operation)))) {
    const missing = peer.missing?.() ?? null;
    progress("");
    if (missing !== null) {
      console.log(`Left out: ${peer.name}. To have it: ${missing}`);
      continue;
    }
    progress(`filling ${peer.name}`);
    const sizes = memories.filter((size) => size === 1_000 || isWanted(peer, recallAmong(size)));
    const made = await peer.start(sizes);
    started.push({ peer, made });
    progress("");
    if (made.hint !== undefined) console.log(made.hint);
    const hasRecall = recallAmong(1_000) in made.operations;
    for (const late of sizes.map(recallAmong).filter((name) => hasRecall && !(name in made.operations)))
      console.log(`Left out: ${late} of ${peer.name}, which takes more than a minute to fill`);
  }
  const pairs = operations.flatMap((operation) =>
    started.flatMap(({ peer, made }): (Pair & { own: Run; cairnsOwn: Run })[] => {
      const [own, cairnsOwn] = [made.operations[operation], runs.get(operation)];
      if (own === undefined || cairnsOwn === undefined || !isWanted(peer, operation)) return [];
      return [{ operation, peer: peer.name, lacks: made.lacks, own, cairnsOwn, cairn: [], theirs: [] }];
    }),
  );
  if (pairs.length === 0) throw new Error(`nothing that is installed has '${options.only}' in its name`);
  for (let round = 0; round <= roundCount; round++) {
    progress(`round ${round} of ${roundCount}`, true);
    for (const { operation, peer, own, cairnsOwn, ...rates } of pairs) {
      progress(`round ${round} of ${roundCount}: ${operation}, ${peer}`);
      const measureCairn = async () => {
        rates.cairn[round] = await measure("Cairn", operation, cairnsOwn);
        await settle(cairn);
      };
      const measurePeer = async () => {
        rates.theirs[round] = await measure(peer, operation, own);
      };
      // In turn, as the second may pay for what the first one left behind.
      for (const side of round % 2 === 0 ? [measureCairn, measurePeer] : [measurePeer, measureCairn])
        await side();
    }
  }
  progress("");
  if (options.smoke) console.log(`${pairs.length} operations of ${started.length} peers work`);
  else print(pairs);
} finally {
  for (const { made } of started) await made.stop();
  await client.close();
  await cairn.stop();
}
