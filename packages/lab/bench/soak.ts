// `npm run soak`: Cairn under a steady light load, and the memory of its workerd each minute. More than a bound ends it with an error.
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Cairn, cairn } from "#client/index.ts";
import { serverProcess } from "./cpu.ts";
import { startCairn } from "./servers.ts";

const usage = `usage: npm run soak -- [--minutes 60] [--rate 1] [--users 60] [--most 500]
  --minutes  how long it runs
  --rate     turns of a conversation a second; a turn is six calls
  --users    users that take turns: a user whose turns are more than 10 s apart leaves the memory between them
  --most     MB of resident memory that workerd may have`;

const MINUTE = 60_000;
const MB = 1024 * 1024;

type Options = { minutes: number; rate: number; users: number; most: number };

const text = (value: string) => ({ type: "string", default: value }) as const;

function optionsOf(args: string[]): Options | null {
  const options = { minutes: text("60"), rate: text("1"), users: text("60"), most: text("500") };
  try {
    const { values } = parseArgs({ args, options });
    const numbers = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
    // The entries are those of `options`.
    return numbers.every(([, value]) => value > 0) ? (Object.fromEntries(numbers) as Options) : null;
  } catch {
    return null;
  }
}

/** One turn of a user after the other: the calls that an agent makes. */
function turnsOf(memory: Cairn, users: number): (i: number) => Promise<void> {
  const threads = new Map<string, string>();
  return async (i) => {
    const user = `soak-${i % users}`;
    const round = Math.floor(i / users);
    const threadId = threads.get(user) ?? (await memory.threads.create(user, { title: "soak" })).id;
    threads.set(user, threadId);
    const [friend, town] = [`Friend ${i % 17}`, `town ${i % 31}`];
    const query = `In round ${round}, where did ${friend} move, and what do they drink?`;
    await memory.context(user, { query, threadId });
    await memory.threads.append(threadId, [
      { role: "user", content: query },
      { role: "assistant", content: `${friend} moved to ${town} and drinks tea number ${i % 7}.` },
    ]);
    await memory.memories.remember(user, { text: `${friend} lives in ${town} since round ${round}` });
    await memory.recall(user, { query: `town of friend ${(i + 3) % 17}` });
    await memory.kv.set(user, `state-${i % 50}`, { round, note: "x".repeat(500) });
    await memory.kv.get(user, `state-${(i + 7) % 50}`);
  };
}

/** The databases that a process has open: one of each object in memory, one of D1, and those of workerd itself. */
function databasesOf(pid: string): number {
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "closed since";
    }
  });
  return files.filter((file) => file.endsWith(".sqlite")).length;
}

async function soak({ minutes, rate, users, most }: Options, folder: string): Promise<boolean> {
  const server = await startCairn({ folder });
  const { pid, memory } = serverProcess();
  const turn = turnsOf(cairn({ url: server.url.href, token: server.token }), users);
  const began = performance.now();
  let [turns, failures, highest, next] = [0, 0, 0, 0];
  console.log("minute | turns | failed | resident memory | databases open | CPU");
  try {
    for (; performance.now() < began + minutes * MINUTE && highest <= most; turns++) {
      await turn(turns).catch((error: unknown) => {
        if (failures++ === 0) console.error(error);
      });
      highest = Math.max(highest, memory() / MB);
      const minute = (performance.now() - began) / MINUTE;
      if (minute >= next || highest > most) {
        const columns = [memory() / MB, databasesOf(pid), (server.cpu() ?? 0) / 1000].map(Math.round);
        const [mb, databases, seconds] = columns;
        console.log(
          `${Math.floor(minute)} | ${turns + 1} | ${failures} | ${mb} MB | ${databases} | ${seconds} s`,
        );
        next = Math.floor(minute) + 1;
      }
      await sleep(Math.max(0, began + ((turns + 1) * 1000) / rate - performance.now()));
    }
  } finally {
    await server.stop();
  }
  console.log(`${turns} turns, ${failures} failed, ${Math.round(highest)} MB at most.`);
  if (highest > most) console.error(`workerd has more than ${most} MB.`);
  return highest <= most && failures === 0;
}

const options = optionsOf(process.argv.slice(2));
if (options === null) {
  console.error(usage);
  process.exitCode = 1;
} else {
  const folder = mkdtempSync(join(tmpdir(), "cairn-soak-"));
  try {
    process.exitCode = (await soak(options, folder)) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
