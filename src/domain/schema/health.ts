import { z } from "@hono/zod-openapi";
import { timestamp } from "./bounds.ts";
import { shape } from "./described.ts";

export const HEALTH_PARTS = [
  "settings",
  "database",
  "embedder",
  "vectorIndex",
  "recall",
  "languageModel",
  "webhook",
] as const;

export const Health = shape("Health", {
  status: z.enum(["ok", "degraded", "unavailable"]),
  embedder: z.object({ model: z.string().openapi({ example: "static2-en-256" }), dimensions: z.int() }),
  vectorIndex: z.enum(["object", "vectorize"]).openapi({
    description:
      "`object`: exact search over all vectors in the user's own object. `vectorize`: vectors are also in " +
      "Cloudflare Vectorize.",
  }),
  languageModel: z
    .string()
    .nullable()
    .openapi({ description: "The model that extracts memories from conversations; null: none is set." }),
  problems: z.array(z.string()).optional(),
  failing: z
    .array(
      z.object({
        part: z.enum(HEALTH_PARTS),
        since: timestamp.describe(
          "When it was first seen to fail: by this isolate of the Worker, except for the webhook.",
        ),
      }),
    )
    .optional()
    .openapi({ description: "The parts that `problems` are about." }),
});
export type Health = z.infer<typeof Health>;
