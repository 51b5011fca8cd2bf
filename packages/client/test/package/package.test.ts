// The package as `npm run build` left it: packed, installed into an empty folder, and used from there.
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSecret } from "../../../dev/development-secret.ts";
import { freePort, type LocalServer, startLocalServer } from "../../../dev/local-server.ts";
import { coreSize } from "../../scripts/size.ts";
import { cairn } from "../../src/index.ts";
import { clientContract } from "../contract.ts";
import { mintToken, scopes } from "../../../../src/domain/token.ts";
import { fromNow } from "../../../../test/from-now.ts";

const project = join(import.meta.dirname, "../..");
const root = join(project, "../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-package-"));
const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
const npm = (cwd: string, ...args: string[]) => execFileSync("npm", args, { cwd, encoding: "utf8" });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
/** Installs an SDK of the adapters beside the package under test. */
const link = (name: string): void => {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "packages/adapters/node_modules", name), path);
};
/** What the package says can be imported. */
const { exports: exported } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
  exports: Record<string, unknown>;
};

/** A token as a backend mints it. */
const everything = (user: string): Promise<string> =>
  mintToken(developmentSecret(), { user, scope: scopes }, fromNow(-60_000));

let server: LocalServer;

/** Packs one of our packages, as `npm run build` left it. */
const packed = (name: string): string => {
  const [{ filename = "" } = {}] = JSON.parse(
    npm(join(root, "packages", name), "pack", "--pack-destination", folder, "--json", "--loglevel=error"),
  ) as { filename?: string }[];
  return `./${filename}`;
};
const install = (...files: string[]): void =>
  void npm(folder, "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", ...files);

beforeAll(async () => {
  write("package.json", `{ "name": "app", "private": true, "type": "module" }`);
  install(packed("client"));
  server = await startLocalServer({ port: await freePort(), state: join(folder, "state") });
}, 180_000);

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("weighs less than 400 KB with its adapters, its documents aside", () => {
  expect(weight()).toBeLessThan(400_000);
});

