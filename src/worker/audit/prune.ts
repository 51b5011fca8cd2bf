import { CLOCK_SKEW_S } from "../auth/claims.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "auditLog" | "auditDays" | "revocations" | "signIns" | "now">;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Events, and records of sign-ins, that one statement deletes: an event is small. And statements of one run of the cron. */
const EVENTS = 5_000;
const RECORDS = 1_000;
const SLICES = 20;

/** Deletes old events of the audit log, revocations of expired tokens, and sign-ins that ended. The cron calls it. */
export async function pruneAccess({ auditLog, auditDays, revocations, signIns, now }: Needs): Promise<void> {
  await inSlices(RECORDS, (limit) => signIns.prune(now(), limit));
  await revocations.prune(now() - CLOCK_SKEW_S * 1000);
  await inSlices(EVENTS, (limit) => auditLog.prune(now() - auditDays * DAY_MS, limit));
}

async function inSlices(limit: number, prune: (limit: number) => Promise<number>): Promise<void> {
  for (let slice = 0; slice < SLICES; slice++) if ((await prune(limit)) < limit) return;
}
