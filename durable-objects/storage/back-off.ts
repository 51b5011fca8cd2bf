export const FIRST_RETRY_MS = 5_000;
export const LAST_RETRY_MS = 5 * 60_000;

/** The longest wait after this many attempts, in milliseconds: 5 s, 10 s, 20 s … `last`, 5 min unless set. */
export const longestWait = (attempts: number, last = LAST_RETRY_MS): number =>
  Math.min(last, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 16));

/** The wait after this many attempts: half of the longest to all of it, as what failed together must not come back together. */
export const backOff = (attempts: number, last?: number): number =>
  Math.ceil((longestWait(attempts, last) * (1 + Math.random())) / 2);
