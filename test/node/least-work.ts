/** Rounds at most: other work of the machine is in the CPU of some runs, and the least of many has little of it. */
const ROUNDS = 12;
/** The least milliseconds that tell anything. */
const LEAST = 4;

/** The CPU of one run, in milliseconds. */
function cpuOf(run: () => void): number {
  const start = process.cpuUsage();
  run();
  return process.cpuUsage(start).user / 1_000;
}

/**
 * The CPU of `long`, as a multiple of that of `short`: each is the least of some runs, which take turns until the ratio is
 * within `most`. Work that grows faster than a text never is.
 */
export function ratioOfWork(most: number, short: () => void, long: () => void): number {
  let [least, ofLong] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS && !(ofLong < most * Math.max(LEAST, least)); round++) {
    least = Math.min(least, cpuOf(short));
    ofLong = Math.min(ofLong, cpuOf(long));
  }
  return ofLong / Math.max(LEAST, least);
}
