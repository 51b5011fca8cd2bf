import { createApp, services } from "./app.ts";
import { pruneAccess } from "./audit/prune.ts";
import { type Bindings, type Ports, portsOf } from "../platform/bindings.ts";
import type { BoundCall } from "./http/context.ts";
import { answerBy } from "./rpc/answer.ts";
import { wakeErasures } from "./use-cases/erase.ts";
import { wakeWebhook } from "./use-cases/webhook.ts";
import { recount } from "./use-cases/statistics.ts";
import { resumeRestores } from "./use-cases/restore.ts";
import { tellRetention, upkeep } from "./use-cases/upkeep.ts";

/** The Worker: HTTP, calls over service bindings, and the cron. Tests put doubles into `makePorts`. `sharesOrigin`: it is to be mounted. */
export function createWorker(
  makePorts: (env: Bindings) => Ports = portsOf,
  { sharesOrigin = false }: { sharesOrigin?: boolean } = {},
) {
  const bounds = new WeakMap<Request, BoundCall>();
  const app = createApp(makePorts, { sharesOrigin, boundOf: (request) => bounds.get(request) });
  return {
    fetch: app.fetch,
    /** The entrypoint `Memory`. */
    answer: answerBy(app, bounds),
    scheduled: async (_event: ScheduledController, env: Bindings): Promise<void> => {
      const all = services(env, makePorts(env));
      // Changes nothing in databases other than those that the data were stored in.
      const changed = await all.deployment.problem();
      if (changed !== null) {
        console.error({
          message: "this deployment is not the one that its data were stored with",
          error: changed,
        });
        return;
      }
      // A failure of one does not stop the others.
      const done = await Promise.allSettled([
        upkeep(all),
        tellRetention(all),
        resumeRestores(all),
        pruneAccess(all),
        wakeErasures(all),
        wakeWebhook(all),
        recount(all),
      ]);
      for (const one of done) if (one.status === "rejected") throw one.reason;
    },
  };
}
