import { createRoute } from "@hono/zod-openapi";
import { isSecret } from "../auth/token.ts";
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
    200: json(Health, "Everything that a call needs is there."),
    503: json(Health, "Something is missing; `problems` says what."),
  },
});

export const health = newRouter().openapi(getHealth, async (c) => {
  const { secret, records, embedder, vectors } = c.get("services");
  const problems: string[] = [];
  if (!isSecret(secret)) problems.push("CAIRN_SECRET is not set, or shorter than 32 bytes");
  await records.check().catch((error: unknown) => {
    console.error({ message: "D1 is not usable", error: String(error) });
    problems.push("D1 does not answer, or its migrations are not applied");
  });
  const wrongIndex = await vectors?.check(embedder.dimensions);
  if (wrongIndex) problems.push(wrongIndex);
  const live = {
    embedder: { model: embedder.model, dimensions: embedder.dimensions },
    vectorIndex: vectors === null ? ("object" as const) : ("vectorize" as const),
  };
  return problems.length === 0
    ? c.json({ status: "ok" as const, ...live }, 200)
    : c.json({ status: "unavailable" as const, ...live, problems }, 503);
});
