// Every text that the API takes, made of what is hard to read: eight times as much of it costs less than twelve times the CPU. The
// server is a process of its own, whose CPU nothing else uses.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Server, startCairn } from "../../bench/servers.ts";
import { bodyWith, type Call, callsOf, type Document, nameOf, type TextField } from "../text-fields.ts";

const repeated = (text: string) => (length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const HOSTILE = {
  "repeated words": repeated("tea and "),
  punctuation: repeated("-.:,'\"/"),
  digits: repeated("1/"),
  "one endless word": repeated("a"),
  "new lines": repeated("\nx"),
  sentences: repeated("I like tea. "),
} as const;
const [SHORT, LONG] = [1_000, 8_000];
/** Eight times as much text may cost so many times the CPU; a cost that grows with the square takes 64 times. */
const TIMES = 12;
/** Milliseconds of CPU that hold nobody up, and within which a machine is not exact. */
const SMALL_MS = 15;
/** The least of so many counts: other work of the server is in some of them. */
const COUNTS = 5;
/** What ends the work of all others, or of this user. */
const ENDS = /revocations|erasures|reindex|^DELETE \/v1\/users\/\{user\}$/;

let server: Server;
beforeAll(async () => {
  server = await startCairn({ evicts: false });
});
afterAll(() => server.stop());

async function send(
  method: string,
  path: string,
  { json, headers }: { json?: unknown; headers?: object } = {},
) {
  const before = server.cpu() ?? 0;
  const answer = await fetch(new URL(path, server.url), {
    method,
    headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json", ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: (server.cpu() ?? 0) - before };
}
// oxlint-disable-next-line typescript/no-explicit-any -- Answers of several shapes.
const read = async (...call: Parameters<typeof send>): Promise<any> => JSON.parse((await send(...call)).text);

/** A user who has one of all that a path may name. */
async function newcomer() {
  const user = crypto.randomUUID();
  const of = `/v1/users/${user}`;
  const { id: thread } = await read("POST", `${of}/threads`, { json: {} });
  const messages = [{ role: "user", content: "I like tea. My sister Ida called." }];
  await read("POST", `/v1/threads/${thread}/messages`, { json: { messages } });
  const { id: memory } = await read("POST", `${of}/memories`, { json: { text: "tea is good" } });
  const { recallId: recall } = await read("POST", `${of}/recall`, { json: { query: "tea" } });
  const { ingestId: ingest } = await read("POST", `${of}/ingest`, { json: { threadId: thread } });
  return { user, thread, memory, recall, ingest };
}
type Newcomer = Awaited<ReturnType<typeof newcomer>>;
type Given = readonly (readonly [TextField, string])[];

/** Sends a call with these texts. Not every rule is in the document: an ingest names the messages that it has. */
function sendWith(document: Document, { operation, method, path, body }: Call, given: Given, ids: Newcomer) {
  const of = (where: string) =>
    given.flatMap(([field, text]) =>
      "name" in field && field.in === where ? [[field.name, text] as const] : [],
    );
  const inPath = new Map(of("path"));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const known = { user: ids.user, id: idIn(path, ids), seq: "1" }[name];
    return encodeURIComponent(inPath.get(name) ?? known ?? "tea");
  });
  const query = new URLSearchParams(Object.fromEntries(of("query")));
  const headers = Object.fromEntries(of("header").map(([name, text]) => [name, encodeURIComponent(text)]));
  const texts = given.flatMap(([field, text]) => ("place" in field ? [[field.place, text] as const] : []));
  const plain = (name: string) => ({ role: "user", kind: "fact", threadId: ids.thread })[name] ?? "tea";
  const json = body === null ? undefined : bodyWith(document, body, { texts, plain });
  if (operation.endsWith("/context")) {
    const context = json as { messages?: unknown[] };
    if (context.messages !== undefined)
      context.messages = context.messages.map((content) => ({ role: "user", content }));
  }
  if (operation.endsWith("/ingest")) {
    const ingest = json as { threadId?: string; messages?: object[]; extracted?: Record<string, object[]> };
    if (ingest.messages !== undefined) delete ingest.threadId;
    else ingest.threadId ??= ids.thread;
    const sources = [ingest.messages === undefined ? 1 : 0];
    for (const memory of Object.values(ingest.extracted ?? {}).flat()) Object.assign(memory, { sources });
    Object.assign(ingest, { mode: "wait" });
  }
  return send(method, query.size === 0 ? filled : `${filled}?${query.toString()}`, { json, headers });
}

const idIn = (path: string, { thread, memory, recall, ingest }: Newcomer): string =>
  path.includes("/memories/")
    ? memory
    : path.includes("/recalls/")
      ? recall
      : path.includes("/ingests/")
        ? ingest
        : thread;

it("reads eight times as much of any text at no more than twelve times the CPU", async () => {
  if (server.cpu() === null) return;
  const document: Document = await read("GET", "/openapi.json");
  const slow: string[] = [];
  const failed: string[] = [];
  /** Texts that words do not fit, such as a version: the first kind shows it. */
  const refused = new Set<string>();
  for (const call of callsOf(document).filter(({ operation }) => !ENDS.test(operation)))
    for (const [kind, textOf] of Object.entries(HOSTILE)) {
      const ids = await newcomer();
      /** Compares the two lengths. Returns the longest one that was taken. */
      const compare = async (name: string, textsOf: (length: number) => Given): Promise<number> => {
        let [short, long] = [Infinity, Infinity];
        let taken = 0;
        for (let i = 0; i < COUNTS && (i === 0 || (long > SMALL_MS && long >= TIMES * short)); i++)
          for (const length of [SHORT, LONG]) {
            const { status, ms } = await sendWith(document, call, textsOf(length), ids);
            if (length === SHORT) short = Math.min(short, ms);
            else long = Math.min(long, ms);
            if (status < 400) taken = Math.max(taken, length);
            if (status >= 500) failed.push(`${call.operation} ${name}: ${status} to ${length} of ${kind}`);
          }
        if (long > SMALL_MS && long >= TIMES * short)
          slow.push(`${call.operation} ${name}: ${short.toFixed(1)} to ${long.toFixed(1)} ms with ${kind}`);
        return taken;
      };
      const takes: [TextField, number][] = [];
      for (const field of call.texts) {
        const name = `${call.operation} ${nameOf(field)}`;
        if (refused.has(name)) continue;
        const taken = await compare(nameOf(field), (length) => [[field, textOf(length)]]);
        if (taken > 0 && "place" in field) takes.push([field, taken]);
        if (taken === 0) refused.add(name);
      }
      // What is said in one text may be looked for in another.
      if (takes.length > 1)
        await compare("all texts", (length) =>
          takes.map(([field, taken]) => [field, textOf(Math.min(length, taken))] as const),
        );
    }
  expect(failed).toEqual([]);
  expect(slow).toEqual([]);
}, 1_200_000);
