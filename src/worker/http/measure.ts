import type { Context } from "hono";
import { SignInStore } from "../../platform/d1/sign-ins.ts";
import type { Part } from "../../platform/metrics/metrics.ts";
import { storageFailureOf } from "../../platform/storage-failure.ts";
import type { TracedCall, Wait } from "../../platform/traces/traces.ts";
import type { RecallMeter } from "../recall-meter.ts";
import { answerOf } from "../rpc/plain.ts";
import type { Services } from "../services.ts";
import { afterAnswer } from "./answer.ts";
import type { AppEnv } from "./context.ts";

/** The ports that ask D1 for a call. The list of revoked tokens is not seen here: an isolate reads it for all calls. */
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
  "revocations",
  "retention",
  "signIns",
] as const;

/** Waits of a call that its trace lists: an import has thousands. */
const LISTED = 100;

type Run = () => Promise<Response | void>;

/** Runs a call, and writes its point and its trace after the answer. Without metrics and traces it only runs it. */
export function measure(c: Context<AppEnv>, run: Run): ReturnType<Run> {
  const { metrics, traces } = c.get("services");
  return metrics === null && traces === null ? run() : measured(c, run);
}

async function measured(c: Context<AppEnv>, run: Run): Promise<void> {
  const services = c.get("services");
  const call = new MeasuredCall();
  const startedAt = services.now();
  c.set("services", measuredServices(services, call));
  await run();
  const ms = call.elapsed();
  const { metrics, traces } = services;
  const outcome = outcomeOf(c);
  if (metrics !== null) {
    const { parts, degraded } = call;
    const name = c.get("route") ?? "none";
    const point = { kind: "call", name, ...outcome, ms, parts, degraded } as const;
    afterAnswer(
      c,
      ownerOf(c).then((owner) => metrics.write({ ...point, owner })),
    );
  }
  if (traces !== null)
    afterAnswer(c, traces.send({ ...headOf(c), ...outcome, startedAt, ms, ...call.traced() }));
}

/** The waits of a call, and what its recall came to. */
class MeasuredCall {
  readonly parts: Record<Part, number> = { object: 0, d1: 0, embedder: 0 };
  degraded = false;
  readonly #started = performance.now();
  readonly #waits: Wait[] = [];
  #unlisted = 0;
  #records: number | null = null;

  elapsed(): number {
    return performance.now() - this.#started;
  }

  waited(wait: Wait): void {
    this.parts[wait.part] += wait.to - wait.from;
    if (this.#waits.length < LISTED) this.#waits.push(wait);
    else this.#unlisted++;
  }

  recalled({ hits, degraded }: Parameters<RecallMeter["count"]>[1]): void {
    this.degraded ||= degraded;
    this.#records = (this.#records ?? 0) + hits;
  }

  traced(): Pick<TracedCall, "waits" | "unlisted" | "records" | "degraded"> {
    // A wait that outlasts the answer would still be added.
    const waits = [...this.#waits];
    return { waits, unlisted: this.#unlisted, records: this.#records, degraded: this.degraded };
  }
}

/** The beginning of a call. A request id that the caller made may be anything, and stays out. */
function headOf(c: Context<AppEnv>): Pick<TracedCall, "method" | "route" | "traceparent" | "requestId"> {
  const requestId = c.get("requestId");
  return {
    method: c.req.method,
    route: c.get("route")?.replace(/^\S+ /, "") ?? null,
    traceparent: c.req.header("traceparent") ?? null,
    requestId: c.req.header("X-Request-Id") === requestId ? null : requestId,
  };
}

/** The code of the envelope; the status of a failure without one. */
function outcomeOf(c: Context<AppEnv>): Pick<TracedCall, "code" | "status"> {
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

/** The services of one call, which note how long it waits for them. */
function measuredServices(services: Services, call: MeasuredCall): Services {
  const { embedder, userMemory, promptCache, promptCacheShards, promptCacheUsage, recallMeter } = services;
  const user = <T extends object>(port: T): T => timedPort(port, { part: "object", of: "user" }, call);
  const registry = <T extends object>(port: T): T =>
    timedPort(port, { part: "object", of: "registry" }, call);
  return {
    ...services,
    ...Object.fromEntries(
      OF_D1.map((name) => [name, timedPort<object>(services[name], { part: "d1", of: name }, call)]),
    ),
    embedder: timedPort(embedder, { part: "embedder", of: embedder.model }, call),
    userMemory: (owner, location) => user(userMemory(owner, location)),
    promptCache: async (key) => registry(await promptCache(key)),
    promptCacheShards: () => promptCacheShards().map(registry),
    promptCacheUsage: async (namespace) => registry(await promptCacheUsage(namespace)),
    recallMeter: {
      count: (now, one) => {
        call.recalled(one);
        recallMeter.count(now, one);
      },
      handOver: (now) => recallMeter.handOver(now),
    },
  };
}

/** The same port; `call` gets the wait for each of its promises, and of a store that it makes. */
function timedPort<T extends object>(
  port: T,
  { part, of }: { part: Part; of: string },
  call: MeasuredCall,
): T {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]): unknown => {
        const from = call.elapsed();
        const answer: unknown = Reflect.apply(method, target, args);
        const settled = (failure: string | null) =>
          call.waited({ part, name: `${of}.${String(name)}`, from, to: call.elapsed(), failure });
        // The answer itself is handed on: one over RPC is more than a promise.
        if (answer instanceof Object && "then" in answer)
          void Promise.resolve(answer).then(
            () => settled(null),
            (error: unknown) => settled(storageFailureOf(error) ?? "_OTHER"),
          );
        return answer instanceof SignInStore ? timedPort(answer, { part, of }, call) : answer;
      };
    },
  });
}
