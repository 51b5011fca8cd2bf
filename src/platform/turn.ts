/**
 * Lets the other calls of the isolate run: they share one thread, and a promise that needs nothing from outside does not wait for
 * them. Long work is done in pieces, with a turn between two.
 */
export const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
