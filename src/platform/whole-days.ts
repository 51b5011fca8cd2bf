/** A whole number of days from 1 to 3,650; null for anything else. */
export function daysOf(given = ""): number | null {
  const days = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  return days >= 1 && days <= 3650 ? days : null;
}

/** The default of QUARANTINE_DAYS. */
export const QUARANTINE_DAYS = 30;
