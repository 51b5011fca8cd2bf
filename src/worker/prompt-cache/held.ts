import { retryOnReset } from "../../platform/retry-on-reset.ts";
import type { Flown, Held } from "../../../durable-objects/prompt-cache/contract.ts";

type Asked<Hit> = {
  /** Asks the object, on a stub of its own, to be held for so long at most. */
  ask: (waitMs: number) => Promise<Flown<Hit> | Held<Hit>>;
  waitMs: number;
  now: () => number;
};

/**
 * The answer of a call that an object may hold. An object that dies takes its waiters along, but not the lease that
 * they wait for: whoever was held asks the next object, for the time that is left.
 */
export async function answered<Hit extends { status: string }>({
  ask,
  waitMs,
  now,
}: Asked<Hit>): Promise<Flown<Hit>> {
  const until = now() + waitMs;
  let answer = await ask(waitMs);
  while (isHeld(answer)) {
    const held = await told(answer);
    if (held !== null) return held;
    answer = await retryOnReset(() => ask(Math.max(0, until - now())));
  }
  return answer;
}

/**
 * What a waiter is told; null if the object died. Until then, this request keeps the object's `hold`; if the client
 * goes away, the runtime drops that with the request, and the object takes the waiter out of its queue.
 */
async function told<Hit>({ hold, answer }: Held<Hit>): Promise<Flown<Hit> | null> {
  try {
    return await answer();
  } catch {
    return null;
  } finally {
    // Also keeps them in use up to here: a stub that is collected is one that was let go.
    hold[Symbol.dispose]();
    answer[Symbol.dispose]?.();
  }
}

const isHeld = <Hit extends { status: string }>(answer: Flown<Hit> | Held<Hit>): answer is Held<Hit> =>
  answer.status === "held";
