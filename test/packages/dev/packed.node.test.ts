// The tarballs of `npm run pack`: installed into an empty project, and used there by each runtime and by a Worker.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSecret } from "../../../packages/dev/development-secret.ts";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";
import { type Packed, published } from "../../../packages/dev/pack.ts";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-packed-"));
const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

type Manifest = { name: string; exports?: Record<string, unknown>; repository?: { url?: string } };
const manifests = published().map(
  (path) => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as Manifest,
);
/** The name under which a program imports an entry, of whichever package has it. */
const importOf = (entry: string): string => {
  const owner = manifests.find(({ exports = {} }) => entry in exports);
  if (owner === undefined) throw new Error(`no package exports '${entry}'`);
  return owner.name + entry.slice(1);
};
const client = importOf(".");

let packed: Packed[];
let server: LocalServer;
beforeAll(async () => {
  // Of a whole run the packages are built already.
  const isBuilt = published().every((path) => existsSync(join(root, path, "dist")));
  execFileSync(process.execPath, ["packages/dev/pack.ts", ...(isBuilt ? ["--built"] : [])], { cwd: root });
  packed = JSON.parse(readFileSync(join(root, "build/pack/index.json"), "utf8")) as Packed[];
  write("package.json", `{ "name": "app", "private": true, "type": "module" }`);
  const tarballs = packed.map(({ filename }) => join(root, "build/pack", filename));
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", ...tarballs], {
    cwd: folder,
  });
  write("app.js", PROGRAM);
  server = await startLocalServer({ port: await freePort(), state: join(folder, "state") });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A program of a newcomer. Its last line is the outcome as JSON. */
const PROGRAM = `
import { cairn, CairnError } from "${client}";
const { CAIRN_URL: url, CAIRN_TOKEN: token, CAIRN_USER: user } = process.env;
const memory = cairn({ url, token });
await memory.memories.remember(user, { text: "I moved to Lisbon in March" });
const { hits } = await memory.recall(user, { query: "where do I live?", k: 1 });
const { stable, recalled } = await memory.context(user, { query: "where do I live?" });
const { id } = await memory.threads.create(user);
await memory.threads.append(id, [{ role: "user", content: "hi" }]);
const streamed = [];
for await (const { message } of memory.threads.stream(id)) streamed.push(message.content);
await memory.kv.set(user, "a/b", { c: null });
const refused = await memory.recall(user, { query: "" }).catch((error) => error);
console.log(JSON.stringify({
  told: hits[0].text,
  inPrompt: (stable.text + recalled.text).includes("Lisbon"),
  streamed,
  value: await memory.kv.get(user, "a/b"),
  refused: refused instanceof CairnError && [refused.code, refused.details[0].path],
}));
`;

it("are one for each package that is published, and come alone", () => {
  expect(packed.map(({ name }) => name).toSorted()).toEqual(manifests.map(({ name }) => name).toSorted());
  const names = readdirSync(join(folder, "node_modules"), { recursive: true, encoding: "utf8" })
    .filter((path) => /^[^.](?:[^/]*)$|^@[^/]+\/[^/]+$/.test(path) && !/^@[^/]+$/.test(path))
    .toSorted();
  expect(names).toEqual(packed.map(({ name }) => name).toSorted());
});

it("have the version of this repository, and name it", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(new Set(packed.map((one) => one.version))).toEqual(new Set([version]));
  // A provenance names the repository, and npm compares both.
  const repositories = new Set(manifests.map(({ repository }) => repository?.url));
  expect(repositories.size).toBe(1);
  expect([...repositories].join()).toMatch(/^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/);
});

