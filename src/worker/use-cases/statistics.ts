import { ok, type Result } from "../../domain/errors.ts";
import type { TenantStatistics } from "../../domain/schema/statistics.ts";
import { percentile, type RecallHour } from "../../domain/usage/recall-hours.ts";
import type { JobRow } from "../../platform/d1/tables.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { Services } from "../services.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The object of the registry that keeps the tenant's recalls by the hour. */
const RECALLS = "recalls";

type Counts = Pick<TenantStatistics, "users" | "memories" | "threads" | "countedAt">;
type Counting = Pick<Services, "users" | "records" | "catalogue" | "jobs" | "now">;

type Metered = Pick<Services, "recallMeter" | "promptCacheUsage" | "now">;

/** The job whose detail is the last count. */
const COUNTS = "statistics";
/** Users, memories and threads that are counted at each call, in some milliseconds of D1. Of more, the last count is kept. */
const FEW = 5_000;
/** The monitor's count of a small tenant, the cron's of a large one, and one that no cron has renewed: a call does, after its answer. */
const [MONITORED_MS, RENEWED_MS, STALE_MS] = [60 * 60_000, DAY_MS / 4, DAY_MS];
const DAYS = 366;

/** Counts from D1 and, of recalls, from the registry, for so many days. `later`: runs work after the answer. */
export async function tenantStatistics(
  services: Counting & Metered,
  days: number,
  later: (work: Promise<void>) => void,
): Promise<Result<TenantStatistics>> {
  const { now } = services;
  const from = startOf(now(), days);
  const [counted, hours] = await Promise.all([
    d1Result(() => countsOf(services, later)),
    recallHours(services, days),
  ]);
  if (!counted.ok) return counted;
  const recalls = hours.map((one) => {
    const { times: _times, ...counts } = one;
    return { ...counts, p50: percentile(one, 0.5), p95: percentile(one, 0.95) };
  });
  const { memories, threads, ...rest } = counted.value;
  const since = (all: Counts["memories"]) => all.filter(({ day }) => day >= from);
  return ok({ ...rest, memories: since(memories), threads: since(threads), recalls });
}

/** Renews the count of a large tenant, some times a day; the cron calls it, so that no visit of a page counts. It may have become small. */
export async function recount(services: Counting): Promise<void> {
  const last = await services.jobs.get(COUNTS);
  if (last !== undefined && last.done > FEW && services.now() - last.startedAt >= RENEWED_MS)
    await count(services, { keepsFew: true });
}

/** The count that is kept, if the tenant has more than a few; else a new one. */
async function countsOf(services: Counting, later: (work: Promise<void>) => void): Promise<Counts> {
  const { jobs, now } = services;
  const last = await jobs.get(COUNTS);
  if (last === undefined || last.done <= FEW) return count(services);
  if (now() - last.startedAt >= STALE_MS) later(renewed(services));
  return countsIn(last);
}

const renewed = async (services: Counting): Promise<void> => {
  try {
    await count(services, { keepsFew: true });
  } catch (error) {
    console.error({ message: "the tenant was not counted", error: String(error) });
  }
};

/** The count for a monitor, which asks each minute: a small tenant is counted once an hour, and only the cron counts a large one. */
export async function monitoredCounts(services: Counting): Promise<Counts> {
  const last = await services.jobs.get(COUNTS);
  return last !== undefined && (last.done > FEW || services.now() - last.startedAt < MONITORED_MS)
    ? countsIn(last)
    : count(services, { keepsFew: true });
}

const countsIn = ({ detail, startedAt }: JobRow): Counts => ({
  // It was written by `count`.
  ...(JSON.parse(detail) as Omit<Counts, "countedAt">),
  countedAt: startedAt,
});

async function count(
  { users, records, catalogue, jobs, now }: Counting,
  { keepsFew = false } = {},
): Promise<Counts> {
  const countedAt = now();
  const from = startOf(countedAt, DAYS);
  const [userCount, memories, threads] = await Promise.all([
    users.count(),
    records.createdByDay(from),
    catalogue.createdByDay(from),
  ]);
  const counts = { users: userCount, memories, threads };
  const done = [...memories, ...threads].reduce((sum, day) => sum + day.count, userCount);
  const at = { startedAt: countedAt, finishedAt: countedAt };
  if (keepsFew || done > FEW) await jobs.start({ name: COUNTS, detail: JSON.stringify(counts), ...at, done });
  return { ...counts, countedAt };
}

/** The first moment of so many days, of which `time` is in the last. */
const startOf = (time: number, days: number): number => time - (time % DAY_MS) - (days - 1) * DAY_MS;

/** The recalls of so many days by the hour, with those that this isolate has counted. */
export async function recallHours(services: Metered, days: number): Promise<RecallHour[]> {
  await keepRecalls(services);
  const { promptCacheUsage, now } = services;
  const object = await promptCacheUsage(RECALLS);
  return object.recallHours({ from: startOf(now(), days), to: now() });
}

/** Hands what this isolate has counted to the object that keeps it, at most once a minute. What it does not take is lost. */
export async function keepRecalls({ recallMeter, promptCacheUsage, now }: Metered): Promise<void> {
  const hours = recallMeter.handOver(now());
  if (hours.length === 0) return;
  try {
    await (await promptCacheUsage(RECALLS)).addRecalls(hours);
  } catch (error) {
    console.error({ message: "the counts of recalls were not kept", error: String(error) });
  }
}
