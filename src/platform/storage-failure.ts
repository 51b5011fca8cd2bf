import type { ErrorCode } from "../domain/errors.ts";

/** The errors of a full SQLite, of D1's size limit, and of the account's size limit. */
const FULL = /SQLITE_FULL|Exceeded maximum DB size|maximum account storage limit/;
/** An object makes its own tables when it starts, so this is about D1 only. */
const UNMIGRATED = /D1_ERROR: .*(no such (table|column)|has no column named)/;

/** True if D1 or an object has no room left for a write. */
export const isFull = (error: unknown): boolean => FULL.test(reasons(error));

/** True if D1 lacks a table or a column that a migration makes. */
export const isUnmigrated = (error: unknown): boolean => UNMIGRATED.test(reasons(error));

/** The error code for a store's failure, or null for any other failure. */
export function storageFailureOf(error: unknown): ErrorCode | null {
  if (isFull(error)) return "storage_full";
  if (isUnmigrated(error)) return "migrations_not_applied";
  const { overloaded, retryable, durableObjectReset } = Object(error) as Record<string, unknown>;
  // The platform marks an object that was reset under the call apart from failures that it retries by itself.
  return [overloaded, retryable, durableObjectReset].includes(true) ? "storage_unavailable" : null;
}

/** The messages of an error and of its causes: Drizzle wraps D1's error. */
export const reasons = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${reasons(error.cause)}` : String(error);
