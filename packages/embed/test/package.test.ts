// The package as `npm run build` left it: packed, installed into an empty folder, and used from there.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cairn } from "../../client/src/index.ts";
import { clientContract } from "../../client/test/contract.ts";
import type { TestCairn } from "../testing/test-cairn.ts";
import { fromNow } from "../../../test/from-now.ts";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-embed-"));
const installed = join(folder, "node_modules/@edgecairn/embed");
const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
const npm = (cwd: string, ...args: string[]) => execFileSync("npm", args, { cwd, encoding: "utf8" });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

let testCairn: () => Promise<TestCairn>;

beforeAll(async () => {
  npm(project, "pack", "--pack-destination", folder, "--loglevel=error");
  write("package.json", `{ "name": "app", "private": true, "type": "module" }`);
  const file = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  npm(folder, "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", `./${file}`);
  // What the package's own declarations say of it.
  ({ testCairn } = (await import(pathToFileURL(join(installed, "dist/testing.js")).href)) as {
    testCairn: () => Promise<TestCairn>;
  });
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("comes alone", () => {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  expect(Object.keys(packages)).toEqual(["", "node_modules/@edgecairn/embed"]);
});

it("has types that need nothing else", () => {
  write(
    "app.ts",
    `import { testCairn } from "@edgecairn/embed/testing";
     const { token } = await testCairn();
     export const minted: string = await token("alice", { scope: ["read"] });
     // @ts-expect-error no scope
     await token("alice", { scope: ["reed"] });`,
  );
  const compilerOptions = { target: "es2022", lib: ["es2023", "dom"], types: [], strict: true, noEmit: true };
  for (const module of ["nodenext", "preserve"]) {
    write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions: { ...compilerOptions, module }, files: ["app.ts"] }),
    );
    expect(typeErrors()).toBe("");
  }
});

it("bundles into a Worker that embeds all of Cairn", () => {
  symlinkSync(join(root, "node_modules/hono"), join(folder, "node_modules/hono"));
  write(
    "worker.ts",
    `import { Hono } from "hono";
     import { cairnApp, cairnWorker, type CairnBindings } from "@edgecairn/embed/worker";
     import type { Memory } from "@edgecairn/embed/worker";
     export { Memory, PromptCache, UserMemory } from "@edgecairn/embed/worker";
     export async function textsOf(memory: Service<Memory>): Promise<string[]> {
       const recalled = await memory.recall("alice", { query: "tea" });
       if (!recalled.ok) throw new Error(recalled.error.code);
       // @ts-expect-error a user and a memory
       await memory.memories.remember("alice");
       return recalled.value.hits.map(({ text }) => text);
     }
     const app = new Hono<{ Bindings: CairnBindings }>();
     app.get("/", (c) => c.text("the app"));
     app.route("/memory", cairnApp);
     export default { fetch: app.fetch, scheduled: cairnWorker.scheduled };`,
  );
  write("wrangler.toml", exampleIn("toml"));
  const workers = join(root, "node_modules/@cloudflare/workers-types/index.d.ts");
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
    module: "preserve",
    strict: true,
    noEmit: true,
  };
  const shared = { types: [], skipLibCheck: true };
  write(
    "tsconfig.json",
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...shared }, files: [workers, "worker.ts"] }),
  );
  expect(typeErrors()).toBe("");
  const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
  const printed = node(wrangler, "deploy", "--dry-run", "--outdir", "out");
  expect(printed).toContain("env.USER_MEMORY");
  expect(readFileSync(join(folder, "out/worker.js"), "utf8")).toContain("USER_MEMORY");
});

describe("the Cairn for tests", () => {
  let local: TestCairn;
  beforeAll(async () => void (local = await testCairn()));
  afterAll(() => local.close());

  clientContract(() => ({
    optionsOf: async (user) => ({ fetch: local.fetch, token: await local.token(user) }),
  }));

  it("has a clock that can be put forward", async () => {
    const memory = cairn({ fetch: local.fetch, token: await local.token("clock") });
    await memory.kv.set("clock", "k", 1, { ttlMs: 3_600_000 });
    const passing = await memory.memories.remember("clock", {
      text: "passing",
      expiresAt: fromNow(3_600_000),
    });
    await local.advance(3_500_000);
    expect(await memory.kv.get("clock", "k")).toBe(1);
    await local.advance(200_000);
    expect(await memory.kv.get("clock", "k")).toBeNull();
    expect(await memory.memories.get("clock", passing.id)).toBeNull();
  });

  it("embeds what was said when it is told to settle", async () => {
    const memory = cairn({ fetch: local.fetch, token: await local.token("said") });
    const { id } = await memory.threads.create("said");
    await memory.threads.append(id, [{ role: "user", content: "the doctor gave me pills" }]);
    await local.settle();
    const { hits, freshness } = await memory.recall("said", { query: "medicine" });
    expect(freshness.pending).toBe(0);
    expect(hits[0]?.text).toBe("the doctor gave me pills");
  });

  it("gives tokens for less, and that expire", async () => {
    const reader = cairn({ fetch: local.fetch, token: await local.token("r", { scope: ["read"] }) });
    await expect(reader.kv.set("r", "k", 1)).rejects.toMatchObject({ code: "forbidden" });
    const other = await testCairn();
    const brief = cairn({ fetch: other.fetch, token: await other.token("r", { ttlMs: 1000 }) });
    expect(await brief.kv.get("r", "k")).toBeNull();
    // Clocks may differ by half a minute.
    await other.advance(60_000);
    await expect(brief.kv.get("r", "k")).rejects.toMatchObject({ code: "token_expired" });
    other.close();
  });
});

/** The only example of this language on the page of mounting. */
function exampleIn(language: string): string {
  const page = readFileSync(join(root, "docs/guides/mount.md"), "utf8");
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
}

function typeErrors(): string {
  try {
    node(join(root, "node_modules/typescript/lib/tsc.js"), "-p", "tsconfig.json");
    return "";
  } catch (error) {
    // What a program printed that ended with a code.
    return (error as { stdout: string }).stdout;
  }
}
