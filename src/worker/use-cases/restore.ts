import { v7 as uuidv7 } from "uuid";
import type { RestoreMark, RestorePlace } from "../../contract/user-memory.ts";
import { type ErrorCode, fail, invalidField, ok, type Result } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { Restore } from "../../domain/schema/restore.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { RESTORES } from "../../platform/d1/jobs.ts";
import type { JobRow } from "../../platform/d1/tables.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "jobs" | "erasures" | "userMemory" | "now">;
/** How far a restore is, in its job. `begun`: the object begins with the state of then, now or with its next session. */
type Progress = RestorePlace & { begun?: true };
/** The job's contents. */
type Restoring = RestoreMark & Pick<Restore, "lost" | "back">;

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_MS = 30 * DAY_MS;
/** Steps of one call, of 100 rows of D1 each, and users whom one run of the cron resumes. */
const [STEPS, RESUMED] = [100, 5];

/** Sets a user back to a time, or lists what that would do. A restore that is under way goes on. */
export async function restoreUser(
  needs: Needs,
  owner: UserHash,
  { at, dryRun = true }: { at: number; dryRun?: boolean | undefined },
): Promise<Result<Restore>> {
  const { jobs, erasures, userMemory, now } = needs;
  if (at > now() || at < now() - DAYS_MS) return invalidField("body.at", "is no time of the last 30 days");
  const found = await d1Result(async () => ({
    job: await jobs.get(RESTORES + owner),
    erased: await erasures.anySince(owner, at),
  }));
  if (!found.ok) return found;
  if (found.value.erased) return fail("erased_since");
  const { job } = found.value;
  if (!dryRun && job?.finishedAt === null && restoringIn(job).at === at) return proceed(needs, job);
  const preview = await userMemory(owner).previewRestore(at);
  if (!preview.ok) return preview;
  const { lost, back } = preview.value;
  if (dryRun) return ok({ at, status: "dryRun", lost, back });
  // Before the first step: whoever dies in between leaves it to the cron.
  const started = await d1Result(async () => {
    const restoring: Restoring = { ...preview.value, at, token: uuidv7() };
    const begun = { name: RESTORES + owner, detail: JSON.stringify(restoring), startedAt: now() };
    await jobs.start(begun, { keepsLater: true });
    return jobs.get(RESTORES + owner);
  });
  if (!started.ok) return started;
  return started.value === undefined ? fail("internal") : proceed(needs, started.value);
}

/** Goes on with restores that no call has ended, for the cron: with each in its turn. Deletes those that ended a day ago. */
export async function resumeRestores(needs: Needs): Promise<void> {
  for (const job of await needs.jobs.unfinished(RESTORES, RESUMED)) await resume(needs, job, STEPS / RESUMED);
  await needs.jobs.remove(RESTORES, needs.now() - DAY_MS);
}

/** Ends a restore that is under way, before an erasure. If that fails, the object refuses the erasure or the restore. */
export async function endRestore(needs: Needs, owner: UserHash): Promise<void> {
  const job = await d1Result(() => needs.jobs.get(RESTORES + owner));
  if (job.ok && job.value?.finishedAt === null) await resume(needs, job.value, STEPS);
}

/** Failures that stay, and end the restore. */
const FINAL: readonly ErrorCode[] = ["erased_since", "restore_unavailable", "precondition_failed"];

async function resume(needs: Needs, job: JobRow, steps: number): Promise<void> {
  try {
    const went = await proceed(needs, job, steps);
    if (went.ok) return;
    console.error({ message: "a restore does not go on", code: went.code, reason: went.message });
    if (FINAL.includes(went.code)) return;
  } catch (error) {
    console.error({ message: "a restore does not go on", error: String(error) });
  }
  // The next run of the cron begins with others.
  await d1Result(() => needs.jobs.advance(job, { ...job, done: job.done + 1 }));
}

async function proceed(needs: Needs, given: JobRow, steps = STEPS): Promise<Result<Restore>> {
  const { jobs, userMemory, now } = needs;
  const owner = given.name.slice(RESTORES.length);
  const restoring = restoringIn(given);
  const { at, lost, back } = restoring;
  const done = given.done + 1;
  let job = given;
  for (let i = 0; i < steps && job.finishedAt === null; i++) {
    const next = await step(needs, owner, { restoring, progress: progressIn(job) });
    if (!next.ok && !FINAL.includes(next.code)) return next;
    const isLast = !next.ok || next.value === null;
    // The index and Vectorize follow the memories. Before the job ends: it may be started twice.
    if (next.ok && isLast) await twice(() => userMemory(owner).startReindex(owner));
    const position = next.ok ? JSON.stringify(next.value) : job.position;
    const to = { position, done, finishedAt: isLast ? now() : null };
    const from = job;
    const saved = await d1Result(async () =>
      (await jobs.advance(from, to)) ? { ...from, ...to } : jobs.get(from.name),
    );
    if (!saved.ok) return saved;
    if (!next.ok) return next;
    // Another call has begun a restore to another time.
    if (saved.value?.detail !== given.detail) break;
    job = saved.value;
  }
  return ok({ at, status: job.finishedAt === null ? "running" : "done", lost, back });
}

async function step(
  { userMemory }: Needs,
  owner: UserHash,
  { restoring, progress }: { restoring: Restoring; progress: Progress },
): Promise<Result<Progress | null>> {
  if (progress.part === "begin" && progress.begun !== true) {
    const begun = await twice(() => userMemory(owner).beginRestore(restoring));
    return begun.ok ? ok({ part: "begin", begun: true }) : begun;
  }
  const next = await twice(() => userMemory(owner).stepRestore(owner, restoring, progress));
  if (!next.ok || next.value?.part !== "begin") return next;
  // It is not set back yet. The object ends, and with it the call.
  await userMemory(owner)
    .restart(restoring.token)
    .catch(() => undefined);
  return ok({ part: "begin", begun: true });
}

/** The call and the cron may both go on with a restore: the one ends the object under a call of the other, once. */
async function twice<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch {
    return call();
  }
}

// Both were written above.
const restoringIn = ({ detail }: JobRow): Restoring => JSON.parse(detail) as Restoring;
const progressIn = ({ position }: JobRow): Progress =>
  position === "" ? { part: "begin" } : (JSON.parse(position) as Progress);
