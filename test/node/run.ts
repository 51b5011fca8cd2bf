// Runs the project's commands as a person at a terminal would.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export type Running = {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
};

/** Starts a script in a process group of its own, so that what it leaves behind can be seen. */
export function run(
  script: string,
  args: string[] = [],
  env: Record<string, string> = {},
  stdin: "ignore" | "pipe" = "ignore",
): Running {
  return start(
    [process.execPath, "--disable-warning=ExperimentalWarning", join(root, script), ...args],
    env,
    stdin,
  );
}

/** Starts any command likewise. */
export function start(
  [command = "", ...args]: string[],
  env: Record<string, string> = {},
  stdin: "ignore" | "pipe" = "ignore",
): Running {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    detached: true,
    stdio: [stdin, "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => void (output.stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  return { child, output, ended };
}

/** True if any process of the group is left. */
export function isAlive({ child }: Running): boolean {
  try {
    return process.kill(-(child.pid ?? 0), 0);
  } catch {
    return false;
  }
}
