// Starts the process that holds a state's folder, and runs commands by it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CannotStart } from "./cannot-start.ts";
import type { Holder } from "./server-address.ts";
import type { FromKeeper, ToKeeper } from "./state-keeper.ts";

/** Time for the server to remove its temporary files, also on a busy machine. */
const STOP_WITHIN_MS = 20_000;

export type Keeper = {
  output: ReturnType<typeof outputOf>;
  /** Runs a script of Node, and resolves with its exit code; null if it was ended. */
  run: (script: string, args: readonly string[]) => Promise<number | null>;
  stop: () => Promise<void>;
};

/**
 * In a process group of its own, as wrangler's launcher ends before the processes that it launched. Answers who has the folder
 * if another one does; null if that one has not yet said.
 */
export async function startKeeper(state: string, url: string): Promise<Keeper | { holder: Holder | null }> {
  const child = fork(join(import.meta.dirname, "state-keeper.ts"), [state, url], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  if (child.pid !== undefined) groups.add(child.pid);
  const output = outputOf(child);
  const ended = once(child, "exit");
  const answer = async (): Promise<FromKeeper | null> => {
    // Its messages are those of state-keeper.ts.
    const message = once(child, "message") as Promise<[FromKeeper]>;
    return Promise.race([message.then(([first]) => first), ended.then(() => null)]);
  };
  const first = await answer();
  if (first === null || "ended" in first)
    throw new CannotStart(`The state in ${state} cannot be opened:\n${output.text}`);
  if ("failed" in first) {
    await stop(child);
    throw new CannotStart(`The state in ${state} cannot be opened: ${first.failed}`);
  }
  if (!first.held) {
    await stop(child);
    return { holder: first.holder };
  }
  const run = async (script: string, args: readonly string[]): Promise<number | null> => {
    const answered = answer();
    child.send({ run: [script, ...args] } satisfies ToKeeper);
    const last = await answered;
    return last !== null && "ended" in last ? last.ended : null;
  };
  return { output, run, stop: () => stop(child) };
}

/** The process groups that are to end with this process, however it ends. */
const groups = new Set<number>();
process.once("exit", () => {
  for (const group of groups) signalGroup(group, "SIGKILL");
});

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
