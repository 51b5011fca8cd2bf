import { monthOf } from "../../domain/ingest/episode-groups.ts";
import type { CataloguedUser } from "../../platform/d1/user-catalogue.ts";
import type { Services } from "../services.ts";

type Needs = Pick<
  Services,
  "jobs" | "users" | "userMemory" | "languageModel" | "consolidateAfterDays" | "now"
>;

const CONSOLIDATE = "consolidate";
const DAY_MS = 24 * 60 * 60 * 1000;
/** A round over all users begins once a week. */
const ROUND_MS = 7 * DAY_MS;
/** Users of one run, and how many at once: a run has 1,000 subrequests and 15 minutes. */
const USERS = 200;
const AT_ONCE = 10;
/** After this time a run begins with no more users. A user takes 6 minutes at most: four questions, each asked twice. */
const RUN_MS = 5 * 60_000;

/** Lets the next users' objects summarise their old episodes. The next run of the cron continues. */
export async function consolidate(needs: Needs): Promise<void> {
  const { jobs, users, languageModel, consolidateAfterDays, now } = needs;
  if (consolidateAfterDays === null || languageModel === null || languageModel.problem !== undefined) return;
  const started = now();
  let job = await jobs.get(CONSOLIDATE);
  if (job === undefined || (job.finishedAt !== null && job.startedAt + ROUND_MS <= started)) {
    await jobs.start({ name: CONSOLIDATE, detail: "", startedAt: started });
    job = await jobs.get(CONSOLIDATE);
  }
  if (job === undefined || job.finishedAt !== null) return;
  const before = monthOf(started - consolidateAfterDays * DAY_MS);
  const page = await users.list({ after: job.position, limit: USERS });
  let reached = 0;
  while (reached < page.length && now() < started + RUN_MS) {
    const some = page.slice(reached, reached + AT_ONCE);
    await Promise.all(some.map((user) => consolidateUser(needs, user, before)));
    reached += some.length;
  }
  await jobs.advance(job, {
    position: page[reached - 1]?.hash ?? job.position,
    done: job.done + reached,
    finishedAt: reached === page.length && page.length < USERS ? now() : null,
  });
}

/** One user's failure does not keep the others waiting. */
async function consolidateUser({ userMemory }: Needs, user: CataloguedUser, before: number): Promise<void> {
  try {
    await userMemory(user.hash).consolidate(user, before);
  } catch (error) {
    console.error({ message: "the episodes of a user were not consolidated", error: String(error) });
  }
}
