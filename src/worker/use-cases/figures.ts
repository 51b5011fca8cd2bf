import { ok, type Result } from "../../domain/errors.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { Services } from "../services.ts";
import { type Counting, monitoredCounts, recallHours } from "./statistics.ts";
import { tenantReindexState } from "./upkeep.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The figures of the tenant at this time. `model` and `recalls` are those since 0:00 UTC. */
export type TenantFigures = {
  users: number;
  memories: number;
  threads: number;
  countedAt: number;
  waiting: number;
  erasures: { count: number; since: number | null };
  webhookWaiting: number;
  isReindexing: boolean;
  model: { calls: number; tokens: number };
  recalls: { calls: number; degraded: number; abstained: number };
};

type Needs = Counting &
  Pick<Services, "recallMeter" | "promptCacheUsage" | "erasures" | "webhookBreaker" | "tenantModelUsage">;

/** Reads the figures for a monitor: single rows, short indexes and the last count. */
export async function tenantFigures(services: Needs): Promise<Result<TenantFigures>> {
  const { records, erasures, webhookBreaker, tenantModelUsage, now } = services;
  const [read, reindex, hours] = await Promise.all([
    d1Result(() =>
      Promise.all([
        monitoredCounts(services),
        records.waiting(),
        erasures.unfinished(),
        webhookBreaker.countWaiting(),
        tenantModelUsage.of(Math.floor(now() / DAY_MS)),
      ]),
    ),
    tenantReindexState(services),
    recallHours(services, 1),
  ]);
  if (!read.ok) return read;
  if (!reindex.ok) return reindex;
  const [counts, waiting, unfinished, webhookWaiting, model] = read.value;
  return ok({
    users: counts.users,
    memories: sum(counts.memories, (day) => day.count),
    threads: sum(counts.threads, (day) => day.count),
    countedAt: counts.countedAt,
    waiting,
    erasures: unfinished,
    webhookWaiting,
    isReindexing: reindex.value.status === "running",
    model,
    recalls: {
      calls: sum(hours, ({ calls }) => calls),
      degraded: sum(hours, ({ degraded }) => degraded),
      abstained: sum(hours, ({ abstained }) => abstained),
    },
  });
}

const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((all, row) => all + of(row), 0);
