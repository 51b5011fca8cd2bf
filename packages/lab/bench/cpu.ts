import { readdirSync, readFileSync } from "node:fs";

/** Reads the CPU milliseconds of the workerd that this process started last: what a request costs on a machine that is shared. */
export function serverCpu(): () => number | null {
  const pid = lastWorkerd();
  return () => {
    let ns = 0;
    // Linux counts the time of each thread in nanoseconds, and a process's own in hundredths of a second.
    for (const thread of namesIn(`/proc/${pid}/task`))
      ns += Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]);
    return ns === 0 ? null : ns / 1e6;
  };
}

/** The workerd that this process started last. `memory`: the bytes of its memory that are in use, or 0. */
export function serverProcess(): { pid: string; memory: () => number } {
  const pid = lastWorkerd() ?? "none";
  return { pid, memory: () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) };
}

const lastWorkerd = (): string | undefined =>
  textOf(`/proc/self/task/${process.pid}/children`)
    .trim()
    .split(" ")
    .findLast((child) => textOf(`/proc/${child}/cmdline`).includes("workerd"));

/** Empty where there is no such file: not every system tells. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
