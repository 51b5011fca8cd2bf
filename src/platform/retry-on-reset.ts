import { isOverloaded, storageFailureOf } from "./storage-failure.ts";

/** The longest wait before each retry, while the platform starts the object again. */
const COMES_BACK_MS = [10, 100, 500];

/**
 * Retries a call of an object or of D1 after any error but a bug or an overload. The call must be idempotent. It must
 * get a new stub each time: a stub of a dead object fails for good.
 */
export async function retryOnReset<T>(
  call: () => Promise<T>,
  waits: readonly number[] = COMES_BACK_MS,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const [wait, ...further] = waits;
    const isFinal = isOverloaded(error) || storageFailureOf(error) === "daily_limit" || isBug(error);
    if (isFinal || wait === undefined) throw error;
    // Calls that failed together must not come back together.
    await scheduler.wait((wait * (1 + Math.random())) / 2);
    return retryOnReset(call, further);
  }
}

/** JavaScript's own errors: a retry fails the same way. */
const isBug = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError].some((bug) => error instanceof bug);
