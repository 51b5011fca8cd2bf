// `npm run bench -- --sizes`: CPU time and rows of a call while a thread, a user's memories, or the users grow.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { userHash } from "#domain/ids.ts";
import { totalOf } from "./counts.ts";
import { type Bounds, type Call, Client } from "./load.ts";
import { plot } from "../plot.ts";
import { printTable } from "../table.ts";
import { Progress } from "./progress.ts";
import { idle, startCairn } from "./servers.ts";
import { median } from "./summary.ts";

const root = join(import.meta.dirname, "../../..");
const THOUSANDS = [100, 1_000, 10_000];
/** `byHttp`: messages that are appended. The further ones of a thread are copies of these, by SQL. */
const allSizes = {
  smoke: { messages: [40, 80], byHttp: 40, memories: [40], users: [1, 2] },
  quick: { messages: THOUSANDS, byHttp: 10_000, memories: THOUSANDS, users: [1, 10, 100, 1_000] },
  full: {
    messages: [...THOUSANDS, 100_000, 1_000_000],
    byHttp: 100_000,
    memories: [...THOUSANDS, 100_000],
    users: [1, 10, 100, 1_000, 10_000],
  },
};
/** Seconds that it takes to fill in one, and to measure one call at one size: for the time that is left. */
const SECONDS = { message: 0.0003, copy: 0.0001, memory: 0.0004, user: 0.02, probe: 1 };

const PAGE = 50;
/** Memories of the rare tag, scope and kind, and messages of the small thread. */
const FEW = 20;
/** Memories of each of many users. */
const OF_MANY = 5;
const [APPEND, REMEMBER, WRITERS] = [1_000, 500, 8];

/** What is called over and over at each size. */
type Probe = {
  name: string;
  user: (i: number) => string;
  call: (i: number) => Call;
  check: (answer: string) => boolean;
  /** The object is evicted before each call, or had the same call just before. */
  from?: "evicted" | "called";
  /** Each call adds one. */
  adds?: boolean;
};
type Point = { size: number; us: number; read: number; written: number };
type Line = { name: string; points: Point[] };
/** `growTo` returns what is measured once there are so many. */
type Scale = {
  file: string;
  what: string;
  /** Whose vectors fill the memory that all objects of the isolate share. */
  user?: string;
  sizes: readonly number[];
  secondsTo: (size: number, from: number) => number;
  growTo: (size: number) => Promise<Probe[]>;
};

/** Words that the model knows, the frequent ones first. */
const WORDS = readFileSync(join(root, "assets/model/vocab.txt"), "utf8")
  .split("\n")
  .filter((word) => /^[a-z]{3,}$/.test(word));

/** Words as a language has them: the nth most frequent one comes up 1/n times as often as the first. */
function sentence(seed: number, words = 12): string {
  let state = Math.imul(seed + 1, 2_654_435_761);
  const word = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[Math.floor(WORDS.length ** (state / 2 ** 32)) - 1];
  };
  word();
  return Array.from({ length: words }, word).join(" ");
}

const post = (path: string, body: object, status: number): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(body),
  status,
});
const recall = (user: string, i: number, narrow: object = {}): Call =>
  post(`/v1/users/${user}/recall`, { query: sentence(-i - 2, 6), ...narrow }, 200);
const itemsOf = (answer: string): number => (JSON.parse(answer) as { items: unknown[] }).items.length;
const finds = (answer: string): boolean => (JSON.parse(answer) as { hits: unknown[] }).hits.length > 0;
const isObject = (answer: string): boolean => answer.startsWith("{");

