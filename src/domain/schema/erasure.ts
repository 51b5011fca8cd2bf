import { z } from "@hono/zod-openapi";
import { text, timestamp } from "./bounds.ts";
import { integer, shape, string, strictShape } from "./described.ts";
import { limits } from "../limits.ts";
import { name } from "./memory-fields.ts";

/** The erased user, thread or scope. `scopeHash` is base64url of the first 16 bytes of SHA-256 of `cairn:scope:<scope>`. */
const target = z.object({
  what: z.enum(["user", "thread", "scope"]),
  threadId: z.string().optional(),
  scopeHash: z.string().optional(),
});

export const erasureStore = z.enum(["object", "memories", "threads", "users", "signIns", "vectors"]).openapi({
  description:
    "`object`: the user's Durable Object. `memories`, `threads`, `users`, `signIns`: tables of D1. `vectors`: Vectorize, if the deployment has it.",
});
export type ErasureStore = z.infer<typeof erasureStore>;

const counts = z
  .record(z.string(), z.int())
  .openapi({ description: "Number of rows by type.", example: { messages: 40 } });

export const ErasureStep = shape("ErasureStep", {
  store: erasureStore,
  state: z.enum(["open", "done"]).openapi({ description: "`done`: read back and found empty." }),
  erased: counts,
  kept: counts.optional().openapi({
    description: "Messages of the thread that stay: in its forks, and in the thread it was forked from.",
  }),
  attempts: integer("Number of failures since the last progress."),
  lastError: z.string().optional(),
});
export type ErasureStep = z.infer<typeof ErasureStep>;

export const Erasure = shape("Erasure", {
  id: string("`<userHash>.<uuid v7>`; also the `jti` of the receipt."),
  status: z.enum(["running", "done"]),
  of: target,
  requestedAt: timestamp,
  finishedAt: timestamp.optional(),
  steps: z.array(ErasureStep),
  receipt: string(
    "A compact JWS (EdDSA), once the erasure is done. The keys of /.well-known/jwks.json verify it.",
  ).optional(),
});
export type Erasure = z.infer<typeof Erasure>;

export const EraseBody = strictShape("Erase", {
  threadId: text(limits.name).optional(),
  scope: name.optional(),
})
  .refine(({ threadId, scope }) => (threadId === undefined) !== (scope === undefined), {
    path: ["threadId"],
    error: "must be set, or `scope`, not both. DELETE /v1/users/{user} erases everything",
  })
  .openapi({ example: { scope: "project-foo" } });

export const erasurePath = z.object({
  id: z.string(),
});

export const JsonWebKeys = shape("JsonWebKeys", {
  keys: z.array(
    z.object({
      kty: z.string(),
      crv: z.string(),
      x: z.string(),
      kid: z.string(),
      alg: z.string(),
      use: z.string(),
    }),
  ),
});
export type PublicKey = z.infer<typeof JsonWebKeys>["keys"][number];
