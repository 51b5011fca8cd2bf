/** Less than this passes while a test waits for a busy machine, or so it may. */
const FAR_MS = 10_000;

/**
 * The time so many milliseconds from now, or before now: for what a server, or an SDK, compares with the real clock. It is far
 * enough from now that no test depends on when it runs.
 */
export function fromNow(ms: number): number {
  if (Math.abs(ms) < FAR_MS) throw new RangeError(`a busy machine takes ${ms} ms for nothing`);
  return Date.now() + ms;
}
