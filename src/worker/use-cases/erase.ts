import { d1Result } from "../../platform/d1/d1-result.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { threadOwner } from "../../domain/ids.ts";
import type { Erasure } from "../../domain/schema/erasure.ts";
import type { Services } from "../services.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { ownerOf } from "../../domain/memory/record.ts";

type Needs = Pick<Services, "userMemory" | "erasures">;

/** An erasure that takes longer than this is looked after by the cron. */
const WAKE_AFTER_MS = 3600_000;
/** Erasures that one run wakes, in each database, and how many of them at once. */
const WAKES = 100;
const AT_ONCE = 10;

/** What of a user's to erase. */
export type Which = { threadId: string } | { scope: string } | "everything";

/** Begins an erasure: the one place where erasures begin. When it returns, nothing of what is erased is read any more. */
export async function erase(
  { userMemory }: Pick<Needs, "userMemory">,
  user: string,
  which: Which,
): Promise<Result<Erasure>> {
  const owner = await ownerOf(user);
  const object = userMemory(owner.hash);
  // Its object may have to start anew for it.
  if (which === "everything") return retryOnReset(() => userMemory(owner.hash).eraseUser(owner));
  if ("scope" in which) return object.eraseScope(owner, which.scope);
  if (threadOwner(which.threadId) !== owner.hash)
    return fail("not_found", { details: [{ path: "body.threadId", message: "is no thread of this user" }] });
  return object.eraseThread(owner, which.threadId);
}

/** How far an erasure is. Its object knows while it is under way, and D1 when it is done. */
export async function erasureOf({ userMemory, erasures }: Needs, id: string): Promise<Result<Erasure>> {
  const owner = threadOwner(id);
  if (owner === null) return fail("not_found");
  const running = await userMemory(owner).erasureState(id);
  if (running !== null) return ok(running);
  const noted = await d1Result(() => erasures.get(id));
  if (!noted.ok) return noted;
  return noted.value === undefined ? fail("not_found") : ok(noted.value);
}

/**
 * What the cron does for erasures: wakes the objects of those that take too long. An erasure is driven by the alarm of its object,
 * which the platform gives up when it has failed too often; its user may never return.
 */
export async function wakeErasures({
  userMemory,
  erasures,
  now,
}: Needs & Pick<Services, "now">): Promise<void> {
  const turn = Math.floor(now() / WAKE_AFTER_MS);
  const late = await erasures.running({ before: now() - WAKE_AFTER_MS, limit: WAKES, turn });
  const owners = [...new Set(late.flatMap((id) => threadOwner(id) ?? []))];
  for (let i = 0; i < owners.length; i += AT_ONCE)
    await Promise.all(
      owners.slice(i, i + AT_ONCE).map(async (owner) => {
        try {
          await userMemory(owner).wakeErasures(late.filter((id) => threadOwner(id) === owner));
        } catch (error) {
          console.error({
            message: "an object whose erasure takes too long did not wake",
            owner,
            error: String(error),
          });
        }
      }),
    );
}
