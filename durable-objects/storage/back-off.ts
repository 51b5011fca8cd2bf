export const FIRST_RETRY_MS = 5_000;
export const LAST_RETRY_MS = 5 * 60_000;

/** Milliseconds to wait after this many attempts: 5 s, 10 s, 20 s … `last`, 5 min unless set. */
export const backOff = (attempts: number, last = LAST_RETRY_MS): number =>
  Math.min(last, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 16));
