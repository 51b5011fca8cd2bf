// The spans of each call: what they say, what they never say, and that no call fails or waits for a collector.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AlarmScheduler } from "../../../durable-objects/storage/alarm-scheduler.ts";
import { Chores } from "../../../durable-objects/storage/chores.ts";
import type { Bindings } from "../../../src/platform/bindings.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { MEMORY_OPERATIONS, spansOf } from "../../../src/platform/traces/otlp-spans.ts";
import { OtlpTraces } from "../../../src/platform/traces/otlp-traces.ts";
import { begun, continued } from "../../../src/platform/traces/trace-context.ts";
import {
  type TraceBindings,
  tracesFromBindings,
  tracesProblem,
} from "../../../src/platform/traces/traces-from-bindings.ts";
import type { TracedCall } from "../../../src/platform/traces/traces.ts";
import { createApp } from "../../../src/worker/app.ts";
import { operationOf } from "../../../src/worker/http/guard.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { call as callWorker, newUser, token } from "../../call.ts";
import { declared, declaredOperations } from "../../declared.ts";
import { control, restore } from "../../doubles/control.ts";
import { faultyPorts, realPorts } from "../../doubles/ports.ts";
import { pathOf } from "../../operations.ts";

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  for (const level of ["error", "warn", "info", "log"] as const)
    vi.spyOn(console, level).mockImplementation((...given: unknown[]) => {
      logged.push(JSON.stringify(given));
    });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  restore();
});

type Attribute = { key: string; value: { stringValue?: string; intValue?: string; boolValue?: boolean } };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status?: { code: number };
};
type Sent = { url: string; init: RequestInit; body: string };

const bodyOf = ({ body }: RequestInit): string => {
  if (typeof body !== "string") throw new Error("the body is a text");
  return body;
};
const spansIn = ({ body }: Sent): Span[] => {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
};
const attributesOf = (span: Span | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue),
    ]),
  );

it("an alarm is a trace of its own, with a span for each chore that did something", async () => {
  const sent: Sent[] = [];
  const traces = new OtlpTraces({
    url: new URL("https://collector.test/v1/traces"),
    headers: {},
    service: "cairn",
    share: 1,
    fetch: async (url, init) => {
      sent.push({ url, init, body: bodyOf(init) });
      return new Response("{}");
    },
    now: () => 0,
  });
  const { object, user } = await newObject();
  await runInDurableObject(object, async (_, { storage }) => {
    const { sql } = storage;
    let now = 1_000;
    const chores = new Chores(
      {
        sql,
        alarms: new AlarmScheduler(storage),
        now: () => now,
        onRun: (alarm) => void traces.sendAlarm(alarm),
      },
      {
        idle: { run: () => {}, nextDue: () => null },
        works: {
          run: () => {
            sql.exec("CREATE TABLE worked (n)");
            sql.exec("INSERT INTO worked VALUES (1)");
            now += 5;
          },
          nextDue: () => null,
        },
        fails: {
          run: () => {
            throw new Error(`about ${user}`);
          },
          nextDue: () => null,
        },
      },
    );
    await chores.run();
  });
  const [alarm, ...spans] = sent.flatMap(spansIn);
  expect(alarm).toMatchObject({
    name: "alarm",
    startTimeUnixNano: "1000000000",
    endTimeUnixNano: "1005000000",
  });
  expect(spans.map(({ name, status, parentSpanId }) => [name, status?.code, parentSpanId])).toEqual([
    ["chore works", undefined, alarm?.spanId],
    ["chore fails", 2, alarm?.spanId],
  ]);
  expect(sent[0]?.body).not.toContain(user);
});

/** A user's object, which the platform's alarm leaves alone. */
async function newObject() {
  const user = newUser();
  return { user, object: env.USER_MEMORY.getByName(await userHash(user)) };
}

