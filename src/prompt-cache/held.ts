import type { Flown, Held } from "../../durable-objects/prompt-cache/single-flight.ts";

/**
 * The answer of a call that an object may hold. Until it is there, this request keeps the object's `hold`; if the
 * client goes away, the runtime drops that with the request, and the object takes the waiter out of its queue.
 */
export async function answered<Hit extends { status: string }>(
  call: Promise<Flown<Hit> | Held<Hit>>,
): Promise<Flown<Hit>> {
  const first = await call;
  if (!isHeld(first)) return first;
  const { hold, answer } = first;
  try {
    return await answer();
  } finally {
    // Also keeps them in use up to here: a stub that is collected is one that was let go.
    hold[Symbol.dispose]();
    answer[Symbol.dispose]?.();
  }
}

const isHeld = <Hit extends { status: string }>(answer: Flown<Hit> | Held<Hit>): answer is Held<Hit> =>
  answer.status === "held";
