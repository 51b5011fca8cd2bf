import { createRoute } from "@hono/zod-openapi";
import { isSecret } from "../auth/signing-keys.ts";
import { json } from "../http/describe.ts";
import { newRouter } from "../http/router.ts";
import { noQuery } from "../schema/bounds.ts";
import { Health } from "../schema/health.ts";

const getHealth = createRoute({
  method: "get",
  path: "/health",
  summary: "What is live here, and what is missing",
  tags: ["service"],
  request: { query: noQuery },
  responses: {
    200: json(
      Health,
      "All that a call needs is there; `degraded` if the embedder, the large vector index or a setting is not right.",
    ),
    503: json(Health, "Something is missing; `problems` says what."),
  },
});

export const health = newRouter().openapi(getHealth, async (c) => {
  const { secret, settingProblems, records, deployment, embedder, vectors, recall, now } = c.get("services");
  const problems: string[] = [];
  if (!isSecret(secret)) problems.push("CAIRN_SECRET is not set, or shorter than 32 bytes");
  await records.check().catch((error: unknown) => {
    console.error({ message: "D1 is not usable", error: String(error) });
    problems.push("D1 does not answer, or its migrations are not applied");
  });
  // That D1 does not answer is said by then.
  const changed = await deployment.recentProblem(now()).catch(() => null);
  if (changed !== null) problems.push(changed);
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
