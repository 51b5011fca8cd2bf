/** How long to wait, before each further try, for the object that comes in the place of one that went away. */
const COMES_BACK_MS = [10, 100, 500];

/**
 * Asks an object again if it went away under the call. Only for what may be done twice, and only where no status can
 * ask the caller itself to come again. Not if the object has too much to do as it is. `call` gets itself a fresh stub:
 * one whose object has died fails for good.
 */
export async function tryAgain<T>(
  call: () => Promise<T>,
  waits: readonly number[] = COMES_BACK_MS,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const [wait, ...further] = waits;
    const overloaded = error instanceof Error && "overloaded" in error && error.overloaded === true;
    if (overloaded || wait === undefined) throw error;
    await scheduler.wait(wait);
    return tryAgain(call, further);
  }
}
