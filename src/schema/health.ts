import { z } from "@hono/zod-openapi";

export const Health = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    embedder: z.object({ model: z.string().openapi({ example: "static-en-256" }), dimensions: z.int() }),
    vectorIndex: z
      .enum(["object"])
      .openapi({ description: "`object`: every vector is searched exactly, in the user's own object." }),
    problems: z.array(z.string()).optional(),
  })
  .openapi("Health");
