import { z } from "@hono/zod-openapi";
import { timestamp } from "./bounds.ts";
import { integer, shape } from "./described.ts";

export const Reindex = shape("Reindex", {
  status: z.enum(["none", "running", "done"]),
  versions: integer("Versions of memories read from the record so far."),
  pending: integer("Documents that wait for a vector of the current model."),
  vectorize: z.object({ put: z.int(), remove: z.int() }).optional().openapi({
    description: "Vectors that Vectorize, if bound, does not show yet, or still shows.",
  }),
  startedAt: timestamp.optional(),
  finishedAt: timestamp.optional(),
});
export type Reindex = z.infer<typeof Reindex>;

export const TenantReindex = shape("TenantReindex", {
  status: z.enum(["none", "running", "done"]),
  owners: integer("Users whose reindex has begun so far."),
  startedAt: timestamp.optional(),
  finishedAt: timestamp.optional(),
});
export type TenantReindex = z.infer<typeof TenantReindex>;
