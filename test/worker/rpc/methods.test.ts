// The methods of the entrypoint `Memory`, which are those of the client. The access tests call each of them, too.
import { describe, expect, it, vi } from "vitest";
import type { Memory, Remote } from "#client/entrypoint.ts";
import { clientInWorker } from "#client/in-worker.ts";
import { type Cairn, cairn } from "#client/index.ts";
import { methods as methodOf } from "../../../packages/client/test/methods.ts";
import type { BindingAnswer, BindingCall } from "../../../src/domain/binding.ts";
import { realTime } from "../../../packages/client/src/retry.ts";
import { addMethods } from "../../../src/worker/rpc/methods.ts";
import { memoryOf } from "../../../src/worker/rpc/memory.ts";
import { answerOfMethod, methodsWith } from "../../binding-calls.ts";
import { newUser } from "../../call.ts";
import { wrongProps } from "../../wrong-props.ts";

type Method = (...args: readonly unknown[]) => unknown;

const ALL = { users: ["*"], scopes: ["read", "write", "cache", "admin"] };

const { later: _, ...parts } = cairn({ binding: { call: () => Promise.reject(new Error("no call")) } });
const namesOn = (prototype: object) =>
  Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
/** Each method by its path, as `recall` or `memories.remember`. */
const methods = Object.entries(parts).flatMap(([name, part]) =>
  typeof part === "function"
    ? [name]
    : namesOn(Object.getPrototypeOf(part)).map((method) => `${name}.${method}`),
);

const Entrypoint = memoryOf<Memory>(() => Promise.reject(new Error("no call")), clientInWorker());

function valueOf<T>(answer: Remote<T>): T {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

/** Calls one by its path, as a Worker without types does. */
const called = (path: string, props: Record<string, unknown>, args: readonly unknown[]) =>
  calledOn(methodsWith(props), path, args);

async function calledOn(memory: object, path: string, args: readonly unknown[]): Promise<unknown> {
  const [group = "", method] = path.split(".");
  const found: unknown = Reflect.get(memory, group);
  const of: unknown = method === undefined ? memory : found;
  const run: unknown = method === undefined ? found : Reflect.get(Object(found), method);
  const value: unknown = await Reflect.apply(run as Method, of, args);
  // Items are asked for when they are read.
  return Symbol.asyncIterator in Object(value) && "next" in Object(value)
    ? (value as AsyncGenerator).next()
    : value;
}

const at = {
  user: "alice",
  id: "x",
  key: "k",
  seq: "1",
  compaction: "c",
  profile: "p",
  predicate: "p",
  tokenId: "t",
};

/** Arguments of each method: those of the methods of the routes, as a client without a Cairn records them. */
const argsOf = new Map<string, readonly unknown[]>([
  ["kv.getVersioned", ["alice", "k"]],
  ["cache.getVersioned", ["k"]],
  ...["kv.all", "memories.all", "threads.all", "usage.all", "changes.pages"].map(
    (name) => [name, ["alice"]] as const,
  ),
  ...["threads.messages", "threads.stream", "threads.allCompactions"].map((name) => [name, ["x"]] as const),
  ["memories.allHistory", ["alice", "x"]],
  ["memories.reviewAll", ["alice", { decision: "reject" }]],
  ["erasures.thread", ["alice", "x"]],
  ["retention.preview", ["alice", { messages: "3650d" }]],
  ["retention.previewTenant", [{ messages: "3650d" }]],
  ...["tenant.openapi", "tenant.allUsers", "threads.ofAllUsers"].map((name) => [name, []] as const),
  ...["access.allRevocations", "access.allAudit", "promptCache.hours"].map((name) => [name, []] as const),
]);
for (const call of Object.values(methodOf)) await call(recorder(), at);

function recorder(): Cairn {
  const noting = (path: string) =>
    function note(...args: unknown[]) {
      argsOf.set(path, args);
    };
  // As much of a client as the calls of the table touch.
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      typeof part === "function"
        ? noting(name)
        : new Proxy({}, { get: (_target, method) => noting(`${name}.${String(method)}`) }),
    ]),
  ) as unknown as Cairn;
}

