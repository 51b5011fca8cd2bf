// `npm run bench -- --rows`: the rows that Cloudflare bills for a call, the bytes at rest, and dollars per million calls.
import { setTimeout as sleep } from "node:timers/promises";
import { userHash } from "#domain/ids.ts";
import { printTable } from "../table.ts";
import { countsBy, dollarsOf, type ObjectCounts } from "./counts.ts";
import { type Call, Client } from "./load.ts";
import { startCairn } from "./servers.ts";

/** Alarms that follow within seconds. Not the note of a thread in D1, one an hour: four rows of the object, and one of D1. */
const UNTIL_NOTED_MS = 65_000;

type Operation = {
  name: string;
  /** Calls before the counted ones, as `u` is a user of its own. */
  before?: (u: string) => Call[];
  calls: (u: string) => Call[];
  /** Items of one call: the row tells the cost of one of them. */
  items?: number;
};

const post = (path: string, json: unknown, status = 200): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(json),
  status,
});
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const WORDS = "ferry island summer doctor lisbon train market cheese garden violin winter harbour".split(" ");
/** `characters` of a text that no other `i` has. */
function text(i: number, characters = 90): string {
  const words: string[] = [`Note ${i}:`];
  for (let length = 8, n = i * 7; length < characters; n = n * 31 + 17) {
    const word = `${WORDS[Math.abs(n) % WORDS.length]}${Math.abs(n >> 5) % 97}`;
    words.push(word);
    length += word.length + 1;
  }
  return words.join(" ").slice(0, characters);
}
const remember = (u: string, i: number, characters?: number): Call =>
  post(`/v1/users/${u}/memories`, { text: text(i, characters) }, 201);
const rememberMany = (u: string, from: number, n: number, characters?: number): Call =>
  post(`/v1/users/${u}/memories/batch`, {
    memories: times(n, (i) => ({ text: text(from + i, characters) })),
  });
const messages = (from: number, n: number, characters?: number) =>
  times(n, (i) => ({
    role: (from + i) % 2 === 0 ? "user" : "assistant",
    content: text(from + i, characters),
  }));
const put = (u: string, value: unknown): Call => ({
  method: "PUT",
  path: `/v1/users/${u}/kv/theme`,
  body: JSON.stringify(value),
  status: 200,
});
const recall = (u: string): Call =>
  post(`/v1/users/${u}/recall`, { query: "When is the ferry to the island?" });

const resume = (u: string): Call => post(`/v1/users/${u}/threads/resume`, { agent: "bench" }, 201);

/** `thread` is the one that `before` made. */
const operationsOf = (thread: (u: string) => string): Operation[] => {
  const append = (u: string, from: number, n: number) =>
    post(`/v1/threads/${thread(u)}/messages`, { messages: messages(from, n) }, 201);
  return [
    { name: "the first memory of a user", calls: (u) => [remember(u, 0)] },
    {
      name: "remember one",
      before: (u) => [remember(u, 0)],
      calls: (u) => times(20, (i) => remember(u, i + 1)),
    },
    {
      name: "remember the same words again",
      before: (u) => [remember(u, 0)],
      calls: (u) => times(20, () => ({ ...remember(u, 0), status: 200 })),
    },
    {
      name: "remember 500 in a call, each",
      before: (u) => [remember(u, 0)],
      calls: (u) => [rememberMany(u, 1, 500)],
      items: 500,
    },
    { name: "a thread", calls: (u) => [resume(u)] },
    {
      name: "append one",
      before: (u) => [resume(u)],
      calls: (u) => times(20, (i) => append(u, i, 1)),
    },
    {
      name: "append ten in a call, each",
      before: (u) => [resume(u)],
      calls: (u) => times(5, (i) => append(u, 10 * i, 10)),
      items: 10,
    },
    { name: "put an entry", before: (u) => [put(u, 0)], calls: (u) => times(20, (i) => put(u, i + 1)) },
    { name: "put the same value", before: (u) => [put(u, 0)], calls: (u) => times(20, () => put(u, 0)) },
    {
      name: "recall among 2,000",
      before: (u) => [...times(4, (i) => rememberMany(u, 500 * i, 500)), recall(u)],
      calls: (u) => times(10, () => recall(u)),
    },
  ];
};

