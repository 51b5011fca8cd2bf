const SECOND = 1000;
const UNITS = [
  ["d", 86_400 * SECOND],
  ["h", 3_600 * SECOND],
  ["m", 60 * SECOND],
  ["s", SECOND],
] as const;

/** Formats an age: `5m ago`; the future is now. */
export function relativeTime(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ["s", SECOND];
  return `${Math.max(0, Math.floor(ms / size))}${unit} ago`;
}
