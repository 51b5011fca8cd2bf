import { d1Result } from "../../platform/d1/d1-result.ts";
import type { JobRow } from "../../platform/d1/tables.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { TenantReindex } from "../../domain/schema/reindex.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "jobs" | "records" | "userMemory" | "embedder" | "vectors" | "recall" | "now">;

const REINDEX = "reindex";
/** Users whose reindex one run starts, and how many at once: a run has 1,000 subrequests. */
const OWNERS = 500;
const AT_ONCE = 10;

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
  if (job !== undefined && job.finishedAt === null) await startOwners(needs, job);
}

async function startOwners({ jobs, records, userMemory, now }: Needs, job: JobRow): Promise<void> {
  const owners = await records.owners({ after: job.position, limit: OWNERS });
  for (let i = 0; i < owners.length; i += AT_ONCE)
    await Promise.all(owners.slice(i, i + AT_ONCE).map((owner) => userMemory(owner).startReindex(owner)));
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
