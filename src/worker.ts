import { createApp, services } from "./app.ts";
import { type Bindings, type Ports, portsOf } from "./bindings.ts";
import { upkeep } from "./memory/upkeep.ts";

/** The Worker: HTTP, and the cron. `makePorts` is for the tests, which put doubles in the place of what can fail. */
export function createWorker(makePorts: (env: Bindings) => Ports = portsOf) {
  const app = createApp(makePorts);
  return {
    fetch: app.fetch,
    scheduled: (_event: ScheduledController, env: Bindings) => upkeep(services(env, makePorts(env))),
  };
}
