/** Cairn's longest finite lifetime: ten years. */
const LONGEST = 10 * 365 * 24 * 60 * 60;

/**
 * The lifetime of a value in whole seconds; undefined is for ever, 0 not at all.
 *
 * A value with `expiresAt` (milliseconds since the epoch) ends up to a second before it. The SDK rounds up, then recreates
 * an expired value without another `get`: readers in that second would all create it.
 */
export function ttlSecondsOf(given: number | undefined, value?: unknown): number | undefined {
  if (given === undefined || given === Infinity) return undefined;
  const seconds = Math.min(Math.ceil(given), LONGEST);
  if (seconds <= 0) return 0;
  const left = Math.floor((expiryOf(value) - Date.now()) / 1000);
  return left >= 1 && left < seconds ? left : seconds;
}

function expiryOf(value: unknown): number {
  const { expiresAt } = Object(value) as { expiresAt?: unknown };
  return typeof expiresAt === "number" ? expiresAt - 1000 : Infinity;
}
