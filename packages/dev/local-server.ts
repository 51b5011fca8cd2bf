// Runs the Worker under wrangler, on loopback, with its state on disk: for `npm start`, the demo and the tests.
import { accessSync, chmodSync, constants, existsSync, globSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve as absolute } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mintToken } from "#domain/token.ts";
import { requireLocalModels } from "./account-models.ts";
import { databaseFiles, migrationsIn, moveFormerDatabase } from "./database-file.ts";
import { developmentSecret } from "./development-secret.ts";
import { olderState, otherWriter, schemaVersion } from "./schema-version.ts";
import { CannotStart, reasonOf } from "./cannot-start.ts";
import type { Holder } from "./server-address.ts";
import { type Keeper, startKeeper } from "./keeper.ts";

const root = join(import.meta.dirname, "../..");
const START_WITHIN_MS = 60_000;
/**
 * The interval of health checks, and the longest silence: a large import on a slow machine keeps a server busy for
 * seconds.
 */
const WATCH_EVERY_MS = 3_000;
const SILENT_MS = 60_000;

export { CannotStart };

export type LocalServer = {
  url: string;
  /** Resolves when the server has ended by itself. */
  ended: Promise<void>;
  stop: () => Promise<void>;
};

/** A token for `user` that may read, write and cache, for a day; one for `*` may also administer. */
export const developmentToken = (user: string): Promise<string> =>
  mintToken(
    developmentSecret(),
    {
      user,
      scope: ["read", "write", "cache", ...(user === "*" ? (["admin"] as const) : [])],
      ttlMs: 24 * 3_600_000,
    },
    Date.now(),
  );

/** Starts on `port` with the state in `state` (made if missing, with the migrations applied). */
export async function startLocalServer({
  port,
  state: folder,
  ip = "127.0.0.1",
  vars = {},
}: {
  port: number;
  state: string;
  /** Where it listens; a container has to listen on more than loopback, which is its own. */
  ip?: string;
  /** Variables of the Worker, in place of those of `.dev.vars`. */
  vars?: Readonly<Record<string, string>>;
}): Promise<LocalServer> {
  const state = absolute(folder);
  const url = `http://127.0.0.1:${port}`;
  makeFolder(state);
  const keeper = await startKeeper(state, url);
  if ("holder" in keeper) throw new CannotStart(await inUse(state, keeper.holder));
  try {
    await requireFree(port);
    developmentSecret();
    requireLocalModels(vars);
    const writer = await otherWriter(state);
    if (writer !== null) {
      const numbers = { port: await freePortAbove(port), current: await schemaVersion() };
      throw new CannotStart(olderState(state, writer, numbers));
    }
    keepPrivate(state);
    await setUpDatabase(state, keeper);
    const ended = keeper.run(join(root, "node_modules/wrangler/bin/wrangler.js"), [
      "dev",
      // Else wrangler asks for an account, for `[ai]`.
      "--local",
      "--ip",
      ip,
      "--port",
      String(port),
      "--persist-to",
      state,
      ...Object.entries({ RATES: "off", ...vars }).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
      "--inspector-port",
      "0",
      "--log-level",
      "error",
      "--show-interactive-dev-session=false",
    ]);
    const dead = ended.then(() => {
      throw new CannotStart(`wrangler ended before it served:\n${keeper.output.text}`);
    });
    dead.catch(() => {});
    await Promise.race([healthy(`${url}/health`), dead]);
    // From here on its logs go to the terminal.
    keeper.output.forward();
    return { url, ended: ended.then(() => undefined), stop: keeper.stop };
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

/** Resolves when a signal asks to stop, or when npm has gone: a signal that ends npm does not reach its script. */
export function askedToStop(): Promise<"asked"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve("asked"));
    const parent = process.ppid;
    const watch = () => process.ppid !== parent && resolve("asked");
    if (process.env.npm_lifecycle_event !== undefined) setInterval(watch, 500).unref();
  });
}

function makeFolder(state: string): void {
  usingFolder(state, () => {
    makeMissing(state);
    accessSync(state, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

function usingFolder(state: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new CannotStart(
      `The state's folder ${state} cannot be used: ${reasonOf(error)}\nCAIRN_STATE sets another one.`,
    );
  }
}

/** Makes a folder and those above it one by one: `recursive` never ends where the system refuses one, as below `/proc`. */
function makeMissing(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeMissing(above);
  mkdirSync(folder, { mode: 0o700 });
}

/** Lets only the owner read wrangler's folder, which holds all that is stored, and the files already in it. */
function keepPrivate(state: string): void {
  // The folder above may be the caller's, and hold other things.
  const folder = join(state, "v3");
  usingFolder(state, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  });
}

async function inUse(state: string, holder: Holder | null): Promise<string> {
  const runs =
    holder === null ? "Another Cairn is starting on" : `Cairn of this folder runs at ${holder.url} with`;
  const port = await freePortAbove(Number(new URL(holder?.url ?? "http://127.0.0.1:8787").port));
  return `${runs} the state ${state}.
A second one needs a state and a port of its own: CAIRN_STATE=${state}-2 PORT=${port} npm start`;
}

/** Applies the migrations that the database does not have yet. */
async function setUpDatabase(state: string, { run, output }: Keeper): Promise<void> {
  moveFormerDatabase(state);
  if (hasMigrations(state)) return;
  const code = await run(join(root, "packages/dev/local-database.ts"), [state]);
  if (code !== 0) throw new CannotStart(`The local database could not be set up:\n${output.text}`);
}

/** True if each local D1 has every migration. */
export function hasMigrations(state: string): boolean {
  const all = globSync("*.sql", { cwd: join(root, "migrations") });
  const files = databaseFiles(state);
  return files.length > 0 && files.every((file) => all.every((name) => migrationsIn(file).has(name)));
}

/** Only once the state is ours: on another port, a second server of the same state would disturb the first. */
async function requireFree(port: number): Promise<void> {
  if (await isFree(port)) return;
  const other = await freePortAbove(port);
  throw new CannotStart(
    `Port ${port} is taken by another program. Choose another one: PORT=${other} npm start`,
  );
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

async function freePortAbove(port: number): Promise<number> {
  for (let next = port + 1; next <= 65_535; next++) if (await isFree(next)) return next;
  return freePort();
}

/** A free port, for tests and for the demo. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

async function healthy(url: string): Promise<void> {
  for (const started = Date.now(); Date.now() - started < START_WITHIN_MS; await sleep(100)) {
    const health = await fetch(url).catch(() => null);
    if (health === null) continue;
    const body = await health.text();
    if (health.ok) return;
    throw new CannotStart(`The Worker started, but is not healthy: ${body}`);
  }
  throw new CannotStart(`The Worker did not answer within ${START_WITHIN_MS / 1000} s`);
}

/** Resolves when the server has been silent for too long: wrangler goes on when its workerd has died. */
export async function silent(url: string): Promise<void> {
  for (let answered = performance.now(); performance.now() - answered < SILENT_MS;) {
    await sleep(WATCH_EVERY_MS, undefined, { ref: false });
    const signal = AbortSignal.timeout(SILENT_MS / 4);
    // An answer of any status is one.
    const health = await fetch(`${url}/health`, { signal }).catch(() => null);
    await health?.body?.cancel();
    if (health !== null) answered = performance.now();
  }
}
