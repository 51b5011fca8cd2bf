import { ok, type Result } from "../../domain/errors.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { NO_STORE } from "../http/answer.ts";
import { unwrap } from "../http/failure.ts";
import { wholeTenant } from "../http/owner.ts";
import { newRouter, undocumented } from "../http/router.ts";
import type { Services } from "../services.ts";
import { monitoredCounts, recallHours } from "../use-cases/statistics.ts";
import { tenantReindexState } from "../use-cases/upkeep.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The tenant's figures in Prometheus' text format. A monitor asks each minute, so the audit log has no event of it. */
export const metrics = newRouter();

undocumented(
  metrics,
  { method: "get", path: "/metrics", scope: "admin", owner: wholeTenant("reads the metrics of all users") },
  async (c) =>
    c.body(
      unwrap(await figuresOf(c.get("services")))
        .map(textOf)
        .join(""),
      200,
      {
        "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
        ...NO_STORE,
      },
    ),
);

type Figure = [name: string, help: string, value: number];

/** All are gauges: the figures of a day begin anew at 0:00 UTC. */
const textOf = ([name, help, value]: Figure): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${Math.max(0, value)}\n`;

/** Reads single rows, short indexes and the last count. */
async function figuresOf(services: Services): Promise<Result<Figure[]>> {
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
  const memories = sum(counts.memories, ({ count }) => count);
  const threads = sum(counts.threads, ({ count }) => count);
  const age = (since: number | null): number => (since === null ? 0 : (now() - since) / 1000);
  return ok([
    ["cairn_users", "Users with data, when they were last counted.", counts.users],
    ["cairn_memories", "Memories, when they were last counted; those in quarantine too.", memories],
    ["cairn_threads", "Threads, when they were last counted.", threads],
    ["cairn_count_age_seconds", "Age of the three counts.", age(counts.countedAt)],
    ["cairn_waiting_memories", "Memories in quarantine; 10000 stands for as many or more.", waiting],
    ["cairn_unfinished_erasures", "Erasures that are under way.", unfinished.count],
    [
      "cairn_oldest_erasure_age_seconds",
      "Time since the oldest of them was requested; 0 without one.",
      age(unfinished.since),
    ],
    ["cairn_webhook_waiting_users", "Users whose changes wait for the receiver.", webhookWaiting],
    [
      "cairn_reindexing",
      "1 while the index of all users is rebuilt.",
      Number(reindex.value.status === "running"),
    ],
    [
      "cairn_model_calls_today",
      "Calls of the language model since 0:00 UTC, where a quota of the tenant counts them.",
      model.calls,
    ],
    ["cairn_model_tokens_today", "Their tokens, likewise.", model.tokens],
    ["cairn_recalls_today", "Recalls since 0:00 UTC.", sum(hours, ({ calls }) => calls)],
    [
      "cairn_degraded_recalls_today",
      "Those of which an arm failed or was late.",
      sum(hours, ({ degraded }) => degraded),
    ],
    [
      "cairn_abstained_recalls_today",
      "Those that answered that nothing fits.",
      sum(hours, ({ abstained }) => abstained),
    ],
  ]);
}

const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((all, row) => all + of(row), 0);