/** A user with one growing thread and one of a few messages. */
function threadScale(
  client: Client,
  { user, sizes, byHttp }: { user: string; sizes: readonly number[]; byHttp: number },
): Scale {
  let length = 0;
  const messages = (count: number) =>
    Array.from({ length: count }, () => ({ role: "user", content: `${sentence(length)} ${length++}` }));
  const append = (thread: string, count: number) =>
    post(`/v1/threads/${thread}/messages`, { messages: messages(count) }, 201);
  const begun = async () => {
    const made = await client.call(post(`/v1/users/${user}/threads`, {}, 201));
    return (JSON.parse(made) as { id: string }).id;
  };
  let threads: { large: string; small: string } | undefined;
  const one = () => user;
  return {
    file: "cost-by-messages.svg",
    user,
    what: "messages in the thread",
    sizes,
    secondsTo: (size, from) =>
      Math.max(0, Math.min(size, byHttp) - from) * SECONDS.message +
      Math.max(0, size - Math.max(from, byHttp)) * SECONDS.copy,
    async growTo(size) {
      if (threads === undefined) {
        threads = { large: await begun(), small: await begun() };
        await client.call(append(threads.small, FEW));
        length = 0;
      }
      const { large, small } = threads;
      while (length < Math.min(size, byHttp))
        await client.call(append(large, Math.min(APPEND, size - length)));
      await embedded(client, user);
      for (; length < size; length += Math.min(byHttp / 10, size - length)) {
        const count = Math.min(byHttp / 10, size - length);
        await bench(client, user, `lengthen?thread=${large}&back=${byHttp}&count=${count}`);
      }
      await bench(client, user, "evict");
      return [
        { name: "append one", user: one, call: () => append(large, 1), check: isObject, adds: true },
        {
          name: `last ${PAGE}`,
          user: one,
          call: () => ({
            method: "GET",
            path: `/v1/threads/${large}/messages?limit=${PAGE}`,
            status: 200,
          }),
          check: (answer) => itemsOf(answer) > 0,
        },
        { name: "recall", user: one, call: (i) => recall(user, i), check: finds },
        {
          name: `recall in a thread of ${FEW} messages`,
          user: one,
          call: (i) => recall(user, i, { threadId: small }),
          check: finds,
        },
        { name: "cold recall", user: one, call: (i) => recall(user, i), check: finds, from: "evicted" },
      ];
    },
  };
}

/** A user with growing memories, a few of which have a tag, a scope and a kind of their own. */
function memoryScale(client: Client, { user, sizes }: { user: string; sizes: readonly number[] }): Scale {
  const path = `/v1/users/${user}/memories`;
  let told = 0;
  const memory = () => {
    const i = told++;
    const rare = i < 2 * FEW && i % 2 === 0;
    return {
      text: `${sentence(i)} ${i}`,
      ...(rare && { kind: "reflection", tags: ["rare"], scope: "rare" }),
    };
  };
  const one = () => user;
  return {
    file: "cost-by-memories.svg",
    user,
    what: "memories of the user",
    sizes,
    secondsTo: (size, from) => (size - from) * SECONDS.memory,
    async growTo(size) {
      for (let left = size - told; left > 0; left -= REMEMBER) {
        const memories = Array.from({ length: Math.min(REMEMBER, left) }, memory);
        await client.call(post(`${path}/batch`, { memories }, 200));
      }
      await embedded(client, user);
      const narrowed = (name: string, condition: object): Probe => ({
        name,
        user: one,
        call: (i) => recall(user, i, condition),
        check: finds,
      });
      return [
        {
          name: "remember one",
          user: one,
          call: () => post(path, memory(), 201),
          check: isObject,
          adds: true,
        },
        narrowed("recall", {}),
        narrowed(`recall by a tag of ${FEW}`, { tags: ["rare"] }),
        narrowed(`recall by a scope of ${FEW}`, { scope: "rare" }),
        narrowed(`recall by a kind of ${FEW}`, { kinds: ["reflection"] }),
        {
          name: `list by a tag of ${FEW}`,
          user: one,
          call: () => ({ method: "GET", path: `${path}?limit=${FEW}&tag=rare`, status: 200 }),
          check: (answer) => itemsOf(answer) === FEW,
        },
        { ...narrowed("cold recall", {}), from: "evicted" },
      ];
    },
  };
}

