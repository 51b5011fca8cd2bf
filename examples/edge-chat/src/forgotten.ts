/** Whether a call failed for one of these reasons; all are in the API's table of errors. */
export const failedBy = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/**
 * Whether a call failed since all of the user was erased meanwhile: the thread is not there any more, or a write was on its
 * way when the erasure began. Nothing else here deletes threads.
 */
export const isForgotten = (error: unknown): boolean => failedBy(error, "not_found", "erased_meanwhile");

/** What is to be written of a user who was forgotten meanwhile is not wanted any more: undefined then. */
export async function unlessForgotten<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isForgotten(error)) return undefined;
    throw error;
  }
}
