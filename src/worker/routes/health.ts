import { APPLY_MIGRATIONS } from "../../domain/errors.ts";
import { json, route } from "../http/describe.ts";
import { nobody } from "../http/owner.ts";
import { limitAddress } from "../http/rates.ts";
import { newRouter } from "../http/router.ts";
import type { Services } from "../services.ts";
import { Health } from "../../domain/schema/health.ts";
import { isUnmigrated } from "../../platform/storage-failure.ts";
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

export const health = newRouter("service").openapi(getHealth, async (c) => {
  const services = c.get("services");
  const answer = await services.health.get(services.now(), () => healthOf(services));
  return answer.status === "unavailable" ? c.json(answer, 503) : c.json(answer, 200);
});

async function healthOf({
  secret,
  settingProblems,
  records,
  revocations,
  deployment,
  embedder,
  languageModel,
  vectors,
  recall,
}: Services): Promise<Health> {
  const problems: string[] = [];
  if (!isSecret(secret)) problems.push("CAIRN_SECRET is not set, or shorter than 32 bytes");
  // Reads several tables: a later migration may be missing.
  const asked = await Promise.allSettled([records.check(), revocations.minIssuedAt(), deployment.problem()]);
  const failed = asked.flatMap((one): unknown[] => (one.status === "rejected" ? [one.reason] : []));
  if (failed.length > 0) {
    console.error({ message: "D1 is not usable", error: failed.map(String).join("; ") });
    problems.push(
      failed.some(isUnmigrated)
        ? `the migrations of D1 are not applied: ${APPLY_MIGRATIONS}`
        : "D1 does not answer",
    );
  }
  const [, , changed] = asked;
  if (changed.status === "fulfilled" && changed.value !== null) problems.push(changed.value);
  // Storing and searching by words go on without the embedder or the large index.
  const degradations = [
    ...settingProblems,
    embedder.problem ?? null,
    embedder.problem === undefined ? ((await vectors?.check(embedder.dimensions)) ?? null) : null,
    ...recall.problems,
    languageModel?.problem ?? null,
  ].filter((one) => one !== null);
  const live = {
    embedder: { model: embedder.model, dimensions: embedder.dimensions },
    languageModel: languageModel === null ? null : languageModel.name,
    vectorIndex: vectors === null ? ("object" as const) : ("vectorize" as const),
  };
  if (problems.length > 0)
    return { status: "unavailable", ...live, problems: [...problems, ...degradations] };
  return degradations.length === 0
    ? { status: "ok", ...live }
    : { status: "degraded", ...live, problems: degradations };
}