/** Users with a few memories each, who call in turn. */
function userScale(client: Client, { sizes }: { sizes: readonly number[] }): Scale {
  let users = 0;
  let texts = 0;
  return {
    file: "cost-by-users.svg",
    what: "users",
    sizes,
    secondsTo: (size, from) => (size - from) * SECONDS.user,
    async growTo(size) {
      const lane = async (): Promise<void> => {
        while (users < size) {
          const memories = Array.from({ length: OF_MANY }, (_, i) => ({ text: sentence(i) }));
          await client.call(post(`/v1/users/one-${users++}/memories/batch`, { memories }, 200));
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, lane));
      const inTurn = (i: number) => `one-${(i * 7_919) % size}`;
      return [
        { name: "recall", user: inTurn, call: (i) => recall(inTurn(i), i), check: finds, from: "called" },
        {
          name: "cold recall",
          user: inTurn,
          call: (i) => recall(inTurn(i), i),
          check: finds,
          from: "evicted",
        },
        {
          name: "remember one",
          user: inTurn,
          call: (i) =>
            post(`/v1/users/${inTurn(i)}/memories`, { text: `${sentence(texts)} ${texts++}` }, 201),
          check: isObject,
          from: "called",
          adds: true,
        },
      ];
    },
  };
}

const bench = async (client: Client, user: string, act: string): Promise<string> =>
  client.call({ method: "POST", path: `/counts/${await userHash(user)}/${act}`, status: 204 });

/** An object that begins anew releases the vectors of the one before it. */
async function unload(client: Client, user: string): Promise<void> {
  await bench(client, user, "evict");
  await client.call({ method: "GET", path: `/counts/${await userHash(user)}`, status: 200 });
}

/** Waits until all documents of a user have their vectors, which recall loads the word model for. */
async function embedded(client: Client, user: string): Promise<void> {
  for (;;) {
    const answer = JSON.parse(await client.call(recall(user, 0))) as { freshness: { pending: number } };
    if (answer.freshness.pending === 0) return;
    await sleep(200);
  }
}

/** Calls whose rows are counted; they warm up for the ones that are timed. */
const COUNTED = 5;
/** The first round only warms up. */
const ROUNDS = 4;

/** Medians over rounds of calls, or over single calls if each finds its object evicted. */
async function measured(
  client: Client,
  probe: Probe,
  { ms, calls, settles }: Bounds & { settles: boolean },
): Promise<Omit<Point, "size">> {
  const { name, user, call, check, from } = probe;
  let made = 0;
  const rows: { read: number; written: number }[] = [];
  const counted = Math.min(COUNTED, calls);
  if (from === "called") {
    for (let i = 0; i < counted; i++) await client.call(call(i));
    // An alarm that they set would be counted too.
    if (settles) await idle(client.server);
  }
  for (; made < counted; made++) {
    if (from === "evicted") await bench(client, user(made), "evict");
    const before = await totalOf(client);
    if (!check(await client.call(call(made)))) throw new Error(`something else was answered for: ${name}`);
    const after = await totalOf(client);
    rows.push({
      read: after.read + after.d1Read - before.read - before.d1Read,
      written: after.written + after.d1Written - before.written - before.d1Written,
    });
  }
  const round = async (bounds: Bounds): Promise<number> => {
    const start = made;
    if (from === "evicted") await bench(client, user(start), "evict");
    const next = (i: number) => call(start + i);
    const { length } =
      from === "called" ? (await client.run(next, bounds)).latencies : { length: bounds.calls };
    const { latencies, cpuMs } = await client.run(next, { ...bounds, calls: length });
    made += latencies.length;
    return (cpuMs === null ? median(latencies) : cpuMs / latencies.length) * 1_000;
  };
  // A latency tells most of one call at a time.
  const few = client.server.cpu() === null ? { connections: 1 } : {};
  const times: number[] = [];
  if (from === "evicted") {
    const ends = performance.now() + ms;
    while (times.length < COUNTED || (times.length < calls && performance.now() < ends))
      times.push(await round({ ms, calls: 1 }));
  } else
    for (let i = 0; i < ROUNDS; i++)
      times.push(await round({ ...few, ms: ms / ROUNDS, calls: Math.ceil(calls / ROUNDS) }));
  return {
    us: median(from === "evicted" ? times : times.slice(1)),
    read: median(rows.map(({ read }) => read)),
    written: median(rows.map(({ written }) => written)),
  };
}