/** A collector, and a Worker of its own that sends to it. `answer`: what it does with each trace. */
function collector(answer: (init: RequestInit) => Promise<Response> = async () => new Response("{}")) {
  const sent: Sent[] = [];
  let now = 0;
  const traces = new OtlpTraces({
    url: new URL("https://collector.test/v1/traces?key=in-the-address"),
    headers: { "x-key": "in-a-header" },
    service: "cairn-acme",
    share: 1,
    fetch: (url, init) => {
      sent.push({ url, init, body: bodyOf(init) });
      return answer(init);
    },
    now: () => now,
  });
  const makePorts = (bindings: Bindings) => ({ ...faultyPorts(bindings), traces });
  const app = createApp(makePorts);
  const call = async (
    path: string,
    {
      method,
      json,
      raw,
      headers,
      bearer,
    }: Partial<{
      method: string;
      json: unknown;
      raw: string;
      headers: Record<string, string>;
      bearer: string;
    }> = {},
  ) => {
    const body = json === undefined ? raw : JSON.stringify(json);
    const response = await app.request(
      path,
      {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          Authorization: `Bearer ${bearer ?? (await token("*"))}`,
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      },
      env,
    );
    await response.arrayBuffer();
    return response;
  };
  /** The spans of a call: its own first. */
  const traced = async (...given: Parameters<typeof call>) => {
    const before = sent.length;
    const answered = await call(...given);
    await expect.poll(() => sent.length).toBe(before + 1);
    const last = sent[before];
    if (last === undefined) throw new Error("nothing was sent");
    const [root, ...waits] = spansIn(last);
    if (root === undefined) throw new Error("there is no span");
    return { answered, root, waits, sent: last };
  };
  return { sent, traces, makePorts, call, traced, passes: (ms: number) => void (now += ms) };
}

const CALL: TracedCall = {
  method: "GET",
  route: "/health",
  status: 200,
  code: "ok",
  startedAt: 1_700_000_000_000,
  ms: 2.5,
  traceparent: null,
  requestId: null,
  waits: [],
  unlisted: 0,
  records: null,
  degraded: false,
};

