// Times in January 2025.

/** Seconds since the epoch. */
export const at = (day: number, hour = 0): number => Date.UTC(2025, 0, day, hour) / 1000;

export const iso = (day: number): string => new Date(Date.UTC(2025, 0, day)).toISOString();
