import { NO_STORE } from "../http/answer.ts";
import { unwrap } from "../http/failure.ts";
import { wholeTenant } from "../http/owner.ts";
import { newRouter, undocumented } from "../http/router.ts";
import { tenantFigures, type TenantFigures } from "../use-cases/figures.ts";

/** The tenant's figures in Prometheus' text format. A monitor asks each minute, so the audit log has no event of it. */
export const metrics = newRouter();

undocumented(
  metrics,
  { method: "get", path: "/metrics", scope: "admin", owner: wholeTenant("reads the metrics of all users") },
  async (c) => {
    const services = c.get("services");
    const figures = unwrap(await tenantFigures(services));
    return c.body(textOf(figures, services.now()), 200, {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
      ...NO_STORE,
    });
  },
);

/** All are gauges: the figures of a day begin anew at 0:00 UTC. */
const textOf = (figures: TenantFigures, now: number): string => {
  const { erasures, model, recalls } = figures;
  const rows: [name: string, help: string, value: number][] = [
    ["cairn_users", "Users with data, when they were last counted.", figures.users],
    ["cairn_memories", "Memories, when they were last counted; those in quarantine too.", figures.memories],
    ["cairn_threads", "Threads, when they were last counted.", figures.threads],
    ["cairn_count_age_seconds", "Age of the three counts.", (now - figures.countedAt) / 1000],
    ["cairn_waiting_memories", "Memories in quarantine; 10000 stands for as many or more.", figures.waiting],
    ["cairn_unfinished_erasures", "Erasures that are under way.", erasures.count],
    [
      "cairn_oldest_erasure_age_seconds",
      "Time since the oldest of them was requested; 0 without one.",
      erasures.since === null ? 0 : (now - erasures.since) / 1000,
    ],
    ["cairn_webhook_waiting_users", "Users whose changes wait for the receiver.", figures.webhookWaiting],
    ["cairn_reindexing", "1 while the index of all users is rebuilt.", Number(figures.isReindexing)],
    [
      "cairn_model_calls_today",
      "Calls of the language model since 0:00 UTC, where a quota of the tenant counts them.",
      model.calls,
    ],
    ["cairn_model_tokens_today", "Their tokens, likewise.", model.tokens],
    ["cairn_recalls_today", "Recalls since 0:00 UTC.", recalls.calls],
    ["cairn_degraded_recalls_today", "Those of which an arm failed or was late.", recalls.degraded],
    ["cairn_abstained_recalls_today", "Those that answered that nothing fits.", recalls.abstained],
  ];
  return rows
    .map(
      ([name, help, value]) =>
        `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${Math.max(0, value)}\n`,
    )
    .join("");
};