describe("the client over a server", () => {
  clientContract(() => ({
    optionsOf: async (user) => ({ url: server.url, token: await everything(user) }),
  }));

  it("comes alone, and is what it was here", async () => {
    const installed = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
    expect(installed).toEqual(["edgecairn"]);
    write(
      "app.js",
      `import { cairn, CairnError } from "edgecairn";
       const memory = cairn({ url: process.env.URL, token: async () => process.env.TOKEN });
       await memory.memories.remember("alice", { text: "I moved to Lisbon in March" });
       const { hits } = await memory.recall("alice", { query: "where do I live?" });
       const refused = await memory.memories.remember("bob", { text: "x" }).catch((error) => error);
       console.log(JSON.stringify([hits[0].text, refused instanceof CairnError, refused.code]));`,
    );
    const env = { ...process.env, URL: server.url, TOKEN: await everything("alice") };
    const printed = execFileSync(process.execPath, ["app.js"], { cwd: folder, env, encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual(["I moved to Lisbon in March", true, "not_found"]);
  });

  it("weighs less than 9.5 KB, compressed", async () => {
    expect(await coreSize()).toBeLessThan(9.5 * 1024);
  });

  it("has types that need nothing else", () => {
    write(
      "app.ts",
      `import { cairn, type CairnError, type Memory, type RememberBody } from "edgecairn";
       const memory = cairn({ url: "https://cairn.example.com", token: "t" });
       const body: RememberBody = { text: "x", tags: ["a"] };
       const made: Memory = await memory.memories.remember("alice", body, { idempotencyKey: "k" });
       for await (const { key, value } of memory.kv.all("alice", { values: true })) console.log(key, value);
       const answer = await memory.cache.lease<string>("k", { leaseMs: 1 });
       if (answer.status === "hit") console.log(answer.value.toUpperCase(), made.metadata?.["any"]);
       const alice = memory.user("alice");
       const count: number | null = await alice.kv.get<number>("k");
       const thread: string = (await alice.threads.resume({ agent: "chat" })).id;
       await alice.threads.append(thread, [{ role: "user", content: (await alice.recall({ query: "q" })).hits[0]?.text ?? "" }]);
       // @ts-expect-error the user is no argument
       await alice.recall("alice", { query: "q" });
       // @ts-expect-error a text is no number
       await memory.memories.remember("alice", { text: 1 });
       // @ts-expect-error a typo is found
       await memory.memories.list("alice", { tagg: ["a"] });
       // @ts-expect-error a code that there is not
       const wrong = (error: CairnError) => error.code === "no_such_code";
       // @ts-expect-error neither a url nor a fetch
       cairn({ token: "t" });
       export { count, wrong };`,
    );
    expect(typeErrorsOf("app.ts")).toBe("");
  });
});

describe("the types of a Worker that binds the entrypoint", () => {
  const program = `
    export default {
      async fetch(request: Request, { MEMORY }: Env): Promise<Response> {
        const found = await MEMORY.recall("alice", { query: await request.text() });
        if (!found.ok) {
          const { code, details, message } = found.error;
          // @ts-expect-error a code that there is not
          if (code === "no_such_code") return new Response(message);
          return Response.json(details.map(({ path }) => path), { status: found.error.status });
        }
        const made = await MEMORY.memories.remember("alice", { text: "x" }, { idempotencyKey: "k" });
        const read = await MEMORY.kv.get("alice", "k");
        const entry = read.ok ? (read.value as { n: number } | null) : null;
        const all = await MEMORY.threads.stream("t");
        const stream: ReadableStream<Uint8Array> | null = all.ok ? all.value : null;
        // @ts-expect-error a typo is found
        await MEMORY.recall("alice", { quer: "x" });
        // @ts-expect-error a signal does not cross
        await MEMORY.recall("alice", { query: "x" }, { signal: request.signal });
        // @ts-expect-error there is no such method
        await MEMORY.memories.recall("alice");
        // @ts-expect-error an answer is not its value
        made.text;
        const texts: string[] = found.value.hits.map(({ text }) => text);
        const { hits } = await cairn({ binding: MEMORY }).recall("alice", { query: "x" });
        return Response.json({ texts, hits, entry, stream, id: made.ok && made.value.id });
      },
    };`;
  const workerErrors = () => {
    const options = { target: "es2024", lib: ["es2024"], strict: true, noEmit: true, skipLibCheck: false };
    const types = [join(root, "node_modules/@cloudflare/workers-types")];
    const compilerOptions = { ...options, module: "esnext", moduleResolution: "bundler", types };
    const include = ["calling.ts", "worker-configuration.d.ts"];
    write("tsconfig.json", JSON.stringify({ compilerOptions, include }));
    return typeErrors();
  };

  it("are written by `wrangler types`, from the package's config", () => {
    write(
      "wrangler.toml",
      `name = "calling"
       main = "calling.ts"
       compatibility_date = "2026-11-01"
       services = [{ binding = "MEMORY", service = "cairn", entrypoint = "Memory" }]`,
    );
    write("calling.ts", `import { cairn } from "edgecairn";\n${program}`);
    const configs = ["-c", "wrangler.toml", "-c", "node_modules/edgecairn/cairn.toml"];
    node(join(root, "node_modules/wrangler/bin/wrangler.js"), "types", "--include-runtime=false", ...configs);
    expect(readFileSync(join(folder, "worker-configuration.d.ts"), "utf8")).toContain(
      'MEMORY: Service<typeof import("./node_modules/edgecairn/dist/client/entrypoint").Memory>',
    );
    expect(workerErrors()).toBe("");
  });

  it("can be written by hand", () => {
    write("worker-configuration.d.ts", "");
    write(
      "calling.ts",
      `import { cairn } from "edgecairn";
       import type { Memory } from "edgecairn/binding";
       type Env = { MEMORY: Service<Memory> };
       ${program}`,
    );
    expect(workerErrors()).toBe("");
  });
});

describe("its commands", () => {
  const command = join(folder, "node_modules/.bin/edgecairn");
  const ran = (args: string[], env: Record<string, string> = {}) => {
    const { CAIRN_SECRET: _, CAIRN_TOKEN: _token, ...rest } = process.env;
    return spawnSync(command, args, { cwd: folder, env: { ...rest, ...env }, encoding: "utf8" });
  };

  it("mint a token, and move a user's memory to another user", async () => {
    const secret = { CAIRN_SECRET: developmentSecret() };
    const minted = ran(["token", "--user", "*"], secret);
    expect(minted).toMatchObject({ status: 0, stderr: "" });
    const token = minted.stdout.trim();
    const memory = cairn({ url: server.url, token });
    await memory.kv.set("moved-from", "colour", "green");
    const from = ["--url", server.url, "--token", token];
    expect(ran(["export", "--user", "moved-from", "--out", "moved", ...from])).toMatchObject({ status: 0 });
    const [file = ""] = readdirSync(join(folder, "moved"));
    const brought = ran(["import", "--file", join("moved", file), "--user", "moved-to", ...from]);
    expect(brought).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringContaining("1 entry imported"),
    });
    expect(await memory.kv.get("moved-to", "colour")).toBe("green");
  });

  it("name the package that reads the exports of other systems, in a line that installs it, where it is missing", () => {
    const { status, stdout, stderr } = ran(["import", "--from", "mem0", "mem0.json"]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toBe(
      "--from needs the package @edgecairn/importers, beside the command. Install both here, and repeat the command:\n" +
        "npm install edgecairn @edgecairn/importers\n",
    );
  });

  it("read what other systems exported", async () => {
    install(packed("client"), packed("importers"));
    write("mem0.json", JSON.stringify({ results: [{ id: "1", memory: "Likes tea", user_id: "imported" }] }));
    const token = await everything("imported");
    const args = ["import", "--from", "mem0", "mem0.json"];
    const counted = ran([...args, "--dry-run"]);
    expect(counted).toMatchObject({ status: 0, stdout: expect.stringContaining("1 memory (1 fact)") });
    const read = ran(args, { CAIRN_URL: server.url, CAIRN_TOKEN: token });
    expect(read).toMatchObject({ status: 0, stdout: expect.stringContaining("Memories: 1 created.") });
    const memory = cairn({ url: server.url, token });
    expect((await memory.memories.list("imported")).items).toMatchObject([
      { text: "Likes tea", externalId: "mem0:1", trust: "import" },
    ]);
    expect(ran(["import", "--from", "mem0", "--help"]).stdout).toContain(
      "usage: npx edgecairn import --from",
    );
  });

  it("say how they are called", () => {
    expect(ran([])).toMatchObject({ status: 2, stderr: expect.stringContaining("usage: edgecairn") });
    expect(ran(["nothing"]).status).toBe(2);
    expect(ran(["--help"]).status).toBe(0);
    expect(ran(["export", "--help"]).stdout).toContain("usage: npx edgecairn export");
    expect(ran(["token", "--user", "bob"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("CAIRN_SECRET"),
    });
  });
});

describe("its adapters", () => {
  const adapters = Object.keys(exported).flatMap((name) =>
    name.startsWith("./adapters/") ? name.slice("./adapters/".length) : [],
  );
  /** Those that extend classes of their SDK, which has to be there; the others take its types alone. */
  const extending = ["langgraph", "mastra"];
  /** Those whose types name none either. */
  const alone = ["ai-employee", "dex", "gemstack", "keyv", "molroo", "unstorage"];

  /** What a program in plain Node gets from each of these. */
  const importedOf = (names: readonly string[]): Record<string, string[]> => {
    write(
      "adapters.js",
      `const found = {};
       for (const name of process.argv.slice(2))
         found[name] = Object.keys(await import("edgecairn/adapters/" + name));
       console.log(JSON.stringify(found));`,
    );
    return JSON.parse(node("adapters.js", ...names));
  };

  it("are all of those that there are", () => {
    const files = readdirSync(join(root, "packages/adapters/src")).filter((name) => name.endsWith(".ts"));
    expect(adapters.toSorted()).toEqual(files.map((name) => name.replace(/\.ts$/, "")).toSorted());
  });

  it("are imported without their SDKs, but for those that extend a class of it", () => {
    const independent = adapters.filter((name) => !extending.includes(name));
    const imported = importedOf(independent);
    expect(Object.keys(imported)).toEqual(independent);
    for (const [name, names] of Object.entries(imported)) expect(names, name).not.toEqual([]);
    for (const name of extending) expect(() => importedOf([name]), name).toThrow("ERR_MODULE_NOT_FOUND");
  });

  it("have types that need no SDK where they name none", () => {
    write(
      "adapters.ts",
      `import { cairn, type Cairn } from "edgecairn";
       import { cairnMemoryStore, createMemoryPrepareStep } from "edgecairn/adapters/ai-employee";
       import { dexMemory, type DexTool } from "edgecairn/adapters/dex";
       import { cairnConversations, cairnUserMemory, type MemoryEntry } from "edgecairn/adapters/gemstack";
       import { cairnKeyv } from "edgecairn/adapters/keyv";
       import { type Episode, molrooMemory } from "edgecairn/adapters/molroo";
       import { cairnDriver } from "edgecairn/adapters/unstorage";
       const memory: Cairn = cairn({ url: "http://127.0.0.1:8787", token: "t" });
       const user = "alice";
       const store = cairnMemoryStore({ memory, user });
       const tone: string | null = await store.get<string>("memory:tone");
       const step = createMemoryPrepareStep(store);
       const tools: DexTool[] = dexMemory({ memory, user, projectRoot: "/projects/shop" }).tools;
       const id: string = await cairnConversations({ memory, user }).resume({ agent: "support" });
       const facts: MemoryEntry[] = await cairnUserMemory({ memory }).recall(user, "music", { limit: 3 });
       const cached: number | undefined = await cairnKeyv({ memory, user }).get<number>("k");
       const episodes: Episode[] = await molrooMemory({ memory, user }).recall({ minImportance: 0.5 });
       const text: string | null = await cairnDriver({ memory, user, ttl: 60 }).getItem("k");
       // @ts-expect-error whose?
       cairnMemoryStore({ memory });
       // @ts-expect-error seconds are a number
       cairnDriver({ memory, user, ttl: "60" });
       // @ts-expect-error an episode is whole
       await molrooMemory({ memory, user }).saveEpisode({ id: "ep-1" });
       // @ts-expect-error no name of a tool
       const wrong = tools.find(({ name }) => name === "memory_remember");
       export { cached, episodes, facts, id, step, text, tone, wrong };`,
    );
    expect(typeErrorsOf("adapters.ts")).toBe("");
    const program = readFileSync(join(folder, "adapters.ts"), "utf8");
    for (const name of alone) expect(program).toContain(`"edgecairn/adapters/${name}"`);
  });

  it("name zod in the types of noetic, and nothing else", () => {
    write(
      "noetic.ts",
      `import { cairn } from "edgecairn";
       import { cairnLayer, cairnStorage } from "edgecairn/adapters/noetic";
       import { z } from "zod";
       const memory = cairn({ url: "http://127.0.0.1:8787", token: "t" });
       const state: { open: number } | null = await cairnStorage({ memory, user: "alice" }).get("state");
       const { recall } = cairnLayer({ memory, z, slot: 3 }).provides;
       const limit: number | undefined = recall.input.parse({ query: "boat" }).limit;
       // @ts-expect-error the layer takes your zod
       cairnLayer({ memory });
       export { limit, state };`,
    );
    expect(typeErrorsOf("noetic.ts")).toContain("zod");
    link("zod");
    expect(typeErrorsOf("noetic.ts")).toBe("");
  });

  it("are imported beside the SDKs whose classes they extend", () => {
    for (const sdk of ["@langchain/core", "@langchain/langgraph-checkpoint", "@mastra/core"]) link(sdk);
    expect(importedOf(extending)).toEqual({
      langgraph: [
        "CairnSaver",
        "CairnStore",
        "cairnContextNode",
        "cairnMemoryManager",
        "cairnMiddleware",
        "cairnPrompt",
      ],
      mastra: ["CairnMemoryStorage", "cairnProcessor", "cairnSemanticRecall", "cairnStorage"],
    });
  });

  it.each(["edgecairn/adapters/dex/ago", "edgecairn/adapters", "edgecairn/dist/client/index.js"])(
    "keep %s to themselves",
    (inner) => {
      write(
        "inner.js",
        `console.log(await import(${JSON.stringify(inner)}).catch((error) => error.code) ?? "");`,
      );
      expect(node("inner.js").trim()).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED");
    },
  );
});

/** Bytes of what an install unpacks, without the README, the licence, and the comments of the declarations. */
function weight(): number {
  const installed = join(folder, "node_modules/edgecairn");
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.startsWith("dist") && /\.(js|ts)$/.test(file),
  );
  const texts = files.map((file) => readFileSync(join(installed, file), "utf8"));
  return texts.reduce((sum, text) => sum + text.replaceAll(/[ \t]*\/\*\*[^]*?\*\/\n?/g, "").length, 0);
}

/** The oldest compiler that the types are for, and the newest. */
const compilers = ["packages/adapters/node_modules/typescript-5.6", "node_modules/typescript"];

/** What these have against a program, and all types that it takes in, whichever way modules are resolved. */
function typeErrorsOf(file: string): string {
  const compiler = {
    target: "es2022",
    lib: ["es2023", "dom", "dom.asynciterable"],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
  };
  const found = ["nodenext", "preserve"].map((module) => {
    write("tsconfig.json", JSON.stringify({ compilerOptions: { ...compiler, module }, include: [file] }));
    return compilers.map((one) => typeErrors(one)).join("");
  });
  return found.join("");
}

function typeErrors(compiler = "node_modules/typescript"): string {
  try {
    node(join(root, compiler, "lib/tsc.js"), "-p", "tsconfig.json");
    return "";
  } catch (error) {
    // What a program printed that ended with a code.
    return (error as { stdout: string }).stdout;
  }
}
