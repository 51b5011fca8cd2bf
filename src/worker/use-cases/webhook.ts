import type { Services } from "../services.ts";

type Needs = Pick<Services, "webhook" | "webhookBreaker" | "userMemory" | "now">;

/** Users whose objects one run of the cron, or one call, wakes. */
const WAKES = 500;
const AT_ONCE = 20;

/** Wakes the users whose messages wait for the receiver: one user as a probe while it is away, and none once it is paused. */
export async function wakeWebhook({ webhook, webhookBreaker, userMemory, now }: Needs): Promise<void> {
  if (webhook === null) return;
  const broken = await webhookBreaker.broken(now());
  if (broken?.paused === true) return;
  const waiting = await webhookBreaker.waiting(broken === null ? WAKES : 1);
  for (let i = 0; i < waiting.length; i += AT_ONCE) {
    const woken = await Promise.all(
      waiting.slice(i, i + AT_ONCE).map(async (owner) => {
        try {
          await userMemory(owner).wakeWebhook();
          return [owner];
        } catch (error) {
          console.error({
            message: "an object with changes for the webhook did not wake",
            error: String(error),
          });
          return [];
        }
      }),
    );
    if (broken === null) await webhookBreaker.woken(woken.flat());
  }
}
