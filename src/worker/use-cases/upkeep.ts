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

/** Starts a pass over all users, or starts it anew; the cron continues it. */
export const startPass = ({ jobs, now }: Passing, name: string, detail: string): Promise<void> =>
  jobs.start({ name, detail, startedAt: now() });

/** Starts to rebuild the index of every user; the cron continues it. */
export async function startTenantReindex(needs: Needs): Promise<Result<TenantReindex>> {
  const job = { name: REINDEX, detail: indexSettings(needs), startedAt: needs.now() };
  const started = await d1Result(() => needs.jobs.start(job));
  return started.ok ? ok({ status: "running", owners: 0, startedAt: job.startedAt }) : started;
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
  if (job.detail !== detail) {
    await needs.jobs.start({ name: REINDEX, detail, startedAt: needs.now() });
    job = await needs.jobs.get(REINDEX);
  }
  if (job?.finishedAt === null) await continuePass(needs, job, (object, owner) => object.startReindex(owner));
}

/** Tells the next users of the tenant's rules of retention, where these changed. The next run of the cron continues. */
export async function tellRetention(needs: Needs): Promise<void> {
  const tenant = await needs.retention.get();
  const detail = JSON.stringify(tenant);
  let job = await needs.jobs.get(RETENTION);
  if (job === undefined && Object.keys(tenant).length === 0) return;
  if (job?.detail !== detail) {
    await startPass(needs, RETENTION, detail);
    job = await needs.jobs.get(RETENTION);
  }
  if (job?.finishedAt === null)
    await continuePass(needs, job, (object) => object.setRetention(null, { tenant }));
}

async function continuePass(
  { jobs, records, userMemory, now }: Passing,
  job: JobRow,
  act: (object: UserMemoryRpc, owner: UserHash) => Promise<unknown>,
): Promise<void> {
  const owners = await records.owners({ after: job.position, limit: OWNERS });
  for (let i = 0; i < owners.length; i += AT_ONCE)
    await Promise.all(owners.slice(i, i + AT_ONCE).map((owner) => act(userMemory(owner), owner)));
  await jobs.advance(job, {
    position: owners.at(-1) ?? job.position,
    done: job.done + owners.length,
    finishedAt: owners.length < OWNERS ? now() : null,
  });
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
