import { z } from "@hono/zod-openapi";
import { timestamp } from "./bounds.ts";

export const Reindex = z
  .object({
    status: z.enum(["none", "running", "done"]),
    versions: z.int().openapi({ description: "Versions of memories read from the record so far." }),
    pending: z.int().openapi({ description: "Documents that wait for a vector of the current model." }),
    vectorize: z.object({ put: z.int(), remove: z.int() }).optional().openapi({
      description: "Vectors that Vectorize, if bound, does not show yet, or still shows.",
    }),
    startedAt: timestamp.optional(),
    finishedAt: timestamp.optional(),
  })
  .openapi("Reindex");
export type Reindex = z.infer<typeof Reindex>;

export const TenantReindex = z
  .object({
    status: z.enum(["none", "running", "done"]),
    owners: z.int().openapi({ description: "Users whose reindex has begun so far." }),
    startedAt: timestamp.optional(),
    finishedAt: timestamp.optional(),
  })
  .openapi("TenantReindex");
export type TenantReindex = z.infer<typeof TenantReindex>;
