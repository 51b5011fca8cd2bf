import { APPLY_MIGRATIONS } from "../../domain/errors.ts";
import { json, route } from "../http/describe.ts";
import { nobody } from "../http/owner.ts";
import { limitAddress } from "../http/rates.ts";
import { newRouter } from "../http/router.ts";
import type { Services } from "../services.ts";
import { Health, type HEALTH_PARTS } from "../../domain/schema/health.ts";
import { DeadlineExceeded, withDeadline } from "../../platform/deadline.ts";
import type { Embedder } from "../../platform/embeddings/embedder.ts";
import { isFreeAllocationUsedUp } from "../../platform/free-allocation.ts";
import { storageFailureOf } from "../../platform/storage-failure.ts";
import { isSecret } from "../../domain/token.ts";

const getHealth = route("get", "/health", {
  operationId: "getHealth",
  summary: "Get the state of the deployment",
  scope: "open",
  owner: nobody,
  // Each answer reads D1.
  middleware: limitAddress,
  responses: {
    200: json(
      Health,
      "Ready for calls; `degraded` if the embedder, the large vector index or a setting has a problem.",
    ),
    503: json(Health, "Not ready; `problems` says why."),
  },
});

/** The life of an answer: anybody may ask, and each answer reads every database. */
export const RECENT_MS = 5_000;
/** The life of a probe of the embedder, which may cost a call of a model. */
export const PROBED_MS = 60_000;
const PROBE_MS = 5_000;

export const health = newRouter("service").openapi(getHealth, async (c) => {
  const services = c.get("services");
  const answer = await services.health.get(services.now(), () => healthOf(services));
  return answer.status === "unavailable" ? c.json(answer, 503) : c.json(answer, 200);
});

/** A problem of a part. `since`: if more than this isolate knows it. */
type Problem = { part: (typeof HEALTH_PARTS)[number]; problem: string; since?: number };

async function healthOf(services: Services): Promise<Health> {
  const { embedder, languageModel, vectors, failingSince, now } = services;
  const problems = await problemsOfCalls(services);
  const degradations = await degradationsOf(services);
  const all = [...problems, ...degradations];
  for (const part of failingSince.keys())
    if (!all.some((one) => one.part === part)) failingSince.delete(part);
  for (const { part, since } of all) failingSince.set(part, since ?? failingSince.get(part) ?? now());
  return {
    status: problems.length > 0 ? "unavailable" : all.length > 0 ? "degraded" : "ok",
    embedder: { model: embedder.model, dimensions: embedder.dimensions },
    languageModel: languageModel === null ? null : languageModel.name,
    vectorIndex: vectors === null ? ("object" as const) : ("vectorize" as const),
    ...(all.length > 0 && {
      problems: all.map(({ problem }) => problem),
      failing: Array.from(failingSince, ([part, since]) => ({ part, since })),
    }),
  };
}

/** Problems that fail calls. */
async function problemsOfCalls({ secret, records, revocations, deployment }: Services): Promise<Problem[]> {
  const problems: Problem[] = [];
  if (!isSecret(secret))
    problems.push({ part: "settings", problem: "CAIRN_SECRET is not set, or shorter than 32 bytes" });
  // Reads several tables: a later migration may be missing.
  const reads = await Promise.allSettled([records.check(), revocations.minIssuedAt(), deployment.problem()]);
  const failed = reads.flatMap((one): unknown[] => (one.status === "rejected" ? [one.reason] : []));
  if (failed.length > 0) {
    console.error({ message: "D1 is not usable", error: failed.map(String).join("; ") });
    const codes = failed.map(storageFailureOf);
    const problem = codes.includes("migrations_not_applied")
      ? `the migrations of D1 are not applied: ${APPLY_MIGRATIONS}`
      : codes.includes("daily_limit")
        ? "D1's rows of the day are used up (free plan), until 0:00 UTC"
        : "D1 does not answer";
    problems.push({ part: "database", problem });
  }
  const [, , changed] = reads;
  if (changed.status === "fulfilled" && changed.value !== null)
    problems.push({ part: "database", problem: changed.value });
  return problems;
}

/** Storing and searching by words go on without these. */
async function degradationsOf(services: Services): Promise<Problem[]> {
  const { embedder, vectors, webhook, webhookBreaker, now } = services;
  const probed = () => services.embedderProblem.get(now(), () => probe(services.remoteEmbedder));
  const of = (part: Problem["part"], ...found: readonly (string | null | undefined)[]): Problem[] =>
    found.flatMap((problem) => (problem == null ? [] : [{ part, problem }]));
  const index = embedder.problem === undefined ? await vectors?.check(embedder.dimensions) : undefined;
  // While D1 is away, that is the problem.
  const broken = webhook === null ? null : await webhookBreaker.broken(now()).catch(() => null);
  return [
    ...of("settings", ...services.settingProblems),
    ...of("embedder", embedder.problem ?? (await probed())),
    ...of("vectorIndex", index),
    ...of("recall", ...services.recall.problems),
    ...of("languageModel", services.languageModel?.problem),
    ...(broken === null
      ? []
      : [{ part: "webhook" as const, problem: problemOfWebhook(broken.paused), since: broken.since }]),
  ];
}

const problemOfWebhook = (paused: boolean): string =>
  paused
    ? "the webhook's receiver failed for seven days, and nothing is sent: POST /v1/webhook/resume once it answers"
    : "the webhook's receiver fails: one message an hour tries it again";

/** Null if the embedder embeds a word. */
async function probe(embedder: Embedder | null): Promise<string | null> {
  if (embedder === null) return null;
  try {
    await withDeadline(embedder.embed(["health"]), PROBE_MS);
    return null;
  } catch (error) {
    console.error({ message: "the embedder failed", error: String(error) });
    return `the embedder ${embedder.model} does not embed: ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return `no answer within ${PROBE_MS / 1000} seconds`;
  if (isFreeAllocationUsedUp(error)) return "the neurons of the day are used up (free plan), until 0:00 UTC";
  return REASONS[/\b[35]\d{3}(?=:)/.exec(String(error))?.[0] ?? ""] ?? "see the log";
}

/** By the codes of Workers AI. */
const REASONS: Record<string, string> = {
  5007: "there is no such model",
  5028: "the model is retired: name another one",
  5035: "the model is for the Workers Paid plan only",
};
