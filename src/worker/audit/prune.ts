import { CLOCK_SKEW_S } from "../auth/claims.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "auditLog" | "auditDays" | "revocations" | "signIns" | "now">;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Events that one statement deletes, and statements of one run of the cron. */
const SLICE = 5_000;
const SLICES = 20;

/** Deletes old events of the audit log, revocations of expired tokens, and sign-ins that ended. The cron calls it. */
export async function pruneAccess({ auditLog, auditDays, revocations, signIns, now }: Needs): Promise<void> {
  await signIns.prune(now());
  await revocations.prune(now() - CLOCK_SKEW_S * 1000);
  for (let slice = 0; slice < SLICES; slice++)
    if ((await auditLog.prune(now() - auditDays * DAY_MS, SLICE)) < SLICE) return;
}