describe("a call", () => {
  it("is a span with the route's template, and one for each wait below it", async () => {
    const user = newUser();
    const { traced } = collector();
    const written = await traced(`/v1/users/${user}/memories`, { json: { text: "I keep bees" } });
    expect(written.root).toMatchObject({ name: "POST /v1/users/{user}/memories", kind: 2 });
    expect(written.root).not.toHaveProperty("status");
    expect(written.root).not.toHaveProperty("parentSpanId");
    expect(attributesOf(written.root)).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/users/{user}/memories",
      "http.response.status_code": 201,
      "gen_ai.operation.name": "upsert_memory",
    });
    const { root, waits, answered } = await traced(`/v1/users/${user}/recall`, { json: { query: "bees" } });
    expect(attributesOf(root)).toMatchObject({
      "gen_ai.operation.name": "search_memory",
      "gen_ai.memory.record.count": 1,
    });
    // An answer, and each line of the log, leads to its trace.
    expect(root.traceId).toBe(answered.headers.get("X-Request-Id")?.replaceAll("-", ""));
    expect(waits.map(({ name }) => name)).toContain("object user.recall");
    for (const wait of waits) {
      expect(wait).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId, kind: 3 });
      const [from, to] = [BigInt(wait.startTimeUnixNano), BigInt(wait.endTimeUnixNano)];
      expect(from).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
      expect(to).toBeGreaterThanOrEqual(from);
      expect(to).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
    }
    expect(new Set([root, ...waits].map(({ spanId }) => spanId)).size).toBe(waits.length + 1);
    const listed = await traced("/v1/statistics");
    expect(listed.waits.map(({ name }) => name)).toContain("d1 users.count");
  });

  it("of a sign-in has its waits for D1, too", async () => {
    const { sent, traces } = collector();
    const app = createApp((bindings) => ({ ...realPorts(bindings), traces }));
    const spans = async (path: string, init: RequestInit = {}) => {
      const before = sent.length;
      const given = { ...env, SIGN_IN: "codes" };
      await (await app.request(`https://cairn.test${path}`, init, given)).arrayBuffer();
      await expect.poll(() => sent.length).toBe(before + 1);
      const [root, ...waits] = sent.slice(before).flatMap(spansIn);
      return { error: attributesOf(root)["error.type"], waits: waits.map(({ name }) => name) };
    };
    expect(await spans("/oauth/authorize?response_type=code&client_id=nobody")).toEqual({
      error: "invalid_request",
      waits: ["d1 signIns.get"],
    });
    const body = new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: "nobody",
    });
    expect((await spans("/oauth/token", { method: "POST", body })).waits).toEqual(["d1 signIns.get"]);
    const signIn = { Authorization: "Bearer a:b:c", "Content-Type": "application/json" };
    const called = await spans("/mcp", { method: "POST", body: "{}", headers: signIn });
    expect(called).toEqual({ error: "invalid_token", waits: ["d1 signIns.get"] });
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const listed = await spans(`/v1/users/${newUser()}/sign-ins`, { headers });
    expect(listed.waits).toContain("d1 signIns.list");
    expect((await spans("/v1/retention", { headers })).waits).toContain("d1 retention.get");
  });

  it("tells the code of a failure, and marks only one of Cairn's own", async () => {
    const user = newUser();
    const { traced } = collector();
    const refused = await traced(`/v1/users/${user}/memories`, { json: {} });
    expect(attributesOf(refused.root)).toMatchObject({ "error.type": "invalid_request" });
    expect(refused.root).not.toHaveProperty("status");
    const nowhere = await traced(`/v1/nobody-home/${user}`);
    expect(nowhere.root.name).toBe("GET");
    expect(attributesOf(nowhere.root)).not.toHaveProperty("http.route");
    control.d1Reads = "fail";
    const failed = await traced("/v1/users");
    expect(failed.root).toMatchObject({ status: { code: 2 } });
    expect(failed.waits.find(({ name }) => name === "d1 users.list")).toMatchObject({ status: { code: 2 } });
    control.d1Reads = "ok";
    control.embedder = "fail";
    const degraded = await traced(`/v1/users/${user}/recall`, { json: { query: "bees" } });
    expect(attributesOf(degraded.root)).toMatchObject({ "cairn.degraded": true });
  });

  it("continues its caller's trace, unless the caller does not record it", async () => {
    const { traced, call, sent } = collector();
    const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    const headers = { traceparent: `00-${trace}-${parent}-01`, tracestate: "vendor=private" };
    const { root, waits, sent: one } = await traced("/v1/users", { headers });
    expect(root).toMatchObject({ traceId: trace, parentSpanId: parent });
    expect(waits.every(({ traceId }) => traceId === trace)).toBe(true);
    expect(one.body).not.toContain("private");
    expect((await traced("/v1/users", { headers: { traceparent: "nonsense" } })).root.traceId).not.toBe(
      trace,
    );
    const before = sent.length;
    const unsampled = { traceparent: `00-${trace}-${parent}-00` };
    expect((await call("/v1/users", { headers: unsampled })).status).toBe(200);
    // The next one is sent behind it.
    await traced("/v1/users");
    expect(sent.length).toBe(before + 1);
  });

  it("is traced over a binding, too", async () => {
    const { makePorts, sent } = collector();
    const waiting: Promise<unknown>[] = [];
    const ctx = { waitUntil: (work: Promise<unknown>) => waiting.push(work), passThroughOnException() {} };
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await createWorker(makePorts).answer(
      { method: "GET", path: `/v1/users/${newUser()}/kv/none`, headers: { traceparent } },
      // The parts of a context that the app uses.
      { props: { users: ["*"], scopes: ["read"] }, env, ctx: ctx as unknown as ExecutionContext },
    );
    await Promise.all(waiting);
    expect(sent.flatMap(spansIn)[0]).toMatchObject({
      name: "GET /v1/users/{user}/kv/{key}",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    });
  });

  it("lists 100 of its waits, and counts the others", async () => {
    const { makePorts, sent, traces } = collector();
    const users = {
      count: () => Promise.resolve(0),
      list: () => Promise.resolve([]),
    };
    const app = createApp((bindings) => ({ ...makePorts(bindings), users, traces }));
    app.get("/health/many", async (c) => {
      for (let i = 0; i < 130; i++) await c.get("services").users.count();
      return c.text("done");
    });
    await (await app.request("/health/many", {}, env)).text();
    await expect.poll(() => sent.length).toBe(1);
    const [root, ...waits] = sent.flatMap(spansIn);
    expect(waits).toHaveLength(100);
    expect(attributesOf(root)).toMatchObject({ "cairn.waits.unlisted": 30 });
    expect(sent[0]?.body.length).toBeLessThan(64 * 1024);
  });
});

