import { spawnSync } from "node:child_process";

/** The part of the standard input that is used here. */
type Input = {
  isTTY?: boolean;
  on: (event: "data" | "error", listener: () => void) => unknown;
  destroy: () => unknown;
};

/** Calls `act` at each line that is typed at `input`, and returns the end of that. */
export function onEnter(input: Input, act: () => Promise<void>): () => void {
  if (input.isTTY && isInBackground()) return () => {};
  input.on("data", () => void act());
  // A terminal that has gone is no fault of the server.
  input.on("error", () => {});
  return () => void input.destroy();
}

/**
 * The system stops a job in the background at its first look at the terminal. Windows has no such jobs, and a slim image no `ps`:
 * without an answer, this process is in the foreground.
 */
function isInBackground(): boolean {
  const { status, stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(process.pid)], {
    encoding: "utf8",
  });
  return status === 0 && !stdout.includes("+");
}
