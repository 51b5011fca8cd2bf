// Real clients of both generations, and the protocol's own conformance suite, against the real server over HTTP. They are
// fetched for this test at fixed versions: together they are larger than all that Cairn depends on.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";
import { start } from "../../node/run.ts";

const CLIENT = "@modelcontextprotocol/client@2.4.0";
const OLDER_CLIENT = "@modelcontextprotocol/sdk@1.32.2";
const CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

const state = mkdtempSync(join(tmpdir(), "cairn-mcp-"));
const fetched = mkdtempSync(join(tmpdir(), "cairn-mcp-clients-"));
let server: LocalServer;

beforeAll(async () => {
  const packages = [CLIENT, OLDER_CLIENT, CONFORMANCE];
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", fetched, ...packages]);
  server = await startLocalServer({ port: await freePort(), state });
});
afterAll(async () => {
  await server.stop();
  for (const folder of [state, fetched]) rmSync(folder, { recursive: true, force: true });
});

const module = (path: string) => import(pathToFileURL(join(fetched, "node_modules", path)).href);

/** The methods that both generations of clients have. */
type Client = {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  getServerVersion(): { name: string } | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: object }): Promise<{
    content: { text: string }[];
    structuredContent?: object;
    isError?: boolean;
  }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(resource: { uri: string }): Promise<{ contents: { text: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(prompt: { name: string }): Promise<{ messages: { content: { text: string } }[] }>;
};
type Generation = { client: Client; transport: new (url: URL, options: object) => unknown };

const identity = { name: "cairn-test", version: "1.0.0" };
const generations = {
  "2026-07-28": async (): Promise<Generation> => {
    const { Client, StreamableHTTPClientTransport } = await module(
      "@modelcontextprotocol/client/dist/index.mjs",
    );
    const client = new Client(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    return { client, transport: StreamableHTTPClientTransport };
  },
  "2025-11-25": async (): Promise<Generation> => {
    const { Client } = await module("@modelcontextprotocol/sdk/dist/esm/client/index.js");
    const { StreamableHTTPClientTransport } = await module(
      "@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js",
    );
    return { client: new Client(identity), transport: StreamableHTTPClientTransport };
  },
};

type Revision = keyof typeof generations;

async function connected(revision: Revision, user: string): Promise<Client> {
  const { client, transport: Transport } = await generations[revision]();
  const headers = { Authorization: `Bearer ${await developmentToken(user)}` };
  await client.connect(new Transport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  return client;
}

describe.each(["2026-07-28", "2025-11-25"] as const)("a client of the revision %s", (revision) => {
  it("connects, calls tools, reads resources and gets the prompt", async () => {
    const client = await connected(revision, `user of ${revision}`);
    expect(client.getServerVersion()).toMatchObject({ name: "cairn" });
    expect(client.getInstructions()).toContain("memory_recall");
    expect((await client.listTools()).tools).toHaveLength(12);
    const say = async (name: string, given: object) => client.callTool({ name, arguments: given });
    const fact = { subject: "user", predicate: "lives in", object: "Porto" };
    expect((await say("memory_remember_fact", fact)).structuredContent).toMatchObject({ created: true });
    const steps = { title: "deploy shop", body: "1. push\n2. wait", tags: ["ops"] };
    expect((await say("memory_store_procedure", steps)).isError).not.toBe(true);
    const recalled = await say("memory_recall", { query: "where does the user live?" });
    expect(recalled.content[0]?.text).toContain("user lives in Porto");
    const wrong = await say("memory_recall", { query: 7 });
    expect([wrong.isError, wrong.content[0]?.text]).toEqual([
      true,
      expect.stringContaining("invalid_request"),
    ]);

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "cairn://facts",
      "cairn://context",
      "cairn://procedures/deploy%20shop",
    ]);
    const [facts, context, procedure] = await Promise.all(
      resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0]?.text),
    );
    expect(facts).toContain("user lives in Porto");
    expect(context).toContain("lives in Porto");
    expect(procedure).toBe(steps.body);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
    await expect(client.readResource({ uri: "cairn://procedures/none" })).rejects.toThrow("not found");
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["about_me"]);
    const { messages } = await client.getPrompt({ name: "about_me" });
    expect(messages[0]?.content.text).toContain("user lives in Porto");

    expect((await say("memory_forget_fact", { ...fact, all: true })).isError).toBe(true);
    expect((await say("memory_forget_fact", fact)).structuredContent).toEqual({ forgotten: 1 });
    await client.close();
  });

  it("is told that its token is not good", async () => {
    const { client, transport: Transport } = await generations[revision]();
    const requestInit = { headers: { Authorization: "Bearer nonsense" } };
    await expect(
      client.connect(new Transport(new URL(`${server.url}/mcp`), { requestInit })),
    ).rejects.toThrow(/401|invalid_token|Unauthorized/);
  });
});

