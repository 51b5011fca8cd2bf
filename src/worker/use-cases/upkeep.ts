import { d1Result } from "../../platform/d1/d1-result.ts";
import type { JobRow } from "../../platform/d1/tables.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { TenantReindex } from "../../domain/schema/reindex.ts";
import type { UserMemoryRpc } from "../../contract/user-memory.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { Services } from "../services.ts";

type Passing = Pick<Services, "jobs" | "records" | "userMemory" | "now">;
type Needs = Passing & Pick<Services, "embedder" | "vectors" | "recall" | "retention">;

const REINDEX = "reindex";
export const RETENTION = "retention";
/** Users whom one run of a pass reaches, and how many at once: a run has 1,000 subrequests, and there are two passes. */
const OWNERS = 500;
const AT_ONCE = 10;
/** More who fail in one run are an outage: the next run begins with the same users. */
const MOST_FAILED = 50;
/** Runs of which one run tries the failed ones again. */
const NOTES = 5;

/** Starts a pass over all users, or starts it anew; the cron continues it. */
export const startPass = ({ jobs, now }: Passing, name: string, detail: string): Promise<JobRow> =>
  jobs.start({ name, detail, startedAt: now() });

/** Starts to rebuild the index of every user; the cron continues it. */
export async function startTenantReindex(needs: Needs): Promise<Result<TenantReindex>> {
  const job = await d1Result(() => startPass(needs, REINDEX, indexSettings(needs)));
  return job.ok ? ok(stateOf(job.value)) : job;
}

export async function tenantReindexState({ jobs }: Pick<Needs, "jobs">): Promise<Result<TenantReindex>> {
  const job = await d1Result(() => jobs.get(REINDEX));
  if (!job.ok) return job;
  return ok(job.value === undefined ? { status: "none", owners: 0 } : stateOf(job.value));
}

/**
 * Starts a reindex when the settings of the index changed (another embedding model, or Vectorize where there was none), and
 * starts it for the next users. The next run of the cron continues.
 */
export async function upkeep(needs: Needs): Promise<void> {
  // A misspelt model must not start a reindex.
  if (needs.embedder.problem !== undefined) return;
  const detail = indexSettings(needs);
  let job = await needs.jobs.get(REINDEX);
  if (job === undefined) {
    // The first run of a deployment stores the settings of its index.
    const now = needs.now();
    await needs.jobs.start({ name: REINDEX, detail, startedAt: now, finishedAt: now });
    return;
  }
  if (job.detail !== detail) job = await startPass(needs, REINDEX, detail);
  if (job.finishedAt === null) await continuePass(needs, job, (object, owner) => object.startReindex(owner));
}

/** Tells the next users of the tenant's rules of retention, where these changed. The next run of the cron continues. */
export async function tellRetention(needs: Needs): Promise<void> {
  const tenant = await needs.retention.get();
  const detail = JSON.stringify(tenant);
  let job = await needs.jobs.get(RETENTION);
  if (job === undefined && Object.keys(tenant).length === 0) return;
  if (job?.detail !== detail) job = await startPass(needs, RETENTION, detail);
  if (job.finishedAt === null)
    await continuePass(needs, job, (object) => object.setRetention(null, { tenant }));
}

type Act = (object: UserMemoryRpc, owner: UserHash) => Promise<unknown>;

/** One user who fails holds up no other: the pass tries those again at its end, and ends once it has reached them all. */
async function continuePass(needs: Passing, job: JobRow, act: Act): Promise<void> {
  const { jobs, records, now } = needs;
  const owners = await records.owners({ after: job.position, limit: OWNERS });
  const failed = await reach(needs, owners, act);
  if (failed.length > MOST_FAILED)
    throw new Error(`${failed.length} of ${owners.length} users do not answer`);
  const name = notesOf(job) + job.position;
  // Before the pass goes on: whoever dies in between reaches these users again.
  if (failed.length > 0) await jobs.start({ name, detail: JSON.stringify(failed), startedAt: now() });
  const isLast = owners.length < OWNERS && failed.length === 0;
  const again = isLast ? await tryAgain(needs, job, act) : { reached: 0, isDone: false };
  const isSaved = await jobs.advance(job, {
    position: owners.at(-1) ?? job.position,
    done: job.done + owners.length - failed.length + again.reached,
    finishedAt: again.isDone ? now() : null,
  });
  // Those of passes before it, too: one that was started anew left its own.
  if (isSaved && again.isDone) await jobs.remove(`${job.name} `);
}

/** Jobs of their own note who failed in a pass. */
const notesOf = ({ name, startedAt }: JobRow) => `${name} ${startedAt} `;

/** Tries those again who failed in a pass. */
async function tryAgain(needs: Passing, job: JobRow, act: Act) {
  const notes = await needs.jobs.unfinished(notesOf(job), NOTES);
  let [reached, left] = [0, 0];
  for (const note of notes) {
    // Written above.
    const owners = JSON.parse(note.detail) as UserHash[];
    const failed = await reach(needs, owners, act);
    reached += owners.length - failed.length;
    const finishedAt = failed.length === 0 ? needs.now() : null;
    // An erasure may have taken its user out meanwhile: the next run reads who is left.
    const isSaved = await needs.jobs.rewrite(note, { detail: JSON.stringify(failed), finishedAt });
    left += isSaved ? failed.length : 1;
  }
  return { reached, isDone: left === 0 && notes.length < NOTES };
}

/** Returns those who failed. */
async function reach({ userMemory }: Passing, owners: readonly UserHash[], act: Act): Promise<UserHash[]> {
  const failed: UserHash[] = [];
  const one = async (owner: UserHash) => {
    try {
      await act(userMemory(owner), owner);
    } catch (error) {
      failed.push(owner);
      console.error({ message: "the cron did not reach a user", user: owner, error: String(error) });
    }
  };
  await someAtOnce(owners, one);
  return failed;
}

/** Acts for users, some at once. */
export async function someAtOnce<T>(owners: readonly T[], act: (owner: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < owners.length; i += AT_ONCE) await Promise.all(owners.slice(i, i + AT_ONCE).map(act));
}

/** The settings that an index depends on. */
const indexSettings = ({ embedder, vectors, recall: { messageIndexing } }: Needs): string =>
  JSON.stringify({
    model: embedder.model,
    vectorize: vectors !== null,
    ...(messageIndexing !== "full" && { messages: messageIndexing }),
  });

const stateOf = ({ done, startedAt, finishedAt }: JobRow): TenantReindex => ({
  status: finishedAt === null ? "running" : "done",
  owners: done,
  startedAt,
  ...(finishedAt !== null && { finishedAt }),
});
