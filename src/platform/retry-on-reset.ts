/** How long to wait, before each further try, for the object that comes in the place of one that went away. */
const COMES_BACK_MS = [10, 100, 500];

/**
 * Asks an object again if it went away under the call. Only for what may be done twice, and only where no status can
 * ask the caller itself to come again. Not if the object has too much to do as it is, nor for a bug of ours. `call` gets itself a fresh stub:
 * one whose object has died fails for good.
 */
export async function retryOnReset<T>(
  call: () => Promise<T>,
  waits: readonly number[] = COMES_BACK_MS,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const [wait, ...further] = waits;
    const overloaded = error instanceof Error && "overloaded" in error && error.overloaded === true;
    if (overloaded || isBug(error) || wait === undefined) throw error;
    await scheduler.wait(wait);
    return retryOnReset(call, further);
  }
}

/** An error that JavaScript itself throws, here or in the object: the same call fails the same way. */
const isBug = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError].some((bug) => error instanceof bug);
