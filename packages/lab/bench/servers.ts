// Cairn and its floor, each in a workerd of its own on loopback, without wrangler's development proxy.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { serverCpu, serverProcess } from "./cpu.ts";
import { mintToken } from "#domain/token.ts";

const root = join(import.meta.dirname, "../../..");
const assets = { disk: { path: join(root, "build/assets"), writable: false } };
const secret = "a secret of the benchmark, of 32 bytes or more";
const compatibilityDate = /^compatibility_date = "(.+)"$/m.exec(
  readFileSync(join(root, "wrangler.toml"), "utf8"),
)?.[1];

export type Server = {
  database: Database;
  name: string;
  url: URL;
  token: string;
  /** Signs its tokens. */
  secret: string;
  /** Milliseconds of CPU that the server has used so far, or null where the system does not tell. */
  cpu: () => number | null;
  stop: () => Promise<void>;
};

/**
 * As it is deployed: what wrangler builds, over an empty D1 with its migrations. `counting`: behind `counting.ts`. `evicts`: an
 * object without a call for 10 s leaves the memory. `folder`: where the databases stay, for a later server over the same. `vars`:
 * variables of the Worker.
 */
export async function startCairn({
  counting = false,
  evicts = true,
  folder,
  vars = {},
}: {
  counting?: boolean;
  evicts?: boolean;
  folder?: string;
  vars?: Readonly<Record<string, string>>;
} = {}): Promise<Server> {
  const modules = [
    ...(counting ? [{ type: "ESModule" as const, path: "counting.js", contents: countingModule() }] : []),
    ...bundled("wrangler.toml"),
  ];
  return start("cairn", modules, {
    ...cairnBindings({ evicts, vars }),
    ...(folder !== undefined && { resourcePersistencePath: folder }),
  });
}

const cairnBindings = ({
  evicts = true,
  vars = {},
}: {
  evicts?: boolean;
  vars?: Readonly<Record<string, string>>;
}) => ({
  durableObjects: {
    USER_MEMORY: { className: "UserMemory", useSQLite: true, unsafePreventEviction: !evicts },
    PROMPT_CACHE: { className: "PromptCache", useSQLite: true },
  },
  d1Databases: ["DB"],
  serviceBindings: { ASSETS: assets },
  bindings: { CAIRN_SECRET: secret, CORS_ORIGINS: "", ...vars },
});

/** Cairn, and in the same workerd a Worker that calls it: by its entrypoint `Memory`, with these props, and over HTTP. */
export async function startCaller(
  main: string,
  props: Record<string, unknown>,
): Promise<Pick<Server, "url" | "cpu" | "stop">> {
  const token = await tokenOfAll();
  const caller = {
    name: "caller",
    modules: bundledOf("caller", main),
    compatibilityDate,
    serviceBindings: { MEMORY: { name: "cairn", entrypoint: "Memory", props }, CAIRN: "cairn" },
    bindings: { TOKEN: token },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
  const cairn = { name: "cairn", modules: bundled("wrangler.toml"), compatibilityDate, ...cairnBindings({}) };
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [caller, cairn] }));
  await miniflare.ready;
  await migrate(await miniflare.getD1Database("DB", "cairn"));
  const url = await miniflare.unsafeGetDirectURL("caller");
  return { url, cpu: serverCpu(), stop: () => miniflare.dispose() };
}