it.each([
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02", false],
  ["cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-of-a-later-version", true],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", null],
  ["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", null],
  ["00-00000000000000000000000000000000-00f067aa0ba902b7-01", null],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", null],
  ["00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", null],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", null],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x", null],
  [`cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-${"x".repeat(600)}`, null],
  ["", null],
])("reads the traceparent %s", (header, sampled) => {
  expect(continued(header)?.isSampled ?? null).toBe(sampled);
});

it("samples a share of the traces that begin here, by their ids", () => {
  const ids = Array.from({ length: 2_000 }, () => crypto.randomUUID());
  const sampled = (share: number) => ids.filter((id) => begun(id, share).isSampled);
  expect([sampled(0), sampled(1)].map(({ length }) => length)).toEqual([0, 2_000]);
  expect(sampled(0.1).length).toBeGreaterThan(100);
  expect(sampled(0.1).length).toBeLessThan(300);
  expect(sampled(0.2)).toEqual(expect.arrayContaining(sampled(0.1)));
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  expect(spansOf({ ...CALL, traceparent }, 0)).toHaveLength(1);
  expect(spansOf(CALL, 0)).toBeNull();
});

it("has a name of OpenTelemetry for memory on routes that there are", () => {
  const routes = declared.map(operationOf);
  expect([...MEMORY_OPERATIONS.keys()].filter((route) => !routes.includes(route))).toEqual([]);
});

