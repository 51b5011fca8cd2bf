// Runs the Worker under wrangler, on loopback, with its state on disk: for `npm start`, the demo and the tests.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mintToken } from "../src/domain/token.ts";
import { developmentSecret } from "./development-secret.ts";
import { hasCurrentSchema } from "./schema-version.ts";

const root = join(import.meta.dirname, "..");
const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
const START_WITHIN_MS = 60_000;
/** Time for the server to remove its temporary files, also on a busy machine. */
const STOP_WITHIN_MS = 20_000;
/**
 * The interval of health checks, and the longest silence: a large import on a slow machine keeps a server busy for
 * seconds.
 */
const WATCH_EVERY_MS = 3_000;
const SILENT_MS = 60_000;

/** No look-up of the outside world: not of `Request.cf`, not for updates, not for telemetry. */
const quiet = {
  ...process.env,
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_UPDATE_NOTIFIER: "1",
  // Else whoever is on this machine, and pages of other local servers, read and write the database without a token.
  X_LOCAL_EXPLORER: "false",
  CI: "true",
};

/** A reason that the person at the terminal can do something about: shown without a stack. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

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
  state,
  before,
  vars = {},
}: {
  port: number;
  state: string;
  /** Variables of the Worker, in place of those of `.dev.vars`. */
  vars?: Readonly<Record<string, string>>;
  /** A Worker that runs beside Cairn, and is what the port serves: its configuration, and a path of it that answers with 200. */
  before?: { config: string; path: string };
}): Promise<LocalServer> {
  await requireFree(port);
  developmentSecret();
  mkdirSync(state, { recursive: true, mode: 0o700 });
  if (!(await hasCurrentSchema(state)))
    throw new CannotStart(
      `The state in ${state} is of another version of Cairn: delete it, or set CAIRN_STATE to another folder.`,
    );
  keepPrivate(state);
  await applyMigrations(state);
  const child = runWrangler([
    "dev",
    ...(before === undefined ? [] : ["-c", before.config, "-c", join(root, "wrangler.toml")]),
    "--ip",
    "127.0.0.1",
    "--port",
    String(port),
    "--persist-to",
    state,
    ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    "--inspector-port",
    "0",
    "--log-level",
    "error",
    "--show-interactive-dev-session=false",
  ]);
  const output = outputOf(child);
  // Once the Worker runs, its logs go to the terminal.
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const server = { url, ended, stop: () => stop(child) };
  const dead = ended.then(() => {
    throw new CannotStart(`wrangler ended before it served:\n${output.text}`);
  });
  try {
    await Promise.race([healthy(url + (before?.path ?? "/health")), dead]);
  } catch (error) {
    await server.stop();
    throw error;
  }
  dead.catch(() => {});
  output.forward();
  return server;
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

/** The process groups that are to end with this process, however it ends. */
const groups = new Set<number>();
process.once("exit", () => {
  for (const group of groups) signalGroup(group, "SIGKILL");
});

/** Lets only the owner read wrangler's folder, which holds all that is stored, and the files already in it. */
function keepPrivate(state: string): void {
  // The folder above may be the caller's, and hold other things.
  const folder = join(state, "v3");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** In a process group of its own: wrangler's launcher ends before the processes that it launched. */
function runWrangler(args: string[]): ChildProcess {
  // A child inherits the mask: what wrangler and workerd write is the owner's alone.
  const mask = process.umask(0o077);
  const child = spawn(process.execPath, [wrangler, ...args], {
    cwd: root,
    env: quiet,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  process.umask(mask);
  if (child.pid !== undefined) groups.add(child.pid);
  return child;
}

/** Collects what the child prints, until it is forwarded to this terminal. */
function outputOf(child: ChildProcess): { text: string; forward: () => void } {
  const output = { text: "", forwarding: false, forward: () => void (output.forwarding = true) };
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      if (output.forwarding) process.stderr.write(chunk);
      else output.text += chunk.toString();
    });
  return output;
}

async function applyMigrations(state: string): Promise<void> {
  const child = runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", state]);
  const output = outputOf(child);
  const code = await new Promise<number | null>((resolve) => void child.once("exit", resolve));
  if (code !== 0) throw new CannotStart(`The local database could not be set up:\n${output.text}`);
}

async function requireFree(port: number): Promise<void> {
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
  if (!free) throw new CannotStart(`Port ${port} is taken. Choose another one: PORT=${port + 1} npm start`);
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

/** Ends the whole group, and returns when nothing of it is left. */
async function stop({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, "SIGTERM");
  const deadline = performance.now() + STOP_WITHIN_MS;
  while (signalGroup(pid, 0) && performance.now() < deadline) await sleep(20);
  signalGroup(pid, "SIGKILL");
  groups.delete(pid);
}

/** False if no process of the group is left. */
function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
