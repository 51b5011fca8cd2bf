import { retryOnReset } from "../../platform/retry-on-reset.ts";
import type { Flown, Held } from "../../contract/prompt-cache.ts";

type HeldCall<Hit> = {
  /** Calls the object, on a new stub, which may hold the call for `waitMs`. */
  ask: (waitMs: number) => Promise<Flown<Hit> | Held<Hit>>;
  waitMs: number;
  now: () => number;
};

/**
 * The answer of a call that an object may hold. An object that is reset loses its waiters, but not the lease that they wait
 * for: the call is repeated for the time that is left.
 */
export async function awaitAnswer<Hit extends { status: string }>({
  ask,
  waitMs,
  now,
}: HeldCall<Hit>): Promise<Flown<Hit>> {
  const until = now() + waitMs;
  let answer = await ask(waitMs);
  while (isHeld(answer)) {
    const released = await answerOf(answer);
    if (released !== null) return released;
    answer = await retryOnReset(() => ask(Math.max(0, until - now())));
  }
  return answer;
}

/**
 * The answer of a held call; null if the object was reset. If the client goes away, the runtime disposes `hold` with the
 * request, and the object removes the waiter from its queue.
 */
async function answerOf<Hit>({ hold, answer }: Held<Hit>): Promise<Flown<Hit> | null> {
  try {
    return await answer();
  } catch {
    return null;
  } finally {
    // Also keeps the stubs from being collected before, which would dispose them.
    hold[Symbol.dispose]();
    answer[Symbol.dispose]?.();
  }
}

const isHeld = <Hit extends { status: string }>(answer: Flown<Hit> | Held<Hit>): answer is Held<Hit> =>
  answer.status === "held";