it("are those of the client, and `call`, and nothing else that RPC reaches", () => {
  expect(namesOn(Entrypoint.prototype).toSorted()).toEqual(["call", ...Object.keys(parts)].toSorted());
  for (const [name, part] of Object.entries(parts).filter(([, one]) => typeof one !== "function")) {
    const group: object = Reflect.get(Entrypoint.prototype, name, { call: () => undefined });
    expect(namesOn(Object.getPrototypeOf(group))).toEqual(namesOn(Object.getPrototypeOf(part)));
    expect(Object.keys(group)).toEqual([]);
  }
  expect([...argsOf.keys()].toSorted()).toEqual(methods.toSorted());
});

describe("refuse a binding whose props", () => {
  it.each(wrongProps)("%s", async (_name, props, fields) => {
    for (const method of methods) {
      const answer = await called(method, props, argsOf.get(method) ?? []);
      expect([method, answer]).toEqual([
        method,
        { ok: false, error: expect.objectContaining({ code: "invalid_props", status: 403 }) },
      ]);
      const { body } = await answerOfMethod(answer);
      expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(fields);
    }
  });
});

it("answer with the value", async () => {
  const [user, memory] = [newUser(), methodsWith(ALL)];
  expect(await memory.memories.remember(user, { text: "I moved to Lisbon" })).toMatchObject({
    ok: true,
    value: { text: "I moved to Lisbon" },
  });
  expect(await memory.recall(user, { query: "Lisbon" })).toMatchObject({
    ok: true,
    value: { hits: [{ text: "I moved to Lisbon" }] },
  });
  expect(await memory.kv.set(user, "k", { n: 1 })).toMatchObject({ ok: true });
  expect(await memory.kv.get(user, "k")).toEqual({ ok: true, value: { n: 1 } });
  expect(await memory.kv.get(user, "none")).toEqual({ ok: true, value: null });
  expect(await memory.kv.delete(user, "k")).toEqual({ ok: true, value: undefined });
});

