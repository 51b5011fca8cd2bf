// One server for each folder of state: two would write into the same databases, and fail each other's writes.
import { spawnSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "./cannot-start.ts";
import { type Holder, holderOf } from "./server-address.ts";

const TRIES = 50;
const AGAIN_MS = 100;

/**
 * Takes the folder for `me`, until this process ends. Answers who has it already otherwise; null if that one has not said yet.
 * SQLite has the only lock in Node that the system gives back however its process ends, on Linux, macOS and Windows.
 */
export async function holdState(
  state: string,
  me: Holder,
): Promise<{ held: true; giveBack: () => void } | { held: false; holder: Holder | null }> {
  for (let tries = 1; ; tries++) {
    const lock = tryLock(join(state, "lock"));
    if (lock !== null) {
      await endLeftovers(holderOf(state));
      const file = join(state, "server.json");
      writeFileSync(`${file}.new`, JSON.stringify(me), { mode: 0o600 });
      renameSync(`${file}.new`, file);
      // It lasts as long as `lock` is reachable: what nobody names is closed.
      return { held: true, giveBack: () => lock.close() };
    }
    const holder = holderOf(state);
    // Two that begin at the same moment may both fail, and the one that succeeds has yet to write its address.
    if ((holder !== null && isAlive(holder.pid)) || tries === TRIES) return { held: false, holder };
    await sleep(AGAIN_MS);
  }
}

/** Null if another process has it. */
function tryLock(file: string): DatabaseSync | null {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file);
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw new Error(`${file} is no lock of Cairn, or is not writable: ${reasonOf(error)}. Move it away.`, {
      cause: error,
    });
  }
}

const SQLITE_BUSY = 5;

/** Ends what outlives a keeper that was killed: workerd goes on without it, and has the databases open. */
async function endLeftovers(former: Holder | null): Promise<void> {
  if (former === null) return;
  for (let tries = 0; tries < TRIES; tries++) {
    const left = processesOf(former);
    if (left.length === 0) return;
    for (const pid of left)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    await sleep(AGAIN_MS);
  }
}

/**
 * The processes of the server in the holder's group. The system gives a number again, and another machine or container may have
 * written it: a command of the group names the folder, or nothing but workerd is left, whose command names none.
 */
function processesOf({ pid: leader, state }: Holder): number[] {
  const { status, stdout } = spawnSync("ps", ["-axwwo", "pid=,pgid=,args="], { encoding: "utf8" });
  if (status !== 0) return [];
  const group = stdout.split("\n").flatMap((line) => {
    const [, pid, pgid, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(pgid) === leader &&
      /wrangler|workerd|local-database/.test(command) &&
      !command.includes("<defunct>")
      ? [{ pid: Number(pid), command: `${command} ` }]
      : [];
  });
  const isOfFolder =
    group.some(({ command }) => command.includes(` ${state} `)) ||
    group.every(({ command }) => /[/\\]workerd(?:\.exe)? serve /.test(command));
  return isOfFolder ? group.map(({ pid }) => pid) : [];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
