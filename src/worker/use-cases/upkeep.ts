import { d1Result } from "../../platform/d1/d1-result.ts";
import type { JobRow } from "../../platform/d1/tables.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { TenantReindex } from "../../domain/schema/reindex.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "jobs" | "records" | "userMemory" | "embedder" | "vectors" | "recall" | "now">;

const REINDEX = "reindex";
/** Users that one run tells to rebuild their index, and how many of them at once: a run has 1,000 subrequests. */
const OWNERS = 500;
const AT_ONCE = 10;

/** Begins to rebuild the index of every user of the tenant; the cron carries it on. */
export async function startTenantReindex(needs: Needs): Promise<Result<TenantReindex>> {
  const job = { name: REINDEX, detail: indexOf(needs), startedAt: needs.now() };
  const started = await d1Result(() => needs.jobs.start(job));
  return started.ok ? ok({ status: "running", owners: 0, startedAt: job.startedAt }) : started;
}

export async function tenantReindexState({ jobs }: Needs): Promise<Result<TenantReindex>> {
  const job = await d1Result(() => jobs.get(REINDEX));
  if (!job.ok) return job;
  return ok(job.value === undefined ? { status: "none", owners: 0 } : stateOf(job.value));
}

/**
 * What the cron does for memories: begins a reindex when the tenant's index is another than before (another embedding model, or
 * Vectorize where there was none), and tells the next users to rebuild theirs. Where it stops, the next run goes on.
 */
export async function upkeep(needs: Needs): Promise<void> {
  // Nothing can be embedded: what is stored is not to be touched for a name that is misspelt.
  if (needs.embedder.problem !== undefined) return;
  const detail = indexOf(needs);
  let job = await needs.jobs.get(REINDEX);
  if (job === undefined) {
    // The first run of a deployment notes what its index is.
    const now = needs.now();
    await needs.jobs.start({ name: REINDEX, detail, startedAt: now, finishedAt: now });
    return;
  }
  if (job.detail !== detail) {
    await needs.jobs.start({ name: REINDEX, detail, startedAt: needs.now() });
    job = await needs.jobs.get(REINDEX);
  }
  if (job !== undefined && job.finishedAt === null) await tellOwners(needs, job);
}

async function tellOwners({ jobs, records, userMemory, now }: Needs, job: JobRow): Promise<void> {
  const owners = await records.owners({ after: job.position, limit: OWNERS });
  for (let i = 0; i < owners.length; i += AT_ONCE)
    await Promise.all(owners.slice(i, i + AT_ONCE).map((owner) => userMemory(owner).startReindex(owner)));
  await jobs.advance(job, {
    position: owners.at(-1) ?? job.position,
    done: job.done + owners.length,
    finishedAt: owners.length < OWNERS ? now() : null,
  });
}

/** What an index is made with. */
const indexOf = ({ embedder, vectors, recall: { messageIndexing } }: Needs): string =>
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
