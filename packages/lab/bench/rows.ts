// `npm run bench -- --rows`: what a call costs with all that follows it within 25 hours, by the rows and requests that Cloudflare bills,
// and the bytes at rest. docs/reference/costs.md has its tables, and a test compares them.
import { printTable } from "../table.ts";
import { billOf, countsBy, dollarsOfTokens, type ObjectCounts } from "./counts.ts";
import { type Counted, type Meter, withMeter } from "./meter.ts";
import {
  ingest,
  messages,
  operationsOf,
  post,
  recall,
  remember,
  resume,
  text,
  times,
  WORDS,
} from "./row-operations.ts";
import { startModels } from "./scripted-models.ts";

const [MINUTE, HOUR] = [60_000, 3_600_000];
/** Past the note of a thread, the fold of the usage, and the end of a session. */
const AFTER = 25 * HOUR;
/** Users and days of the bill. */
const USER_DAYS = 30_000;

/** Prints what each call costs, what a day of a user costs, what a language model adds to it, and the bytes at rest. */
export async function countRows({ smoke = false } = {}): Promise<void> {
  const models = await startModels();
  try {
    await withMeter(models, {}, async (meter) => {
      await countOperations(meter);
      await countDay(meter, "the model in the Worker");
      await bytesAtRest(meter, smoke ? 20 : 500);
    });
    await withMeter(models, models.embedder, (meter) => countDay(meter, "the model of a service"));
    await withMeter(models, models.llm, countIngests);
  } finally {
    await models.stop();
  }
}

async function countOperations(meter: Meter): Promise<void> {
  const table: string[][] = [];
  // The first calls of a deployment load its models, and mark its databases.
  await meter.make("warm", remember("warm", 0));
  await meter.make("warm", recall("warm"));
  await meter.moveOn("warm", AFTER);
  const operations = operationsOf(meter.threadOf);
  for (const [i, operation] of operations.entries()) {
    const { name, before, calls, items = 1, apart = AFTER, after = AFTER } = operation;
    const u = `user-${i}`;
    for (let at = 0; ; at++) {
      // Made one by one: a call may need the thread that the one before it has made.
      const call = before?.(u)[at];
      if (call === undefined) break;
      await meter.make(u, call);
    }
    // What follows these is no cost of the counted calls, but for a wait that began with them.
    if (before !== undefined && after === AFTER) await meter.moveOn(u, apart);
    const all = calls(u);
    const { counted } = await meter.count(async () => {
      for (const [at, call] of all.entries()) {
        await meter.make(u, call);
        await meter.moveOn(u, at === all.length - 1 ? after : apart);
      }
    });
    const one = {
      ...countsBy((kind) => counted[kind] / all.length),
      requests: counted.requests / all.length,
    };
    table.push([
      name,
      ...[one.written, one.read, one.d1Written, one.requests].map((n) => figure(n / items)),
      `$${(billOf(one) / items).toFixed(2)}`,
    ]);
  }
  printTable(
    [
      "call",
      "rows written, object",
      "rows read, object",
      "rows written, D1",
      "requests to objects",
      "a million calls",
    ],
    table,
  );
}

const figure = (n: number): string => n.toLocaleString("en-US", { maximumFractionDigits: n < 1 ? 1 : 0 });

/** Turns of a day in three sittings, two minutes apart: of four, three and three. */
async function playDay(meter: Meter, u: string, turn: (n: number) => Promise<void>): Promise<void> {
  const began = await meter.now();
  for (let n = 0; n < 10; n++) {
    await meter.moveTo(u, began + (n < 4 ? 0 : n < 7 ? 4 : 9) * HOUR + n * 2 * MINUTE);
    await turn(n);
  }
  await meter.moveTo(u, began + AFTER);
}

