import { ok, type Result } from "../../domain/errors.ts";
import type { TenantStatistics } from "../../domain/schema/statistics.ts";
import { percentile } from "../../domain/usage/recall-hours.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { Services } from "../services.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The object of the registry that keeps the tenant's recalls by the hour. */
const RECALLS = "recalls";

/** Counts from D1 and, of recalls, from the registry, for so many days. */
export async function tenantStatistics(
  services: Pick<Services, "users" | "records" | "catalogue" | "recallMeter" | "promptCacheUsage" | "now">,
  days: number,
): Promise<Result<TenantStatistics>> {
  const { users, records, catalogue, promptCacheUsage, now } = services;
  const from = now() - (now() % DAY_MS) - (days - 1) * DAY_MS;
  await keepRecalls(services);
  const [counted, hours] = await Promise.all([
    d1Result(() => Promise.all([users.count(), records.createdByDay(from), catalogue.createdByDay(from)])),
    promptCacheUsage(RECALLS).then((object) => object.recallHours({ from, to: now() })),
  ]);
  if (!counted.ok) return counted;
  const recalls = hours.map((one) => {
    const { times: _times, ...counts } = one;
    return { ...counts, p50: percentile(one, 0.5), p95: percentile(one, 0.95) };
  });
  const [userCount, memories, threads] = counted.value;
  return ok({ users: userCount, memories, threads, recalls });
}

/** Hands what this isolate has counted to the object that keeps it, at most once a minute. What it does not take is lost. */
export async function keepRecalls({
  recallMeter,
  promptCacheUsage,
  now,
}: Pick<Services, "recallMeter" | "promptCacheUsage" | "now">): Promise<void> {
  const hours = recallMeter.handOver(now());
  if (hours.length === 0) return;
  try {
    await (await promptCacheUsage(RECALLS)).addRecalls(hours);
  } catch (error) {
    console.error({ message: "the counts of recalls were not kept", error: String(error) });
  }
}
