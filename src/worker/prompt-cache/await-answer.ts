import { retryOnReset } from "../../platform/retry-on-reset.ts";
import type { Flown, Held } from "../../contract/prompt-cache.ts";

type WaitingCall<Hit> = {
  /** Calls the object, on a new stub, which may make the call wait for `waitMs`. */
  ask: (waitMs: number) => Promise<Flown<Hit> | Held<Hit>>;
  waitMs: number;
  now: () => number;
};

/**
 * The answer of a call that an object may make wait. An object that is reset loses its waiters, but not the lease that they wait
 * for: the call is repeated for the time that is left.
 */
export async function awaitAnswer<Hit extends { status: string }>({
  ask,
  waitMs,
  now,
}: WaitingCall<Hit>): Promise<Flown<Hit>> {
  const until = now() + waitMs;
  for (let answer = await ask(waitMs); ;) {
    const final = isHeld(answer) ? await answerOf(answer) : answer;
    if (final !== null) return final;
    answer = await retryOnReset(() => ask(Math.max(0, until - now())));
  }
}

/**
 * The answer of a call that waits; null if the object was reset. If the client goes away, the runtime disposes `hold` with the
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