async function countDay(meter: Meter, embedder: string): Promise<void> {
  const u = "day";
  for (const call of [remember(u, 0), resume(u), recall(u)]) await meter.make(u, call);
  await meter.moveOn(u, AFTER);
  const path = `/v1/threads/${meter.threadOf(u)}/messages`;
  const { counted, byTable } = await meter.count(() =>
    playDay(meter, u, async (n) => {
      await meter.make(u, recall(u));
      await meter.make(u, { method: "GET", path: `${path}?limit=20`, status: 200 });
      await meter.make(u, post(path, { messages: messages(2 * n, 2, 160) }, 201));
      if (n % 5 === 4) await meter.make(u, remember(u, 1_000 + n));
    }),
  );
  console.log(
    `\nA day of a user with ${embedder}: ${counted.written} rows written in objects, ${counted.d1Written} in D1, and ${counted.requests} requests to objects.`,
  );
  console.log(`By table: ${byTable.map(([table, rows]) => `${table} ${rows}`).join(", ")}.`);
}

const FILLER =
  "We talked about the week, the weather by the river and the train that was late again on Monday, and about who brings the bread and the cheese to the picnic in the park.";

/** Twenty messages of some 40 tokens. The user states five facts in them. */
const session = (day: number) =>
  times(20, (i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `${i % 4 === 0 ? `I like ${WORDS[(day + i) % WORDS.length]} number ${day * 20 + i}.` : `Point ${i} of day ${day}.`} ${FILLER}`,
  }));

async function countIngests(meter: Meter): Promise<void> {
  const u = "chatty";
  await meter.make(u, remember(u, 0));
  await meter.moveOn(u, AFTER);
  const bySession = await meter.count(async () => {
    await meter.make(u, ingest(u, "session", session(1)));
    await meter.moveOn(u, AFTER);
  });
  const said = session(2);
  const byTurn = await meter.count(() =>
    playDay(meter, u, (n) => meter.make(u, ingest(u, "turns", said.slice(0, 2 * n + 2)))),
  );
  const names = ["@cf/google/gemma-4-26b-a4b-it", "@cf/meta/llama-3.3-70b-instruct-fp8-fast"] as const;
  const rowOf = (name: string, { tokens }: Counted): string[] => [
    name,
    ...[tokens.calls, tokens.input, tokens.output].map(figure),
    ...names.map((model) => `$${(USER_DAYS * dollarsOfTokens(tokens, model)).toFixed(2)}`),
  ];
  console.log("\nA language model, for 1,000 users and a month:\n");
  printTable(
    [
      "20 messages a day, ingested",
      "calls of the model",
      "tokens read",
      "tokens written",
      ...names.map((name) => `\`${name}\``),
    ],
    [rowOf("as one session", bySession), rowOf("turn by turn", byTurn)],
  );
}

async function bytesAtRest(meter: Meter, n: number): Promise<void> {
  const CHARACTERS = 1_000;
  for (const u of ["one", "said", "told"]) {
    await meter.make(u, u === "said" ? resume(u) : remember(u, 0));
    await meter.moveOn(u, HOUR);
  }
  const empty = await meter.objectOf("one");
  const [said, told] = [await meter.objectOf("said"), await meter.objectOf("told")];
  for (let i = 0; i < n; i += 20) {
    const path = `/v1/threads/${meter.threadOf("said")}/messages`;
    await meter.make("said", post(path, { messages: messages(i, 20, CHARACTERS) }, 201));
    const memories = times(20, (at) => ({ text: text(i + at + 1, CHARACTERS) }));
    await meter.make("told", post("/v1/users/told/memories/batch", { memories }));
  }
  const growth = async (u: string, before: ObjectCounts): Promise<string> => {
    await meter.moveOn(u, HOUR);
    return (((await meter.objectOf(u)).bytes - before.bytes) / (n * CHARACTERS)).toFixed(2);
  };
  console.log(`\nAn object with one memory: ${Math.round(empty.bytes / 1024)} KiB.`);
  console.log(
    `A message of ${CHARACTERS} characters takes ${await growth("said", said)} × its text in the object.`,
  );
  console.log(
    `A memory of ${CHARACTERS} characters takes ${await growth("told", told)} × its text in the object.`,
  );
}
