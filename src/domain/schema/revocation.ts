import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { cursor, pageLimit, text, timestamp } from "./bounds.ts";
import { shape, strictShape } from "./described.ts";

const tokenId = text(limits.tokenId).openapi({
  description: "The token's `jti`.",
  example: "5f0c8f0e-8f5f-4f6f-9b0a-2f1f6f1f3c11",
});

export const revokedTokenPath = z.object({ tokenId });

export const RevokeTokenBody = strictShape("RevokeTokenBody", {
  expiresAt: timestamp.min(0).optional().openapi({
    description:
      "End of the revocation: the token's own expiry (`exp`, in milliseconds) or later; 10 years from now unless set.",
  }),
});

export const RevokedToken = z
  .object({ tokenId, expiresAt: timestamp, revokedAt: timestamp })
  .openapi("RevokedToken");

export const MinIssuedAtBody = strictShape("MinIssuedAtBody", {
  // Required: an empty PUT must not refuse all tokens.
  minIssuedAt: timestamp.min(0).openapi({
    description: "Tokens issued (`iat`) before this time are refused. The time is not in the future.",
  }),
});

export const MinIssuedAt = z.object({ minIssuedAt: timestamp }).openapi("MinIssuedAt");

export const ListRevocationsQuery = z.strictObject({ limit: pageLimit(100), cursor });

export const RevocationsList = shape("Revocations", {
  minIssuedAt: timestamp.optional(),
  items: z.array(RevokedToken),
  cursor: z.string().optional(),
});
export type RevocationsList = z.infer<typeof RevocationsList>;
