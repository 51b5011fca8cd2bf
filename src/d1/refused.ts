/** A write that D1 understood and refused: nothing of it happened, and trying it again changes nothing. */
export class RefusedWrite extends Error {
  override readonly name = "RefusedWrite";
}

/** Messages of D1 for a statement or a value that it will never take; all else may pass on another try. */
const REFUSALS = /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)|D1_TYPE_ERROR/;

/** Runs a write and tells a refusal from an outage. */
export async function refusable<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasons(error);
    throw REFUSALS.test(reason) ? new RefusedWrite(reason, { cause: error }) : error;
  }
}

/** Drizzle wraps D1's error; the reason is in its causes. */
const reasons = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${reasons(error.cause)}` : String(error);
