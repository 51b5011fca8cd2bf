import { d1Result } from "../../platform/d1/d1-result.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { threadOwner } from "../../domain/thread-id.ts";
import type { Erasure } from "../../domain/schema/erasure.ts";
import type { Services } from "../services.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { endRestore } from "./restore.ts";
import { someAtOnce } from "./upkeep.ts";

type Needs = Pick<Services, "userMemory" | "erasures">;
type Erasing = Needs & Pick<Services, "jobs" | "now">;

/** The cron wakes erasures that take longer than this. */
const WAKE_AFTER_MS = 3600_000;
/** Erasures that one run wakes in each database. */
const WAKES = 100;

/** The part of a user's data to erase. */
type ErasureScope = { threadId: string } | { scope: string } | "everything";

/** Begins an erasure. After it returns, no call reads the erased data. */
export async function erase(needs: Erasing, user: string, which: ErasureScope): Promise<Result<Erasure>> {
  const owner = await ownerOf(user);
  await endRestore(needs, owner.hash);
  const object = needs.userMemory(owner.hash);
  // A retry, as the object may have to restart.
  if (which === "everything") return retryOnReset(() => needs.userMemory(owner.hash).eraseUser(owner));
  if ("scope" in which) return object.eraseScope(owner, which.scope);
  if (threadOwner(which.threadId) !== owner.hash)
    return fail("not_found", {
      details: [{ path: "body.threadId", message: "is not a thread of this user" }],
    });
  return object.eraseThread(owner, which.threadId);
}

/** The state of an erasure: from its object while it runs, then from D1. */
export async function erasureOf({ userMemory, erasures }: Needs, id: string): Promise<Result<Erasure>> {
  const owner = threadOwner(id);
  if (owner === null) return fail("not_found");
  const running = await userMemory(owner).erasureState(id);
  if (running !== null) return ok(running);
  const stored = await d1Result(() => erasures.get(id));
  if (!stored.ok) return stored;
  return stored.value === undefined ? fail("not_found") : ok(stored.value);
}

/**
 * Wakes the objects of erasures that take too long; the cron calls it. The alarm of an object drives its erasure, and the
 * platform gives up an alarm that failed too often.
 */
export async function wakeErasures({
  userMemory,
  erasures,
  now,
}: Needs & Pick<Services, "now">): Promise<void> {
  const turn = Math.floor(now() / WAKE_AFTER_MS);
  const late = await erasures.running({ before: now() - WAKE_AFTER_MS, limit: WAKES, turn });
  const owners = [...new Set(late.flatMap((id) => threadOwner(id) ?? []))];
  await someAtOnce(owners, async (owner) => {
    try {
      await userMemory(owner).wakeErasures(late.filter((id) => threadOwner(id) === owner));
    } catch (error) {
      const message = "an object whose erasure takes too long did not wake";
      console.error({ message, owner, error: String(error) });
    }
  });
}
