/**
 * Writes of D1 that the network holds: whoever sent them has got no answer, and they are carried out later than what
 * was sent after them, or never.
 */
const held: (() => Promise<unknown>)[] = [];

export const hold = (perform: () => Promise<unknown>): void => void held.push(perform);

/** Lets them arrive. What D1 makes of them, nobody hears. */
export async function landHeld(): Promise<void> {
  for (const perform of held.splice(0)) await perform().catch(() => null);
}

export const loseHeld = (): void => void held.splice(0);