/** The suite sends no token: this stands before the server, and puts one into each request. */
async function withToken(target: URL, token: string): Promise<Server> {
  const proxy = createServer((given, answer) => {
    const asFor = (address: string) => address.replace(/^(http:\/\/)?localhost:\d+$/, `$1${target.host}`);
    const headers = {
      ...given.headers,
      authorization: `Bearer ${token}`,
      host: asFor(given.headers.host ?? ""),
    };
    if (given.headers.origin !== undefined) headers.origin = asFor(given.headers.origin);
    const { hostname, port } = target;
    const asked = request({ hostname, port, path: given.url, method: given.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    asked.on("error", () => answer.destroy());
    given.pipe(asked);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void proxy.listen(port, "127.0.0.1", resolve));
  return proxy;
}

type Check = { id: string; status: string };

/** The finds of each scenario of a revision, by its name. */
async function conformance(revision: string): Promise<Map<string, Check[]>> {
  const proxy = await withToken(new URL(server.url), await developmentToken("conformance"));
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const output = mkdtempSync(join(state, "conformance-"));
  const suite = join(fetched, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const url = `http://localhost:${port}/mcp`;
  // It ends with 1 where a scenario fails, as those do that are not ours.
  const options = ["--url", url, "--requirements", revision, "--output-dir", output];
  await start([process.execPath, suite, "server", ...options]).ended;
  await new Promise((resolve) => void proxy.close(resolve));
  return new Map(
    readdirSync(output).map((folder) => {
      const [, scenario = folder] = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(folder) ?? [];
      return [scenario, JSON.parse(readFileSync(join(output, folder, "checks.json"), "utf8")) as Check[]];
    }),
  );
}

const scenarios = (prefix: string, ...names: string[]) => names.map((name) => `${prefix}-${name}`);

/** Scenarios that call tools, resources or prompts of the suite's own test server, named `test_…` and `test://…`. */
const OF_ITS_TEST_SERVER = [
  scenarios("tools-call", "simple-text", "image", "audio", "embedded-resource", "mixed-content"),
  scenarios("tools-call", "error", "with-progress"),
  scenarios("resources", "read-text", "read-binary", "templates-read"),
  scenarios("prompts-get", "simple", "with-args", "embedded-resource", "with-image"),
  ["json-schema-2020-12"],
].flat();
/** Scenarios of what Cairn does not say that it can: nothing here completes, logs, announces, or asks back. */
const OF_OTHER_CAPABILITIES: Record<string, string[]> = {
  "2025-11-25": [
    ["completion-complete", "logging-set-level"],
    scenarios("tools-call", "with-logging", "sampling", "elicitation"),
    scenarios("elicitation", "sep1034-defaults", "sep1330-enums"),
    scenarios("resources", "subscribe", "unsubscribe"),
  ].flat(),
  "2026-07-28": [
    ["completion-complete", "http-custom-header-server-validation"],
    scenarios("input-required-result", "basic-elicitation", "basic-sampling", "basic-list-roots"),
    scenarios("input-required-result", "request-state", "multi-round", "multiple-input-requests"),
    scenarios("input-required-result", "non-tool-request", "result-type", "tampered-state"),
    scenarios("input-required-result", "capability-check"),
    scenarios("tasks", "lifecycle", "capability-negotiation", "wire-fields", "request-state-removal"),
    scenarios("tasks", "mrtr-input", "request-headers", "dispatch-and-envelope", "required-task-error"),
    scenarios("tasks", "mrtr-composition"),
  ].flat(),
};
/** Checks of `server-stateless` that want tools of the test server, too. */
const STATELESS_OF_ITS_TEST_SERVER = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];

describe.each([
  ["2025-11-25", []],
  ["2026-07-28", STATELESS_OF_ITS_TEST_SERVER],
])("the conformance suite of the revision %s", (revision, stateless) => {
  it("finds nothing wrong in what Cairn has", async () => {
    const found = await conformance(revision);
    const failed = (checks: Check[] = []) =>
      checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id);
    expect(failed(found.get("server-stateless"))).toEqual(stateless);
    found.delete("server-stateless");
    const failing = [...found].filter(([, checks]) => failed(checks).length > 0);
    expect(failing.map(([scenario]) => scenario).toSorted()).toEqual(
      [...OF_ITS_TEST_SERVER, ...(OF_OTHER_CAPABILITIES[revision] ?? [])].toSorted(),
    );
    // The server answered other names in the protocol's words all the same.
    for (const [scenario, checks] of failing)
      expect(failed(checks), scenario).not.toContain("wire-schema-valid");
    for (const scenario of ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"])
      expect(found.get(scenario)?.length, scenario).toBeGreaterThan(0);
  });
});
