// The deploy button by its documents, not pressed: the repository is copied, its files are read as Cloudflare reads them, and the
// deploy script runs with the real wrangler against a stand-in of the API, which serves what it was given.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cairn } from "../../../packages/client/src/index.ts";
import { mintToken, scopes } from "../../../src/domain/token.ts";
import { fromNow } from "../../from-now.ts";
import { start } from "../../node/run.ts";
import { ACCOUNT, type Api, type Fault, startApi } from "./api.ts";
import { root } from "./desk.ts";

const home = mkdtempSync(join(tmpdir(), "cairn-button-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A copy of what is in the repository, with this one's dependencies. */
function copyOf(name: string): string {
  const copy = join(home, name);
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  for (const file of files
    .toString()
    .split("\0")
    .filter((path) => path !== "")) {
    if (/^(?:docs\/.*\.(?:png|svg)|packages\/(?:lab|python)\/|test\/)/.test(file)) continue;
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Runs the script of package.json as npm does: with wrangler on the PATH. */
async function script(
  name: "deploy",
  {
    copy,
    api,
    args = [],
    env = {},
  }: { copy: string; api: Api; args?: string[]; env?: Record<string, string> },
) {
  const preload = join(import.meta.dirname, "workers-dev.js");
  const running = start(["npm", "--prefix", copy, "run", "--silent", name, "--", ...args], {
    CAIRN_SECRET: "",
    CI: "",
    CLOUDFLARE_API_BASE_URL: api.url,
    CLOUDFLARE_API_TOKEN: "a token of the test",
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
    CAIRN_TEST_WORKERS_DEV: `${api.url}/workers-dev`,
    NODE_OPTIONS: `--import=${preload}`,
    WRANGLER_SEND_METRICS: "false",
    ...env,
  });
  const code = await running.ended;
  return { code, ...running.output };
}

const read = (copy: string, file: string) => readFileSync(join(copy, file), "utf8");

/** Asks what a person would look at first. */
async function lookAt(url: string, token: string) {
  const memory = cairn({ url, token });
  await memory.memories.remember("alice", { text: "The spare key is under the third flowerpot" });
  const { hits } = await memory.recall("alice", { query: "how do I get in without my keys?" });
  const pages = await Promise.all(
    ["/console", "/docs"].map(async (path) => (await fetch(new URL(path, url))).status),
  );
  const tools = await fetch(new URL("/mcp", url), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "Cairn-User": "alice",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  return { pages, hit: hits[0]?.text, tools: await tools.text() };
}
const ALL = { pages: [200, 200], hit: "The spare key is under the third flowerpot" };

describe("the deploy button, by its documents", () => {
  it("finds descriptions, secrets and a script in the files, and its steps end in a Cairn that serves all", async () => {
    const copy = copyOf("button");
    const { cloudflare, scripts } = JSON.parse(read(copy, "package.json")) as {
      cloudflare: { bindings: Record<string, { description: string }> };
      scripts: { deploy: string };
    };
    expect(scripts.deploy).toBeTruthy();
    // It asks for each line that is not commented out, as a secret.
    const secrets = Object.keys(parseEnv(read(copy, ".dev.vars.example")));
    expect(secrets).toEqual(["CAIRN_SECRET"]);
    const config = parse(read(copy, "wrangler.toml")) as Record<
      string,
      { binding?: string; name?: string }[]
    > & {
      vars: object;
      durable_objects: { bindings: { name: string }[] };
    };
    const bound = [
      ...secrets,
      ...Object.keys(config.vars),
      ...[...(config.d1_databases ?? []), config.ai as { binding?: string }].map(({ binding }) => binding),
      ...[...config.durable_objects.bindings, ...(config.ratelimits ?? [])].map(({ name }) => name),
    ];
    expect(new Set(Object.keys(cloudflare.bindings))).toEqual(new Set(bound));
    expect(secrets.join()).not.toContain("PREVIOUS");

    const api = await startApi({ assets: join(copy, "build/assets"), state: join(home, "button-state") });
    try {
      // The person names the Worker and the database, and gives the secret. Cloudflare makes both, and writes the id.
      const secret = "a secret that a person has given it, of 32 bytes or more";
      const database = { uuid: "12345678-1234-4000-8000-123456789012", name: "my-memory-db", location: null };
      api.databases.push(database);
      api.workers.set("my-memory", {
        secrets: { CAIRN_SECRET: secret },
        metadata: null,
        modules: [],
        crons: null,
      });
      const toml = read(copy, "wrangler.toml")
        .replace('name = "cairn"', 'name = "my-memory"')
        .replace(
          'database_name = "cairn"',
          `database_name = "${database.name}"\ndatabase_id = "${database.uuid}"`,
        );
      writeFileSync(join(copy, "wrangler.toml"), toml);
      const { code, stdout, stderr } = await script("deploy", {
        copy,
        api,
        env: { CI: "true", WORKERS_CI: "1" },
      });
      expect({ code, stderr, unknown: api.unknown }, stdout).toEqual({ code: 0, stderr: "", unknown: [] });
      expect(stdout).toMatch(
        /my-memory is up at https:\/\/my-memory\.example\.workers\.dev\n.*"status":"ok"/,
      );
      expect(stdout).not.toContain("TOKEN=");
      expect(api.workers.get("my-memory")?.secrets).toEqual({ CAIRN_SECRET: secret });
      expect(read(copy, "wrangler.toml")).toBe(toml);
      const token = await mintToken(secret, { user: "*", scope: scopes }, fromNow(-60_000));
      const seen = await lookAt((await api.workerUrl()) ?? "", token);
      expect(seen).toMatchObject(ALL);
      expect(seen.tools).toContain("memory_recall");
    } finally {
      await api.stop();
    }
  });
});

describe("npm run deploy with the real wrangler", () => {
  let copy = "";
  let api: Api;
  beforeAll(async () => {
    copy = copyOf("deploy");
    api = await startApi({ assets: join(copy, "build/assets"), state: join(home, "deploy-state") });
  });
  afterAll(() => api.stop());
  const run = (fault: Fault | null, ...args: string[]) => {
    api.fault = fault;
    return script("deploy", { copy, api, args });
  };

  it.each<[string, Fault, RegExp]>([
    [
      "403",
      { method: "GET", path: /^\/d1\/database$/, fails: 403 },
      /permissions that docs\/guides\/deploy\.md lists/,
    ],
    ["429", { method: "GET", path: /^\/d1\/database$/, fails: 429 }, /Wait five minutes, and run this again/],
    ["504", { method: "POST", path: /\/query$/, fails: 504 }, /Run this again/],
    [
      "no answer to an upload",
      { method: "PUT", path: /^\/workers\/scripts\/cairn$/, fails: "lost" },
      /Run this again/,
    ],
  ])("stops at %s of the API without a stack, and says what to do", async (_, fault, advice) => {
    const { code, stdout, stderr } = await run(fault, "--location", "weur");
    expect([code, stderr], stdout).toEqual([1, expect.stringMatching(advice)]);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it("goes on after them, and ends in one database, one secret and a Cairn that serves all", async () => {
    const secret = read(copy, "wrangler.deploy.secret").trim();
    const { code, stdout, stderr } = await run(null);
    expect({ code, stderr, unknown: api.unknown }, stdout).toEqual({ code: 0, stderr: "", unknown: [] });
    expect(api.databases).toMatchObject([{ name: "cairn", location: "weur" }]);
    expect(api.workers.get("cairn")?.secrets).toEqual({ CAIRN_SECRET: secret });
    expect(statSync(join(copy, "wrangler.deploy.secret")).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain(secret);
    expect(read(copy, "wrangler.toml")).toBe(readFileSync(join(root, "wrangler.toml"), "utf8"));
    const token = await mintToken(secret, { user: "*", scope: scopes }, fromNow(-60_000));
    expect(await lookAt((await api.workerUrl()) ?? "", token)).toMatchObject(ALL);
  });
});