const count = (n: number): string => Math.round(n).toLocaleString("en-US");

const secondsOf = ({ sizes, secondsTo }: Scale, i: number): number =>
  secondsTo(sizes[i] ?? 0, sizes[i - 1] ?? 0);

/** Prints a table for each scale. A full run draws the plots of docs/internals/performance.md. */
export async function measureSizes(size: keyof typeof allSizes): Promise<void> {
  const { messages, byHttp, memories, users } = allSizes[size];
  const server = await startCairn({ counting: true });
  const client = new Client(server);
  const scales = [
    threadScale(client, { user: "talker", sizes: messages, byHttp }),
    memoryScale(client, { user: "knower", sizes: memories }),
    userScale(client, { sizes: users }),
  ];
  const warmUp = [
    threadScale(client, { user: "first-talker", sizes: [messages[0] ?? 0], byHttp }),
    memoryScale(client, { user: "first-knower", sizes: [memories[0] ?? 0] }),
  ];
  const all = size === "smoke" ? scales : [...warmUp, ...scales];
  const progress = new Progress(
    all.reduce(
      (sum, scale) =>
        sum + scale.sizes.reduce((part, _, i) => part + secondsOf(scale, i) + 5 * SECONDS.probe, 0),
      0,
    ),
    { silent: size === "smoke" },
  );
  try {
    for (const scale of all) {
      const lines: Line[] = [];
      for (const [i, reached] of scale.sizes.entries()) {
        const group = `${count(reached)} ${scale.what}`;
        progress.step(group, "filling in", secondsOf(scale, i));
        const probes = await scale.growTo(reached);
        if (size !== "smoke") await idle(server);
        for (const probe of probes) {
          progress.step(group, probe.name, (5 * SECONDS.probe) / probes.length);
          // A call that adds one may not add many.
          const most = probe.adds === true ? Math.min(2_000, Math.max(20, reached / 4)) : 10_000;
          const bounds = size === "smoke" ? { ms: 50, calls: 2 } : { ms: 1_000 * SECONDS.probe, calls: most };
          const point = await measured(client, probe, { ...bounds, settles: size !== "smoke" });
          const line = lines.find(({ name }) => name === probe.name);
          if (line === undefined) lines.push({ name: probe.name, points: [{ size: reached, ...point }] });
          else line.points.push({ size: reached, ...point });
        }
      }
      if (scale.user !== undefined) await unload(client, scale.user);
      if (warmUp.includes(scale)) continue;
      progress.end();
      report(scale, lines, { isCpu: server.cpu() !== null, drawn: size === "full" });
    }
  } finally {
    progress.end();
    await client.close();
    await server.stop();
  }
}

function report(
  { file, what, sizes }: Scale,
  lines: readonly Line[],
  { isCpu, drawn }: { isCpu: boolean; drawn: boolean },
): void {
  console.log(`\n${isCpu ? "CPU" : "Latency"} µs, rows read and rows written of a call, by ${what}`);
  printTable(
    ["call", ...sizes.map(count)],
    lines.map(({ name, points }) => [
      name,
      ...points.map(({ us, read, written }) => `${count(us)}, ${count(read)}, ${count(written)}`),
    ]),
  );
  const panel = (y: string, value: (point: Point) => number) => ({
    x: what,
    y,
    lines: lines.map(({ name, points }) => ({
      name,
      points: points.map((point) => [point.size, value(point)] as const),
    })),
  });
  const svg = plot([
    panel(isCpu ? "CPU time of a call (µs)" : "median latency of a call (µs)", ({ us }) => us),
    panel("rows read and written by a call", ({ read, written }) => read + written),
  ]);
  if (drawn) writeFileSync(join(root, "docs/internals", file), svg);
}
