const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number and its unit, as in `3600s`, `30m`, `1h`, `1d`. */
export const DURATION = /^([1-9]\d{0,9})([smhd])$/;

/** Milliseconds of a duration as providers write them, or null if it is none. */
export function durationMs(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  // The pattern lets no other unit through.
  return count === undefined ? null : Number(count) * UNITS[unit as keyof typeof UNITS];
}
