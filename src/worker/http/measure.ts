import type { Context } from "hono";
import type { MetricPoint, Metrics, Part } from "../../platform/metrics/metrics.ts";
import { answerOf } from "../rpc/plain.ts";
import type { Services } from "../services.ts";
import { afterAnswer } from "./after-answer.ts";
import type { AppEnv } from "./context.ts";

/** The ports that ask D1 for a call. The list of revoked tokens is not among them: an isolate reads it for all calls. */
const OF_D1 = [
  "records",
  "catalogue",
  "users",
  "jobs",
  "tenantProfiles",
  "predicates",
  "extraction",
  "auditLog",
  "erasures",
  "tenantModelUsage",
  "webhookBreaker",
] as const;

type Run = () => Promise<Response | void>;

/** Runs a call, and writes its point after the answer. Without metrics it only runs it. */
export function measure(c: Context<AppEnv>, run: Run): ReturnType<Run> {
  const { metrics } = c.get("services");
  return metrics === null ? run() : measured(c, run, metrics);
}

async function measured(c: Context<AppEnv>, run: Run, metrics: Metrics): Promise<void> {
  const services = c.get("services");
  const call: Measured = { parts: { object: 0, d1: 0, embedder: 0 }, degraded: false };
  c.set("services", measuredServices(services, call));
  const started = performance.now();
  await run();
  const point = {
    kind: "call",
    name: c.get("route") ?? "none",
    ...outcomeOf(c),
    ms: performance.now() - started,
    ...call,
  } as const;
  afterAnswer(
    c,
    ownerOf(c).then((owner) => metrics.write({ ...point, owner })),
  );
}

type Measured = { parts: Record<Part, number>; degraded: boolean } & Pick<MetricPoint, "degraded">;

/** The code of the envelope; the status of a failure without one. */
function outcomeOf(c: Context<AppEnv>): Pick<MetricPoint, "code" | "status"> {
  const { status } = answerOf(c.res);
  return { code: c.get("failure") ?? (status < 400 ? "ok" : String(status)), status };
}

const ownerOf = async (c: Context<AppEnv>): Promise<string | null> => {
  try {
    return (await c.get("ownerHash")?.()) ?? null;
  } catch {
    return null;
  }
};

/** The services of one call, which add up how long it waits for them. */
function measuredServices(services: Services, call: Measured): Services {
  const { embedder, userMemory, promptCache, promptCacheShards, promptCacheUsage, recallMeter } = services;
  const timed = <T extends object>(port: T, part: Part): T =>
    timedPort(port, (ms) => (call.parts[part] += ms));
  return {
    ...services,
    ...Object.fromEntries(OF_D1.map((name) => [name, timed<object>(services[name], "d1")])),
    embedder: timed(embedder, "embedder"),
    userMemory: (owner, location) => timed(userMemory(owner, location), "object"),
    promptCache: async (key) => timed(await promptCache(key), "object"),
    promptCacheShards: () => promptCacheShards().map((shard) => timed(shard, "object")),
    promptCacheUsage: async (namespace) => timed(await promptCacheUsage(namespace), "object"),
    recallMeter: {
      count: (now, one) => {
        call.degraded ||= one.degraded;
        recallMeter.count(now, one);
      },
      handOver: (now) => recallMeter.handOver(now),
    },
  };
}

/** The same port; `took` gets the time until each of its promises settles. */
function timedPort<T extends object>(port: T, took: (ms: number) => void): T {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: unknown[]): unknown => {
        const started = performance.now();
        const answer: unknown = Reflect.apply(method, target, given);
        const settled = () => took(performance.now() - started);
        // The answer itself is handed on: one over RPC is more than a promise.
        if (answer instanceof Object && "then" in answer) void Promise.resolve(answer).then(settled, settled);
        return answer;
      };
    },
  });
}