describe("are used by", () => {
  it.each([
    ["Node 20", ["npx", "--yes", "-p", "node@20", "node"]],
    ["Node 24", [process.execPath]],
    ["Bun", ["npx", "--yes", "bun@1.4.5", "run"]],
    ["Deno", ["npx", "--yes", "deno@2.9.6", "run", "--allow-env", "--allow-net", "--allow-read"]],
  ])("%s", async (name, [command = "", ...args]) => {
    const user = `packed-${name.replace(" ", "-")}`;
    const env = {
      ...process.env,
      CAIRN_URL: server.url,
      CAIRN_TOKEN: await developmentToken("*"),
      CAIRN_USER: user,
      DENO_NO_UPDATE_CHECK: "1",
    };
    const ran = spawnSync(command, [...args, "app.js"], { cwd: folder, env, encoding: "utf8" });
    expect(ran.status, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "")).toEqual({
      told: "I moved to Lisbon in March",
      inPrompt: true,
      streamed: ["hi"],
      value: { c: null },
      refused: ["invalid_request", "body.query"],
    });
  });

  it("a test in Node, which has the whole Cairn in its process", () => {
    write(
      "in-memory.js",
      `import { cairn } from "${client}";
       import { testCairn } from "${importOf("./testing")}";
       const server = await testCairn();
       const memory = cairn({ fetch: server.fetch, token: await server.token("alice") });
       await memory.memories.remember("alice", { text: "I moved to Lisbon in March" });
       const { hits } = await memory.recall("alice", { query: "where do I live?" });
       console.log(hits[0].text);
       server.close();`,
    );
    const options = ["--disable-warning=ExperimentalWarning", "in-memory.js"];
    expect(execFileSync(process.execPath, options, { cwd: folder, encoding: "utf8" })).toBe(
      "I moved to Lisbon in March\n",
    );
  });

  it("a Worker, which mounts the whole of Cairn and calls it with the client", async () => {
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(join(root, "node_modules/hono"), join(folder, "node_modules/hono"));
    const embed = importOf("./worker");
    write(
      "worker.ts",
      `import { Hono } from "hono";
       import { cairn, mintToken } from "${client}";
       import { cairnApp, type CairnBindings } from "${embed}";
       export { PromptCache, UserMemory } from "${embed}";
       const app = new Hono<{ Bindings: CairnBindings }>();
       app.route("/memory", cairnApp);
       app.get("/", async (c) => {
         const memory = cairn({
           url: new URL("/memory", c.req.url).href,
           token: () => mintToken(c.env.CAIRN_SECRET ?? "", { user: "alice" }),
           fetch: async (request) => app.fetch(request, c.env, c.executionCtx),
         });
         await memory.memories.remember("alice", { text: "I moved to Lisbon in March" });
         const { hits } = await memory.recall("alice", { query: "where do I live?" });
         return c.text(hits[0]?.text ?? "nothing");
       });
       export default app;`,
    );
    write(".dev.vars", `CAIRN_SECRET=${developmentSecret()}\n`);
    write("wrangler.toml", configOf(join("node_modules", embed.replace("/worker", ""), "dist")));
    const local = ["--local", "--persist-to", "worker-state"];
    execFileSync(process.execPath, [wrangler, "d1", "migrations", "apply", "DB", ...local], {
      cwd: folder,
      env: { ...process.env, CI: "true" },
    });
    const port = await freePort();
    const dev = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--persist-to", "worker-state"];
    const quiet = ["--inspector-port", "0", "--log-level", "error", "--show-interactive-dev-session=false"];
    const worker = spawn(process.execPath, [wrangler, ...dev, ...quiet], { cwd: folder, stdio: "ignore" });
    try {
      const answer = () =>
        fetch(`http://127.0.0.1:${port}/`).then(
          async (response) => response.text(),
          () => "",
        );
      await expect.poll(answer, { interval: 500 }).toBe("I moved to Lisbon in March");
    } finally {
      const ended = new Promise((resolve) => void worker.once("exit", resolve));
      worker.kill("SIGTERM");
      await ended;
    }
  });
});

const configOf = (dist: string): string => `
name = "app"
main = "worker.ts"
compatibility_date = "2026-11-01"
assets = { directory = "${dist}/assets", binding = "ASSETS", run_worker_first = true }
d1_databases = [{ binding = "DB", database_name = "cairn", database_id = "00000000-0000-0000-0000-000000000000", migrations_dir = "${dist}/migrations" }]
migrations = [{ tag = "v1", new_sqlite_classes = ["UserMemory", "PromptCache"] }]

[durable_objects]
bindings = [
  { name = "USER_MEMORY", class_name = "UserMemory" },
  { name = "PROMPT_CACHE", class_name = "PromptCache" },
]
`;