/** Prints the table of rows, and then that of bytes at rest. */
export async function countRows({ smoke = false } = {}): Promise<void> {
  const server = await startCairn({ counting: true, evicts: false });
  const client = new Client(server);
  const countsOf = async (u: string): Promise<ObjectCounts> => {
    const call: Call = { method: "GET", path: `/counts/${await userHash(u)}`, status: 200 };
    return JSON.parse(await client.call(call)) as ObjectCounts;
  };
  const threads = new Map<string, string>();
  const make = async (u: string, call: Call): Promise<void> => {
    const answer = await client.call(call);
    if (call.path.endsWith("/resume")) threads.set(u, (JSON.parse(answer) as { id: string }).id);
  };
  const wait = () => sleep(smoke ? 2_000 : UNTIL_NOTED_MS);
  try {
    const operations = operationsOf((u) => threads.get(u) ?? "").map((operation, i) => ({
      ...operation,
      u: `user-${i}`,
    }));
    for (const { u, before } of operations) for (const call of before?.(u) ?? []) await make(u, call);
    await wait();
    const started = await Promise.all(operations.map(({ u }) => countsOf(u)));
    const numbers = new Map<string, number>();
    for (const { u, calls } of operations) {
      const all = calls(u);
      numbers.set(u, all.length);
      for (const call of all) await make(u, call);
    }
    await wait();
    const table: string[][] = [];
    for (const [i, { u, name, items = 1, before }] of operations.entries()) {
      const [first, last] = [started[i], await countsOf(u)];
      const per = (numbers.get(u) ?? 1) * items;
      const rows = countsBy((kind) => (last[kind] - (before === undefined ? 0 : (first?.[kind] ?? 0))) / per);
      const cells = [rows.written, rows.read, rows.d1Written, rows.d1Read, dollarsOf(rows)];
      table.push([name, ...cells.map((n) => n.toFixed(1))]);
    }
    printTable(["operation", "rows written", "rows read", "D1 written", "D1 read", "$ per million"], table);
    await bytesAtRest(client, {
      countsOf,
      make,
      threadOf: (u) => threads.get(u) ?? "",
      n: smoke ? 20 : 500,
      wait,
    });
  } finally {
    await client.close();
    await server.stop();
  }
}

async function bytesAtRest(
  client: Client,
  {
    countsOf,
    make,
    threadOf,
    n,
    wait,
  }: {
    countsOf: (u: string) => Promise<ObjectCounts>;
    make: (u: string, call: Call) => Promise<void>;
    threadOf: (u: string) => string;
    n: number;
    wait: () => Promise<void>;
  },
): Promise<void> {
  const CHARACTERS = 1_000;
  await client.call(remember("one", 0));
  await make("said", resume("said"));
  await client.call(remember("told", 0));
  await wait();
  const [empty, said, told] = await Promise.all(["one", "said", "told"].map(countsOf));
  for (let i = 0; i < n; i += 20) {
    await client.call(
      post(`/v1/threads/${threadOf("said")}/messages`, { messages: messages(i, 20, CHARACTERS) }, 201),
    );
    await client.call(rememberMany("told", i + 1, 20, CHARACTERS));
  }
  await wait();
  const growth = async (u: string, before: ObjectCounts | undefined) =>
    (((await countsOf(u)).bytes - (before?.bytes ?? 0)) / (n * CHARACTERS)).toFixed(2);
  console.log(`\nAn object with one memory: ${Math.round((empty?.bytes ?? 0) / 1024)} KiB.`);
  console.log(
    `A message of ${CHARACTERS} characters takes ${await growth("said", said)} × its text in the object.`,
  );
  console.log(
    `A memory of ${CHARACTERS} characters takes ${await growth("told", told)} × its text in the object.`,
  );
}