/** What wrangler would deploy of a Worker of one file, whose assets are none but the models. */
function bundledOf(name: string, main: string): Module[] {
  const folder = mkdtempSync(join(tmpdir(), "cairn-bench-"));
  const config = join(folder, "wrangler.json");
  writeFileSync(
    config,
    JSON.stringify({
      name,
      main,
      compatibility_date: compatibilityDate,
      minify: true,
      build: { command: "node packages/dev/assets.ts build/assets model", cwd: root },
    }),
  );
  try {
    return bundled(config);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const bundles = new Map<string, Module[]>();

/** The modules that wrangler would deploy: built once for a process. */
function bundled(config: string): Module[] {
  const modules = bundles.get(config) ?? build(config);
  bundles.set(config, modules);
  return modules;
}

function build(config: string): Module[] {
  const out = mkdtempSync(join(tmpdir(), "cairn-bench-"));
  try {
    const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
    execFileSync(process.execPath, [wrangler, "deploy", "-c", config, "--dry-run", "--outdir", out], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    const files = (suffix: string) => readdirSync(out).filter((name) => name.endsWith(suffix));
    return [
      ...files(".js").map((path) => ({
        type: "ESModule" as const,
        path: "index.js",
        contents: readFileSync(join(out, path), "utf8"),
      })),
      ...files(".wasm").map((path) => ({
        type: "CompiledWasm" as const,
        path,
        contents: readFileSync(join(out, path)),
      })),
    ];
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** A Worker with nothing but the models that run in it. */
export async function startModels(): Promise<
  Pick<Server, "url" | "cpu" | "stop"> & { memory: () => number }
> {
  const modules = bundledOf("models", join(import.meta.dirname, "models-worker.ts"));
  const { miniflare, url } = await startWorkerd("models", modules, { serviceBindings: { ASSETS: assets } });
  return { url, cpu: serverCpu(), memory: serverProcess().memory, stop: () => miniflare.dispose() };
}

const countingModule = (): string =>
  stripTypeScriptTypes(readFileSync(join(import.meta.dirname, "counting.ts"), "utf8")).replace(
    '"../../../src/index.ts"',
    '"./index.js"',
  );

export async function startFloor(): Promise<Server> {
  // By an address that the compiler does not follow: what it would find there is typed for workerd, not for Node.
  const { href } = new URL("../../../durable-objects/user-memory/schema.ts", import.meta.url);
  const { migrations } = (await import(href)) as { migrations: readonly { sql: string }[] };
  const source = readFileSync(join(import.meta.dirname, "floor.ts"), "utf8");
  const modules = [{ type: "ESModule" as const, path: "index.js", contents: stripTypeScriptTypes(source) }];
  return start("floor", modules, {
    durableObjects: { OBJECT: { className: "Floor", useSQLite: true } },
    d1Databases: ["DB"],
    // A migration may end without a semicolon.
    bindings: { SCHEMA: migrations.map(({ sql }) => sql).join(";\n") },
  });
}

/** Waits until the server has nothing left to do (a moment, where CPU time cannot be read): appends are embedded later. */
export async function idle({ cpu }: Server): Promise<void> {
  for (let waited = 0; waited < 400; waited++) {
    const before = cpu();
    await sleep(1_100);
    if ((cpu() ?? 0) - (before ?? 0) < 30) return;
  }
}

/** The calls of D1 that the bench makes from outside. */
type Database = { prepare: (sql: string) => { run: () => Promise<{ results: unknown[] }> } };
type Module =
  | { type: "ESModule"; path: string; contents: string }
  | { type: "CompiledWasm"; path: string; contents: Uint8Array };

/** On loopback; without a folder, over empty storage in the system's temporary one. */
export async function startWorkerd(
  name: string,
  modules: readonly Module[],
  bindings: object,
): Promise<{ miniflare: Miniflare; url: URL }> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name,
      modules: [...modules],
      compatibilityDate,
      // Straight to the Worker: miniflare's own entry Worker would cost both the same and hide the difference.
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      ...bindings,
    }),
  );
  await miniflare.ready;
  return { miniflare, url: await miniflare.unsafeGetDirectURL(name) };
}

/** A workerd with an empty D1 and its migrations. */
async function start(name: string, modules: readonly Module[], bindings: object): Promise<Server> {
  const { miniflare, url } = await startWorkerd(name, modules, bindings);
  const database: Database = await miniflare.getD1Database("DB");
  await migrate(database);
  return {
    name,
    database,
    url,
    token: await tokenOfAll(),
    secret,
    cpu: serverCpu(),
    stop: () => miniflare.dispose(),
  };
}

const tokenOfAll = (): Promise<string> =>
  mintToken(secret, { user: "*", scope: ["read", "write", "cache"], ttlMs: 24 * 3_600_000 }, Date.now());

/** Does nothing in a database that has its tables. */
async function migrate(database: Database): Promise<void> {
  const { results } = await database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'memories'").run();
  if (results.length > 0) return;
  const folder = join(root, "migrations");
  for (const file of readdirSync(folder).toSorted()) {
    // No statement of ours holds a semicolon within itself.
    const sql = readFileSync(join(folder, file), "utf8").replaceAll(/--.*$/gm, "");
    for (const statement of sql.split(";"))
      if (statement.trim() !== "") await database.prepare(statement).run();
  }
}
