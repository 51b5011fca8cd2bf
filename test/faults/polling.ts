// Test and object look for each other by polling: where one resolves a promise of the other, the other goes on in its
// context, and may not do there what it has to.
import { openIntents } from "./inject.ts";
import type { User } from "./user.ts";

/** A promise that can be asked whether it is done. */
export function settled<T>(promise: Promise<T>): { done: boolean; promise: Promise<T> } {
  const one = { done: false, promise };
  const finish = () => void (one.done = true);
  promise.then(finish, finish);
  return one;
}

/** Until the object has heard of an operation: it has noted something more, or is done; false if it takes its time. */
export async function heard(user: User, operation: { done: boolean }, intents: number): Promise<boolean> {
  for (let i = 0; i < 5; i++) {
    if (operation.done || (await openIntents(user)) !== intents) return true;
    await scheduler.wait(1);
  }
  return false;
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await scheduler.wait(1);
}
