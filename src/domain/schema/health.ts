import { z } from "@hono/zod-openapi";

export const Health = z
  .object({
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
  })
  .openapi("Health");
export type Health = z.infer<typeof Health>;