describe("no span and no line of the log", () => {
  it("has a user id, a key, a text, a token or a value of a path, over all routes", async () => {
    const { call, sent } = collector();
    const user = newUser();
    const [key, marker, odd] = ["key", "marker", "odd"].map((name) => `${name}${crypto.randomUUID()}`) as [
      string,
      string,
      string,
    ];
    const bearer = await token("*");
    const made = async (path: string, json: object) => (await callWorker(path, { json })).body;
    const { id: threadId } = await made(`/v1/users/${user}/threads`, { title: marker });
    await made(`/v1/threads/${threadId}/messages`, { messages: [{ role: "user", content: marker }] });
    const { id: memoryId } = await made(`/v1/users/${user}/memories`, { text: marker, tags: [marker] });
    const { id: compactionId } = await made(`/v1/threads/${threadId}/compactions`, {
      summary: marker,
      to: 1,
    });
    const { id: erasureId } = await made(`/v1/users/${user}/erasures`, { scope: "none" });
    const { recallId } = await made(`/v1/users/${user}/recall`, { query: marker });
    const { ingestId } = await made(`/v1/users/${user}/ingest`, { threadId });
    const ids = { threadId, memoryId, compactionId, erasureId, recallId, ingestId };
    const bodies: Record<string, unknown> = {
      "POST /v1/users/{user}/memories": { text: `${marker} likes tea`, tags: [marker] },
      "POST /v1/users/{user}/recall": { query: `who is ${marker}?` },
      "POST /v1/users/{user}/context": { query: `who is ${marker}?` },
      "POST /v1/threads/{id}/messages": { messages: [{ role: "user", content: marker }] },
      "POST /v1/users/{user}/kv/batch": { operations: [{ op: "get", key }] },
      "PUT /v1/users/{user}/kv/{key}": { note: marker },
      "PUT /v1/cache/{key}": { note: marker },
    };
    const operations = await declaredOperations();
    const last = (path: string, method: string) =>
      method !== "DELETE" ? 0 : path === "/v1/users/{user}" ? 2 : 1;
    const inOrder = operations.toSorted((a, b) => last(a.path, a.method) - last(b.path, b.method));
    const headers = { "X-Request-Id": user, tracestate: `v=${marker}`, baggage: `user=${user}` };
    let [calls, answered] = [0, 0];
    const once = async (...given: Parameters<typeof call>) => {
      calls++;
      if ((await call(...given)).status < 300) answered++;
    };
    for (const operation of inOrder) {
      const { method, hasBody, parameters } = operation;
      const path = pathOf(operation, { user, ...ids })
        .replace("some%2Fkey", key)
        .replaceAll(/\{\w+\}/g, marker);
      const json = bodies[operationOf(operation)] ?? { [marker]: marker };
      const more = { method, headers, bearer, ...(hasBody && { json }) };
      await once(path, more);
      if (parameters.length > 0) await once(`${path}?${parameters[0]}=${marker}`, more);
      await once(path, { ...more, bearer: `no-token-${marker}` });
      control.d1Writes = "before";
      control.d1Reads = "fail";
      control.embedder = "fail";
      if (method !== "DELETE") await once(path, more);
      restore();
    }
    await once(`/nowhere/${user}/${key}?q=${marker}`, { bearer });
    await once(`/console/${odd}`, { bearer });
    await once(`/v1/users/${user}/kv`, { method: "PROPFIND", bearer });
    await once("/mcp", {
      headers: { "Cairn-User": user },
      json: { jsonrpc: "2.0", id: 1, method: marker },
      bearer,
    });
    await expect.poll(() => sent.length).toBe(calls);
    const spans = sent.flatMap(spansIn);
    const names = new Set(spans.map(({ name }) => name));
    expect(operations.map(operationOf).filter((one) => !names.has(one))).toEqual([]);
    const all = [...sent.map(({ body }) => body), ...logged].join("\n");
    const paths = [
      user,
      await userHash(user),
      key,
      memoryId,
      threadId,
      compactionId,
      erasureId,
      recallId,
      ingestId,
    ];
    for (const secret of [...paths, marker, bearer, odd, "PROPFIND"])
      expect(all.split(secret).length - 1, secret).toBe(0);
    expect(calls).toBeGreaterThan(250);
    expect(logged.length).toBeGreaterThan(5);
    // Else all calls may have been refused at the door.
    expect(answered).toBeGreaterThan(40);
  });
});

describe("a collector that", () => {
  it.each<[string, () => Promise<Response>, string]>([
    ["answers 400", async () => new Response("your span", { status: 400 }), "answered 400"],
    ["answers 503", async () => new Response(null, { status: 503 }), "answered 503"],
    [
      "sends elsewhere",
      async () => new Response(null, { status: 302, headers: { Location: "https://x.test" } }),
      "answered 302",
    ],
    ["is away", () => Promise.reject(new TypeError("https://collector.test")), "cannot be reached"],
    [
      "is late",
      () => Promise.reject(new DOMException("late", "TimeoutError")),
      "did not answer in 5 seconds",
    ],
  ])("%s costs no call, gets one attempt, and is one line of the log", async (_, answer, problem) => {
    const { call, sent } = collector(answer);
    for (let i = 0; i < 3; i++) expect((await call(`/v1/users/${newUser()}/kv`)).status).toBe(200);
    await expect.poll(() => sent.length).toBe(3);
    await expect.poll(() => logged.length).toBe(1);
    expect(logged[0]).toContain(`"message":"traces could not be sent","error":"the collector: ${problem}"`);
    expect(sent.every(({ init }) => init.redirect === "manual" && init.signal instanceof AbortSignal)).toBe(
      true,
    );
  });

  it("is back is logged anew when it fails again", async () => {
    const answers = [503, 503, 200, 503];
    const { traces } = collector(async () => new Response(null, { status: answers.shift() ?? 200 }));
    for (let i = 0; i < 4; i++) await traces.send(CALL);
    expect(logged).toHaveLength(2);
  });

  it("hangs gets the spans of 100 calls in five seconds, and no call waits for it", async () => {
    const { call, traces, sent, passes } = collector(() => new Promise(() => {}));
    expect((await call("/v1/users")).status).toBe(200);
    await expect.poll(() => sent.length).toBe(1);
    for (let i = 0; i < 99; i++) void traces.send(CALL);
    expect(sent.length).toBe(100);
    await traces.send(CALL);
    expect(sent.length).toBe(100);
    expect(logged).toEqual([expect.stringContaining("too many are under way")]);
    passes(5_000);
    void traces.send(CALL);
    expect(sent.length).toBe(101);
  });

  it("answers gets each call's spans, whatever their number", async () => {
    const { traces, sent } = collector();
    for (let i = 0; i < 150; i++) await traces.send(CALL);
    expect(sent.length).toBe(150);
    expect(logged).toEqual([]);
  });
});