it("answer with the code and the fields of a refusal", async () => {
  const memory = methodsWith({ users: ["alice"], scopes: ["read"] });
  expect(await memory.recall("alice", { query: "" })).toEqual({
    ok: false,
    error: {
      code: "invalid_request",
      message: expect.stringMatching(/^The request .*\(body\.query must not be empty\)$/),
      status: 400,
      details: [{ path: "body.query", message: "must not be empty" }],
      requestId: expect.any(String),
      retryAfter: undefined,
    },
  });
  expect(await memory.kv.set("alice", "k", 1)).toMatchObject({ error: { code: "forbidden", status: 403 } });
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

it.each([
  ["no user", "recall", [undefined, { query: "x" }], "recall: `arguments.0` is missing"],
  ["a user that no path carries", "kv.list", [".."], "not sent: a part of the path is '..'"],
  [
    "an option that there is not",
    "recall",
    ["alice", { query: "x" }, { wait: 1 }],
    "`wait` is not an option",
  ],
  ["no value", "kv.set", ["alice", "k"], "kv.set: `arguments.2` is missing"],
  ["a list that is none", "memories.rememberMany", ["alice", 1], "body.memories must be an array"],
  ["no ingest", "ingest", ["alice"], "ingest: `arguments.1` is missing"],
  ["a filter that is null", "memories.list", ["alice", null], "`arguments.1` must be an object, or left out"],
  ["options that are a list", "recall", ["alice", { query: "x" }, []], "`arguments.2` must be an object"],
  ["a value that contains itself", "kv.set", ["alice", "k", cyclic], "kv.set: `arguments.2` contains itself"],
  ["a body of another type", "transfer.import", ["alice", 7], "an import takes a text"],
])("refuse %s as an invalid request", async (_name, method, args, message) => {
  expect(await called(method, ALL, args)).toMatchObject({
    ok: false,
    error: { code: "invalid_request", status: 400, message: expect.stringContaining(message) },
  });
});

describe("send the call of their name, whatever an option is called:", () => {
  const names = { method: "DELETE", path: ["v1", "users", "bob"], headers: { "Cairn-Namespace": "b" } };
  const replaced = {
    ...names,
    query: { x: 1 },
    json: 1,
    body: { of: "", type: "x" },
    long: 1,
    repeatable: true,
  };
  /** The calls that a method sends, by their verb and path, and why it refused to. */
  const sentBy = async (path: string, args: readonly unknown[]) => {
    const sent: string[] = [];
    const call = async ({ method, path: whole, headers }: BindingCall) => {
      sent.push(`${method} ${whole.split("?", 1)[0]} ${headers?.["Cairn-Namespace"]}`);
      return { status: 200, headers: {}, body: '{"items":[],"more":false}' };
    };
    const answer = await calledOn(cairn({ binding: { call } }), path, args).then(
      (value) => value,
      (error: unknown) => String(error),
    );
    return { sent, refused: /is not an option|is an object/.test(String(answer)) };
  };
  /** As a query takes them. */
  const texts = Object.fromEntries(Object.keys(replaced).map((name) => [name, "x"]));
  it.each(methods)("%s", async (method) => {
    const args = argsOf.get(method) ?? [];
    const { sent } = await sentBy(method, args);
    const refusals: boolean[] = [];
    // The options are the last argument; before them are a filter or fields, which are a query or a body.
    for (const before of [0, 1, 2])
      for (const options of [replaced, texts]) {
        const given = [...args, ...Array.from({ length: before }, () => undefined), options];
        const of = await sentBy(method, given);
        expect(of.refused ? [] : of.sent).toEqual(of.refused ? of.sent : sent);
        if (options === texts) refusals.push(of.refused);
      }
    const keptInBody = ["kv.set", "threads.append", "cache.set", "cache.forget"];
    expect(refusals.includes(true)).toBe(!keptInBody.includes(method));
  });
});

it.each([
  ["a map", "kv.set", ["alice", "k", new Map([["a", 1]])], "arguments.2", "the type Map"],
  [
    "a set in metadata",
    "memories.remember",
    ["alice", { text: "x", metadata: { a: [new Set()] } }],
    "arguments.1.metadata.a.0",
    "the type Set",
  ],
  ["a function", "kv.set", ["alice", "k", { n: 2, f: () => 1 }], "arguments.2.f", "a function"],
  [
    "a value that is made for JSON by its caller",
    "kv.set",
    ["alice", "k", { n: 2, a: { toJSON: () => 1 } }],
    "arguments.2.a.toJSON",
    "a function",
  ],
  [
    "bytes in a message",
    "threads.append",
    ["t", [{ role: "user", content: new Uint8Array(2) }]],
    "arguments.1.0.content",
    "the type Uint8Array",
  ],
  ["a large integer", "kv.set", ["alice", "k", 2n], "arguments.2", "a bigint"],
  ["a blob that is no import", "kv.set", ["alice", "k", new Blob(["x"])], "arguments.2", "the type Blob"],
  [
    "an option that is an error",
    "kv.set",
    ["alice", "k", 1, { ttlMs: new Error("x") }],
    "arguments.3.ttlMs",
    "the type Error",
  ],
])("refuse %s, which JSON would lose, and name its path", async (_name, method, args, path, type) => {
  const message = expect.stringContaining(`is ${type.startsWith("the") ? "of " : ""}${type}`);
  expect(await called(method, ALL, args)).toMatchObject({
    ok: false,
    error: { code: "invalid_request", status: 400, message, details: [{ path, message }] },
  });
});

it("take a date as JSON has it, and fields that are undefined as none", async () => {
  const [user, memory] = [newUser(), methodsWith(ALL)];
  const value = { at: new Date(0), none: undefined };
  expect(await memory.kv.set(user, "k", value)).toMatchObject({ ok: true });
  expect(await memory.kv.get(user, "k")).toMatchObject({ value: { at: "1970-01-01T00:00:00.000Z" } });
});

it.each([
  ["an ingest of null", "ingest", ["alice", null]],
  ["a batch that is no list", "kv.batch", ["alice", { operations: [] }]],
  ["an operation that is null", "kv.batch", ["alice", [null]]],
  ["a lease of null", "cache.lease", ["k", null]],
  ["a review of null", "memories.review", ["alice", null]],
  ["a review of no list", "memories.review", ["alice", { memories: "x" }]],
  ["a prompt of null", "promptCache.resolve", [null]],
])("let the schema refuse %s", async (_name, method, args) => {
  const details = expect.arrayContaining([expect.objectContaining({ path: expect.stringMatching(/^body/) })]);
  expect(await called(method, ALL, args)).toMatchObject({
    error: { code: "invalid_request", status: 400, details, requestId: expect.any(String) },
  });
});

it.each([
  ["cannot be reached", () => Promise.reject(new TypeError("x is not a function"))],
  ["answers no JSON", () => Promise.resolve({ status: 200, headers: {}, body: "x" })],
])("log a Cairn that %s, and answer as an internal failure", async (_name, call) => {
  using logged = vi.spyOn(console, "error").mockReturnValue();
  const recall: Memory["recall"] = Reflect.get(Entrypoint.prototype, "recall").bind({ call });
  const answer = await recall("alice", { query: "x" });
  expect(answer).toMatchObject({ ok: false, error: { code: "internal", status: 500 } });
  const requestId = answer.ok ? undefined : answer.error.requestId;
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ message: "request failed", requestId }));
});

