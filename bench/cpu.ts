import { readFileSync } from "node:fs";

/** Linux counts a process's time in hundredths of a second. */
const TICK_MS = 10;

/** Reads the CPU time of the workerd that this process started last: what a request costs on a machine that is shared. */
export function serverCpu(): () => number | null {
  const pid = textOf(`/proc/self/task/${process.pid}/children`)
    .trim()
    .split(" ")
    .findLast((child) => textOf(`/proc/${child}/cmdline`).includes("workerd"));
  return () => {
    // After the name in brackets come the fields from the third on; user and system time are the 14th and 15th.
    const fields = textOf(`/proc/${pid}/stat`).split(") ")[1]?.split(" ");
    return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  };
}

/** Empty where there is no such file: not every system tells. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