describe("the settings", () => {
  it.each([
    ["https://otlp.example.com", "https://otlp.example.com/v1/traces"],
    ["https://otlp.example.com/otlp/", "https://otlp.example.com/otlp/v1/traces"],
    ["https://otlp.example.com/v1/traces", "https://otlp.example.com/v1/traces"],
    ["http://localhost:4318", "http://localhost:4318/v1/traces"],
  ])("take %s", async (OTLP_URL, address) => {
    const sent: [string, RequestInit][] = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      sent.push([url, init]);
      return new Response("{}");
    });
    const headers = { OTLP_HEADERS: "x-team=abc, Authorization=Basic%20YTpi", OTLP_SERVICE: "cairn-acme" };
    await tracesFromBindings({ OTLP_URL, ...headers })?.send(CALL);
    const [[url, init] = ["", {}]] = sent;
    expect(url).toBe(address);
    expect(init.headers).toMatchObject({ "x-team": "abc", Authorization: "Basic YTpi" });
    expect(bodyOf(init)).toContain('{"key":"service.name","value":{"stringValue":"cairn-acme"}}');
    expect(bodyOf(init)).toContain(
      '"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000002500000"',
    );
    expect(tracesProblem({ OTLP_URL, ...headers })).toBeNull();
  });

  it.each<[TraceBindings, string]>([
    [{ OTLP_URL: "collector" }, "OTLP_URL is not a URL: no traces are sent"],
    [
      { OTLP_URL: "http://collector.test" },
      "OTLP_URL is not https (http is for localhost only): no traces are sent",
    ],
    [{ OTLP_URL: "https://a:b@collector.test" }, "OTLP_URL holds a name or a password: no traces are sent"],
    ...["2", "-0.1", "all", "NaN"].map((OTLP_SAMPLE): [TraceBindings, string] => [
      { OTLP_URL: "https://collector.test", OTLP_SAMPLE },
      "OTLP_SAMPLE is not a number from 0 to 1: no traces are sent",
    ]),
    [{ OTLP_HEADERS: "x=y" }, "OTLP_HEADERS is set, and OTLP_URL is not: no traces are sent"],
    ...["secret", "=secret", "a b=secret", "x=secret%zz", "x=se\ncret", "x=sécret"].map(
      (one): [TraceBindings, string] => [
        { OTLP_URL: "https://collector.test", OTLP_HEADERS: `ok=1,${one},ok=2` },
        "OTLP_HEADERS is not name=value, comma-separated: no traces are sent",
      ],
    ),
  ])("%j have a problem, which /health says, and calls go on", async (given, problem) => {
    expect(tracesFromBindings(given)).toBeNull();
    const app = createApp((bindings) => faultyPorts(bindings));
    const bound: Bindings = { ...env, ...given };
    const health = await app.request("/health", {}, bound);
    expect([health.status, await health.json()]).toMatchObject([
      200,
      { status: "degraded", problems: [problem], failing: [{ part: "settings" }] },
    ]);
  });

  it("are none where no collector is set", () => {
    expect([tracesFromBindings({ OTLP_URL: " " }), tracesProblem({ OTLP_URL: " " })]).toEqual([null, null]);
  });
});