describe("stream pages of which one fails midway", () => {
  const pagesOf = async (answers: readonly BindingAnswer[]) => {
    const left = [...answers];
    const call = async () => left.shift() ?? busy;
    class Here {
      call = call;
    }
    addMethods(
      Here,
      clientInWorker({ ...realTime, sleep: async () => undefined, after: () => () => undefined }),
    );
    const kv: Memory["kv"] = Reflect.get(Here.prototype, "kv", { call });
    return new Response(valueOf(await kv.all("alice"))).text();
  };
  const page = (key: string, cursor?: string) => ({
    status: 200,
    headers: {},
    body: JSON.stringify({ items: [{ key }], cursor }),
  });
  const busy = { status: 429, headers: { "retry-after": "1" }, body: "{}" };

  it("and go on after a retry", async () => {
    expect(await pagesOf([page("a", "c"), busy, page("b")])).toBe('{"key":"a"}\n{"key":"b"}\n');
  });

  it("and break off after the last retry, and log it", async () => {
    using logged = vi.spyOn(console, "error").mockReturnValue();
    await expect(pagesOf([page("a", "c")])).rejects.toThrow("429");
    const error = expect.stringContaining("429");
    expect(logged).toHaveBeenCalledWith({ message: "items of a method broke off", error });
  });
});

it("hand a large text on as it is", async () => {
  let body: unknown;
  const call = async (given: BindingCall) => {
    ({ body } = given);
    return { status: 200, headers: {}, body: "{}" };
  };
  const kv: Memory["kv"] = Reflect.get(Entrypoint.prototype, "kv", { call });
  await kv.set("alice", "k", "x".repeat(2 * 1024 * 1024));
  expect(typeof body).toBe("string");
});

it("do what a repeated key did, once", async () => {
  const [user, memory] = [newUser(), methodsWith(ALL)];
  const write = () => memory.threads.create(user, { title: "one" }, { idempotencyKey: "k" });
  expect(await write()).toEqual(await write());
  expect(await memory.threads.list(user)).toMatchObject({ value: { items: [{ title: "one" }] } });
});

it("stream what comes one by one as lines of JSON, and an export", async () => {
  const [user, memory] = [newUser(), methodsWith(ALL)];
  const { id } = valueOf(await memory.threads.create(user));
  await memory.threads.append(id, [
    { role: "user", content: "hi" },
    { role: "assistant", content: "ho" },
  ]);
  const linesOf = async (answer: unknown) =>
    (await answerOfMethod(answer)).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  for (const name of ["stream", "messages"] as const)
    expect(await linesOf(await memory.threads[name](id))).toMatchObject([
      { message: { content: "hi" } },
      { message: { content: "ho" } },
    ]);
  expect(await linesOf(await memory.memories.all(user))).toEqual([]);
  expect(await linesOf(await memory.changes.pages(user))).toMatchObject([{ more: false }]);
  expect((await linesOf(await memory.transfer.export(user))).at(-1)).toMatchObject({ type: "end" });
});

it("refuse a stream to a stranger before it begins", async () => {
  const owner = newUser();
  const stranger = { users: [newUser()], scopes: ["read", "write"] };
  for (const method of [
    "memories.all",
    "kv.all",
    "threads.all",
    "threads.stream",
    "changes.pages",
    "usage.all",
  ])
    expect([method, await called(method, stranger, [owner])]).toEqual([
      method,
      { ok: false, error: expect.objectContaining({ code: "not_found", status: 404 }) },
    ]);
});

it("let go of a stream that its reader cancels", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("{}\n")),
    cancel: () => void (cancelled = true),
  });
  // Without a binding in between, which may let go of a stream by itself when a call ends.
  const call = () => Promise.resolve({ status: 200, headers: {}, body });
  const threads: Memory["threads"] = Reflect.get(Entrypoint.prototype, "threads", { call });
  const answer = await threads.stream("t");
  await valueOf(answer).cancel();
  await expect.poll(() => cancelled).toBe(true);
});
