import type { WaitingUser } from "../../platform/d1/webhook-breaker.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "webhook" | "webhookBreaker" | "userMemory" | "now">;

/** Users whose objects one run of the cron, or one call, wakes. */
const WAKES = 500;
const AT_ONCE = 20;

/**
 * Wakes the users whose messages wait for the receiver: one user with a message as a probe while it is away, and none once it is paused.
 * A woken object asks the breaker, which puts it into the line again if it must not send.
 */
export async function wakeWebhook(needs: Needs): Promise<void> {
  const { webhook, webhookBreaker, now } = needs;
  if (webhook === null) return;
  const broken = await webhookBreaker.broken(now());
  if (broken?.paused === true) return;
  const waiting = await webhookBreaker.waiting(broken === null ? WAKES : AT_ONCE);
  const atOnce = broken === null ? AT_ONCE : 1;
  for (let i = 0; i < waiting.length; i += atOnce) {
    const users = waiting.slice(i, i + atOnce);
    const answers = await Promise.all(users.map((user) => wake(needs, user)));
    await webhookBreaker.leave(users.flatMap(({ n }, at) => (answers[at] === null ? [] : [n])));
    if (broken !== null && answers.includes(true)) return;
  }
}

/** Returns true if the user's object has a message to send, and null if it did not wake. */
async function wake({ webhookBreaker, userMemory, now }: Needs, { userHash }: WaitingUser) {
  try {
    return await userMemory(userHash).wakeWebhook();
  } catch (error) {
    console.error({
      message: "an object with changes for the webhook did not wake",
      error: String(error),
    });
    // Behind all others: it must not keep them from their turn.
    await webhookBreaker.wait(userHash, now());
    return null;
  }
}
