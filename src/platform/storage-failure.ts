import type { ErrorCode } from "../domain/errors.ts";

/** The errors of a full SQLite, of D1's size limit, and of the account's size limit. */
const FULL = /SQLITE_FULL|Exceeded maximum DB size|maximum account storage limit/;
/** The errors of the free plan's rows of a day, which end at 0:00 UTC: of D1, and of objects. */
const OVER_DAILY =
  /free (?:tier|plan)[^.]*(?:limit|rows)|(?:rows|limit)[^.]*free (?:tier|plan)|daily (?:row |read |write |query )*limit/i;
/** The platform also marks an overload by a property, which does not survive every wrapper. */
const OVERLOADED = /\boverloaded\b|too many requests queued|generating too much load/i;
/** An object makes its own tables when it starts, so this is about D1 only. */
const UNMIGRATED = /D1_ERROR: .*(no such (table|column)|has no column named)/;

/** True if D1 or an object has no room left for a write. */
export const isFull = (error: unknown): boolean => FULL.test(reasons(error));

/** True if D1 lacks a table or a column that a migration makes. */
export const isUnmigrated = (error: unknown): boolean => UNMIGRATED.test(reasons(error));

/** True if a store has too much to do: a retry at once would add to it. */
export const isOverloaded = (error: unknown): boolean =>
  Object(error).overloaded === true || OVERLOADED.test(reasons(error));

/** The error code for a store's failure, or null for any other failure. */
export function storageFailureOf(error: unknown): ErrorCode | null {
  if (isFull(error)) return "storage_full";
  if (isUnmigrated(error)) return "migrations_not_applied";
  if (OVER_DAILY.test(reasons(error))) return "daily_limit";
  if (isOverloaded(error)) return "storage_unavailable";
  const { retryable, durableObjectReset } = Object(error) as Record<string, unknown>;
  // The platform marks an object that was reset under the call apart from failures that it retries by itself.
  return [retryable, durableObjectReset].includes(true) ? "storage_unavailable" : null;
}

/** The messages of an error and of its causes: Drizzle wraps D1's error. */
export const reasons = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${reasons(error.cause)}` : String(error);
