// Every text that the API takes, made of what is hard to read, and messages of many small parts: eight times as much costs less than
// twelve times the CPU. The server is a process of its own, whose CPU nothing else uses.
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Server, startCairn } from "../../packages/lab/bench/servers.ts";
import { mintToken, scopes } from "../../src/domain/token.ts";
import { fromNow } from "../from-now.ts";
import { bodyWith, type Call, callsOf, type Document, nameOf, type TextField } from "../text-fields.ts";

const repeated = (text: string) => (length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const HOSTILE = {
  "repeated words": repeated("my tea and "),
  punctuation: repeated("-.:,'\"/"),
  digits: repeated("1/"),
  "one endless word": repeated("a"),
  "new lines": repeated("\nx"),
  sentences: repeated("I like tea. "),
} as const;
/** Calls that take no text: there is no compaction, an import is no JSON, and a retention wants an age. */
const REFUSED: readonly string[] = [
  "DELETE /v1/threads/{id}/compactions/{compaction} 404",
  "POST /v1/users/{user}/import 415",
  "POST /v1/users/{user}/restore 400",
  "POST /v1/users/{user}/sign-in-codes 503",
  "PUT /v1/retention 400",
  "PUT /v1/users/{user}/retention 400",
];
/** Calls whose texts are all ids, cursors, names of a form, or shorter than the shorter length. */
const SHORT_TEXTS: readonly string[] = [
  "DELETE /v1/threads/{id}",
  "DELETE /v1/threads/{id}/messages/{seq}",
  "DELETE /v1/users/{user}/memories",
  "DELETE /v1/users/{user}/memories/{id}",
  "DELETE /v1/users/{user}/retention",
  "GET /v1/audit",
  "GET /v1/cache/{key}",
  "GET /v1/ingests/{id}",
  "GET /v1/prompt-cache/stats",
  "GET /v1/threads/{id}",
  "GET /v1/threads/{id}/compactions",
  "GET /v1/threads/{id}/messages",
  "GET /v1/users",
  "GET /v1/users/{user}/changes",
  "GET /v1/users/{user}/context-profiles",
  "GET /v1/users/{user}/export",
  "GET /v1/users/{user}/kv/{key}",
  "GET /v1/users/{user}/memories/{id}",
  "GET /v1/users/{user}/memories/{id}/history",
  "GET /v1/users/{user}/retention",
  "GET /v1/users/{user}/sign-ins",
  "GET /v1/users/{user}/summary",
  "GET /v1/users/{user}/usage",
  "POST /v1/cache/{key}/take",
  "POST /v1/ingests/{id}/retry",
  "POST /v1/prompt-cache/report",
  "POST /v1/users/{user}/memories/{id}/release",
  "POST /v1/users/{user}/memories/{id}/restore",
  "POST /v1/webhook/resume",
];
/** The answer of a call whose service this server has not. */
const NOT_BOUND = 501;
const [SHORT, LONG] = [1_000, 8_000];
/** Eight times as much text may cost so many times the CPU; a cost that grows with the square takes 64 times. */
const TIMES = 12;
/** Milliseconds of CPU that hold nobody up, and within which a machine is not exact. */
const SMALL_MS = 15;
/** The least of so many counts, where the first is above the bound: other work of the server is in some of them. */
const COUNTS = 5;
/** Ends the work of all others, or of this user. */
const ENDS = /revocations|erasures|reindex|^DELETE \/v1\/users\/\{user\}$/;

/** Not every system tells a process's CPU. */
const noCpu = !existsSync("/proc/self/schedstat");

let server: Server;
let token: string;
beforeAll(async () => {
  server = await startCairn({ evicts: false });
  token = await mintToken(server.secret, { user: "*", scope: scopes }, fromNow(-60_000));
  if (!noCpu && server.cpu() === null) throw new Error("the CPU of the server cannot be read");
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
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: (server.cpu() ?? 0) - before };
}
// oxlint-disable-next-line typescript/no-explicit-any -- Answers of several shapes.
const read = async (...call: Parameters<typeof send>): Promise<any> => JSON.parse((await send(...call)).text);

/** A user who has a thread, a memory, and the rest of what the path may name. */
async function newcomer(path: string) {
  const user = crypto.randomUUID();
  const of = `/v1/users/${user}`;
  const threadOf = async () => {
    const { id } = await read("POST", `${of}/threads`, { json: {} });
    const messages = [{ role: "user", content: "I like tea. My sister Ida called." }];
    await read("POST", `/v1/threads/${id}/messages`, { json: { messages } });
    const json = { threadId: id };
    return [id, path.includes("/ingests/") && (await read("POST", `${of}/ingest`, { json })).ingestId];
  };
  const memoryOf = async () => {
    const { id } = await read("POST", `${of}/memories`, { json: { text: "tea is good" } });
    const json = { query: "tea" };
    return [id, path.includes("/recalls/") && (await read("POST", `${of}/recall`, { json })).recallId];
  };
  const entryOf = (at: string) =>
    path.startsWith(at) && send("PUT", `${at.replace("{user}", user)}/tea`, { json: 1 });
  const [[thread, ingest], [memory, recall]] = await Promise.all([
    threadOf(),
    memoryOf(),
    entryOf("/v1/users/{user}/kv"),
    entryOf("/v1/cache"),
  ]);
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
  if (operation === "DELETE /v1/cache/{key}/lease" && !query.has("id")) query.set("id", ids.memory);
  const headers = Object.fromEntries(of("header").map(([name, text]) => [name, encodeURIComponent(text)]));
  const texts = given.flatMap(([field, text]) => ("place" in field ? [[field.place, text] as const] : []));
  const plain = (name: string) => ({ role: "user", kind: "fact", threadId: ids.thread })[name] ?? "tea";
  const json = body === null ? undefined : bodyWith(document, body, { texts, plain });
  if (operation.endsWith("/context")) {
    const context = json as { messages?: unknown[] };
    if (context.messages !== undefined)
      context.messages = context.messages.map((content) => ({ role: "user", content }));
  }
  if (operation.endsWith("/outcome")) Object.assign(json as object, { answer: "tea", ...(json as object) });
  if (operation.endsWith("/resolve") && !("regions" in (json as object)))
    Object.assign(json as object, { hash: "0".repeat(64), ...(json as object) });
  if (operation === "PUT /v1/predicates/{predicate}") Object.assign(json as object, { cardinality: "many" });
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

/** Texts that are sent together: those of a body that are not of two shapes of one place, or of the same kind of parameter. */
function together(fields: readonly TextField[]): TextField[][] {
  const excludes = (one: TextField, other: TextField): boolean => {
    if (!("place" in one && "place" in other)) return one.in !== other.in;
    const i = one.place.findIndex((part, n) => part !== other.place[n]);
    return [one, other].every(({ place }) => place[i]?.startsWith("|"));
  };
  const groups: TextField[][] = [];
  for (const field of fields) {
    const group = groups.find((some) => !some.some((one) => excludes(one, field)));
    if (group === undefined) groups.push([field]);
    else group.push(field);
  }
  return groups;
}

/** Sends both lengths, and again while the costs look wrong. `cost`: both, if they are. */
async function compare(sendOf: (length: number) => Promise<{ status: number; ms: number }>) {
  let [short, long] = [Infinity, Infinity];
  const statuses = new Set<number>();
  const isSlow = () => long > SMALL_MS && long >= TIMES * short;
  for (let i = 0; i < COUNTS && (i === 0 || isSlow()); i++)
    for (const length of [SHORT, LONG]) {
      const { status, ms } = await sendOf(length);
      if (length === SHORT) short = Math.min(short, ms);
      else long = Math.min(long, ms);
      statuses.add(status);
    }
  return {
    cost: isSlow() ? `${short.toFixed(1)} to ${long.toFixed(1)} ms` : null,
    taken: [...statuses].every((status) => status < 400),
    broken: [...statuses].filter((status) => status >= 500 && status !== NOT_BOUND),
  };
}

it.skipIf(noCpu)(
  "reads eight times as much of any text at no more than twelve times the CPU",
  async () => {
    const document: Document = await read("GET", "/openapi.json");
    const slow: string[] = [];
    const failed: string[] = [];
    const refused: string[] = [];
    const short: string[] = [];
    for (const call of callsOf(document).filter(({ operation }) => !ENDS.test(operation))) {
      const { status: plain } = await sendWith(document, call, [], await newcomer(call.path));
      const longest = new Map<TextField, number>();
      const ids = await newcomer(call.path);
      for (const field of call.texts) {
        const name = `${call.operation} ${nameOf(field)}`;
        const taken: number[] = [];
        // A refused text costs no more either.
        const { cost, broken } = await compare(async (length) => {
          const answer = await sendWith(document, call, [[field, HOSTILE["repeated words"](length)]], ids);
          if (answer.status < 400) taken.push(length);
          return answer;
        });
        for (const status of broken) failed.push(`${name}: ${status}`);
        if (cost !== null) slow.push(`${name}: ${cost}`);
        if (taken.length > 0) longest.set(field, Math.max(...taken));
      }
      if (longest.size === 0 && plain >= 400) refused.push(`${call.operation} ${plain}`);
      else if (longest.size === 0 && call.texts.length > 0) short.push(call.operation);
      if (longest.size === 0) continue;
      for (const [kind, textOf] of Object.entries(HOSTILE)) {
        const fresh = await newcomer(call.path);
        const tryAll = async (fields: readonly TextField[]) => {
          const name = `${call.operation} ${fields.map(nameOf).join(", ")}`;
          const { cost, taken, broken } = await compare((length) => {
            const given = fields.map(
              (field) => [field, textOf(Math.min(length, longest.get(field) ?? length))] as const,
            );
            return sendWith(document, call, given, fresh);
          });
          for (const status of broken) failed.push(`${name}: ${status} to ${kind}`);
          return { taken, slow: cost === null ? [] : [`${name}: ${cost} with ${kind}`] };
        };
        for (const fields of together([...longest.keys()])) {
          const all = await tryAll(fields);
          if (all.taken && all.slow.length === 0) continue;
          // One at a time tells which one is slow, and what each of those costs that do not go together.
          const each = [];
          for (const field of fields.length > 1 ? fields : []) each.push(...(await tryAll([field])).slow);
          slow.push(...(each.length > 0 ? each : all.slow));
        }
      }
    }
    const [refusedCalls, shortTexts] = [refused.toSorted(), short.toSorted()];
    expect({ failed, slow, refusedCalls, shortTexts }).toEqual({
      failed: [],
      slow: [],
      refusedCalls: REFUSED,
      shortTexts: SHORT_TEXTS,
    });
  },
  1_200_000,
);

/** Messages of as many small parts, as the SDKs and providers write them. */
const PARTS: Record<string, (n: number) => object[]> = {
  texts: (n) => [assistant(n, () => ({ type: "text", text: "tea" }))],
  reasoning: (n) => [assistant(n, () => ({ type: "reasoning", text: "tea" }))],
  approvals: (n) => [assistant(n, (i) => ({ type: "tool-approval-request", approvalId: i, toolCallId: i }))],
  "calls of the AI SDK": (n) => [
    assistant(n, (i) => ({ type: "tool-call", toolCallId: i, toolName: "tea", input: {} })),
    {
      role: "tool",
      content: some(n, (i) => ({
        type: "tool-result",
        toolCallId: i,
        toolName: "tea",
        output: { type: "text", value: "tea" },
      })),
    },
  ],
  "calls of Anthropic": (n) => [
    assistant(n, (i) => ({ type: "tool_use", id: i, name: "tea", input: {} })),
    { role: "user", content: some(n, (i) => ({ type: "tool_result", tool_use_id: i, content: "tea" })) },
  ],
  "calls that the provider carries out": (n) => [
    assistant(n, (i) => ({ type: "server_tool_use", id: i, name: "web_search", input: {} })),
    assistant(n, (i) => ({ type: "web_search_tool_result", tool_use_id: i, content: [] })),
  ],
  "calls of Gemini": (n) => [
    { role: "model", parts: some(n, () => ({ functionCall: { name: "tea", args: {} } })) },
    { role: "user", parts: some(n, () => ({ functionResponse: { name: "tea", response: {} } })) },
  ],
  "calls of OpenAI": (n) => [
    {
      role: "assistant",
      content: null,
      tool_calls: some(n, (id) => ({ id, type: "function", function: { name: "tea", arguments: "{}" } })),
    },
  ],
  "parts of a UI": (n) => [
    {
      role: "assistant",
      parts: some(n, (toolCallId) => ({ type: "tool-tea", toolCallId, state: "input-available", input: {} })),
    },
  ],
};
const some = (n: number, part: (id: string) => object) => Array.from({ length: n }, (_, i) => part(`c${i}`));
const assistant = (n: number, part: (id: string) => object) => ({
  role: "assistant",
  content: some(n, part),
});

it.skipIf(noCpu).for(Object.entries(PARTS))(
  "reads eight times as many %s in any view at no more than twelve times the CPU",
  async ([, messagesOf]) => {
    const user = crypto.randomUUID();
    const results: Record<string, unknown> = {};
    const threads = new Map<number, string>();
    results.append = await compare(async (length) => {
      const { id } = await read("POST", `/v1/users/${user}/threads`, { json: {} });
      threads.set(length, id);
      return send("POST", `/v1/threads/${id}/messages`, { json: { messages: messagesOf(length) } });
    });
    for (const view of ["raw", "sanitized", "compacted", "prompted"])
      results[view] = await compare((length) =>
        send("GET", `/v1/threads/${threads.get(length)}/messages?view=${view}`),
      );
    results.context = await compare((length) => {
      const json = { query: "tea", threadId: threads.get(length), format: "messages" };
      return send("POST", `/v1/users/${user}/context`, { json });
    });
    const fine = { cost: null, taken: true, broken: [] };
    expect(results).toEqual(Object.fromEntries(Object.keys(results).map((name) => [name, fine])));
  },
);
