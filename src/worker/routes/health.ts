import { createRoute } from "@hono/zod-openapi";
import { APPLY_MIGRATIONS } from "../../domain/errors.ts";
import { failures, json } from "../http/describe.ts";
import { publicRoute } from "../http/scope.ts";
import { newRouter } from "../http/router.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import { Health } from "../../domain/schema/health.ts";
import { isUnmigrated } from "../../platform/storage-failure.ts";
import { isSecret } from "../../domain/token.ts";

const getHealth = createRoute({
  method: "get",
  path: "/health",
  operationId: "getHealth",
  summary: "What is live here, and what is missing",
  tags: ["service"],
  ...publicRoute,
  request: { query: noQuery },
  responses: {
    200: json(
      Health,
      "All that a call needs is there; `degraded` if the embedder, the large vector index or a setting is not right.",
    ),
    503: json(Health, "Something is missing; `problems` says what."),
    ...failures,
  },
});

export const health = newRouter().openapi(getHealth, async (c) => {
  const { secret, settingProblems, records, revocations, deployment, embedder, vectors, recall, now } =
    c.get("services");
  const problems: string[] = [];
  if (!isSecret(secret)) problems.push("CAIRN_SECRET is not set, or shorter than 32 bytes");
  // Tables of early and of late migrations: some may be applied, and others not.
  const asked = await Promise.allSettled([
    records.check(),
    revocations.minIssuedAt(),
    deployment.recentProblem(now()),
  ]);
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
  // Words are searched and everything is stored while nothing can be embedded, or the large index does not answer.
  const lacks = [
    ...settingProblems,
    embedder.problem ?? null,
    embedder.problem === undefined ? ((await vectors?.check(embedder.dimensions)) ?? null) : null,
    ...recall.problems,
  ].filter((one) => one !== null);
  const live = {
    embedder: { model: embedder.model, dimensions: embedder.dimensions },
    vectorIndex: vectors === null ? ("object" as const) : ("vectorize" as const),
  };
  if (problems.length > 0)
    return c.json({ status: "unavailable" as const, ...live, problems: [...problems, ...lacks] }, 503);
  return lacks.length === 0
    ? c.json({ status: "ok" as const, ...live }, 200)
    : c.json({ status: "degraded" as const, ...live, problems: lacks }, 200);
});
