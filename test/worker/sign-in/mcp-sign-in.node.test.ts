// The sign-in for MCP with the official clients of both generations, against the real server over HTTP. They are fetched for this
// test at fixed versions, as for the other test of MCP.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cairn } from "../../../packages/client/src/index.ts";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";

const CLIENT = "@modelcontextprotocol/client@2.4.0";
const OLDER_CLIENT = "@modelcontextprotocol/sdk@1.32.2";

const state = mkdtempSync(join(tmpdir(), "cairn-sign-in-"));
const fetched = mkdtempSync(join(tmpdir(), "cairn-sign-in-clients-"));
let server: LocalServer;

beforeAll(async () => {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", fetched, CLIENT, OLDER_CLIENT]);
  server = await startLocalServer({ port: await freePort(), state, vars: { SIGN_IN: "codes" } });
});
afterAll(async () => {
  await server.stop();
  for (const folder of [state, fetched]) rmSync(folder, { recursive: true, force: true });
});

const module = (path: string) => import(pathToFileURL(join(fetched, "node_modules", path)).href);

type Client = {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: object }): Promise<{ content: { text: string }[] }>;
};
type Transport = { finishAuth(answer: URLSearchParams | string): Promise<void> };
type Generation = {
  newClient: () => Client;
  newTransport: (url: URL, options: object) => Transport;
  /** What the transport takes of the address to which the browser came back. */
  answerOf: (back: URL) => URLSearchParams | string;
};

const identity = { name: "cairn-test", version: "1.0.0" };
const generations: Record<string, () => Promise<Generation>> = {
  "2026-07-28": async () => {
    const { Client, StreamableHTTPClientTransport } = await module(
      "@modelcontextprotocol/client/dist/index.mjs",
    );
    return {
      newClient: () => new Client(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      newTransport: (url, options) => new StreamableHTTPClientTransport(url, options),
      answerOf: (back) => back.searchParams,
    };
  },
  "2025-11-25": async () => {
    const { Client } = await module("@modelcontextprotocol/sdk/dist/esm/client/index.js");
    const { StreamableHTTPClientTransport } = await module(
      "@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js",
    );
    return {
      newClient: () => new Client(identity),
      newTransport: (url, options) => new StreamableHTTPClientTransport(url, options),
      answerOf: (back) => back.searchParams.get("code") ?? "",
    };
  },
};

const REDIRECT = "http://127.0.0.1:53682/callback";

/** What an app keeps, as the clients ask for it. */
class App {
  #client: unknown;
  #verifier = "";
  #found: unknown;
  #tokens: { access_token: string; refresh_token?: string } | undefined;
  /** The page that the app opened in the browser. */
  opened: URL | null = null;
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "An app of the tests",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  state = () => "a-state-of-the-app";
  clientInformation = () => this.#client;
  saveClientInformation = (client: unknown) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: { access_token: string; refresh_token?: string }) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.opened = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (found: unknown) => void (this.#found = found);
  discoveryState = () => this.#found;
  invalidateCredentials = (what: string) => {
    if (what === "tokens" || what === "all") this.#tokens = undefined;
    if (what === "client" || what === "all") this.#client = undefined;
  };

  /** As if the hour of the access token were over. */
  loseAccess(): void {
    if (this.#tokens !== undefined) this.#tokens = { ...this.#tokens, access_token: "a:b:c" };
  }
}

/** The person allows the app by a one-time code, and the browser goes back to the app. */
async function allowed(page: URL, code: string): Promise<URL> {
  const shown = await fetch(page);
  const text = await shown.text();
  expect([shown.status, shown.headers.get("X-Frame-Options")]).toEqual([200, "DENY"]);
  expect(text).toContain("An app of the tests");
  expect(text).toContain("program on your computer");
  const cookie = shown.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  const handle = /name="handle" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const form = new URLSearchParams({ handle, decision: "allow", code });
  for (const scope of ["read", "write"]) form.append("scope", scope);
  const sent = await fetch(page, {
    method: "POST",
    body: form,
    headers: { Cookie: cookie },
    redirect: "manual",
  });
  expect([sent.status, await sent.text()]).toEqual([302, ""]);
  return new URL(sent.headers.get("Location") ?? "");
}

describe.each(Object.keys(generations))("a client of the revision %s", (revision) => {
  it("signs a person in, goes on after an hour, and is out when the person ends it", async () => {
    const generation = await generations[revision]?.();
    if (generation === undefined) throw new Error("no such client");
    const user = `user of ${revision}`;
    const memory = cairn({ url: server.url, token: await developmentToken("*") });
    const app = new App();
    const url = new URL(`${server.url}/mcp`);
    const connect = async () => {
      const client = generation.newClient();
      await client.connect(generation.newTransport(url, { authProvider: app }));
      return client;
    };

    const first = generation.newTransport(url, { authProvider: app });
    await expect(generation.newClient().connect(first)).rejects.toThrow(/unauthorized/i);
    expect(app.opened?.searchParams.get("resource")).toBe(url.href);
    expect(app.opened?.searchParams.get("code_challenge_method")).toBe("S256");
    const { code } = await memory.signIns.createCode(user);
    const back = await allowed(app.opened ?? url, code);
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT);
    expect(back.searchParams.get("state")).toBe("a-state-of-the-app");
    await first.finishAuth(generation.answerOf(back));

    const client = await connect();
    expect((await client.listTools()).tools).toHaveLength(12);
    await client.callTool({ name: "memory_remember", arguments: { text: "I moved to Lisbon" } });
    expect((await memory.memories.list(user)).items).toMatchObject([{ text: "I moved to Lisbon" }]);
    await client.close();

    app.loseAccess();
    const again = await connect();
    expect((await again.listTools()).tools).toHaveLength(12);
    await again.close();

    const signIns = await memory.signIns.list(user);
    expect(signIns).toMatchObject([{ app: { name: "An app of the tests" }, scopes: ["read", "write"] }]);
    await memory.signIns.revoke(user, signIns[0]?.id ?? "");
    app.opened = null;
    await expect(connect()).rejects.toThrow(/unauthorized/i);
    expect(app.opened).not.toBeNull();
  });
});
