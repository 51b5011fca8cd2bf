import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { fail, type Failure, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { RevocationsList } from "../../domain/schema/revocation.ts";
import type { Services } from "../services.ts";
import { CLOCK_SKEW_S } from "./claims.ts";

type Needs = Pick<Services, "revocations" | "revoked" | "now">;
/** Its name in cursors. */
const LIST = "revocations";
type RevokedToken = RevocationsList["items"][number];

/** A page of the revoked tokens, by their ids, and the time before which every token is refused. */
export async function listRevocations(
  { revocations, now }: Needs,
  { limit = 100, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): Promise<Result<RevocationsList>> {
  const after = decodeCursor(LIST, cursor, ["string"]);
  if (!after.ok) return after;
  const page = { ...(after.value && { after: after.value[0] }), limit: limit + 1 };
  const read = await d1Result(() =>
    Promise.all([
      revocations.list({ ...page, time: now() - CLOCK_SKEW_S * 1000 }),
      revocations.minIssuedAt(),
    ]),
  );
  if (!read.ok) return read;
  const [rows, minIssuedAt] = read.value;
  return ok({
    ...(minIssuedAt !== null && { minIssuedAt }),
    ...pageOf(rows, limit, { list: LIST, show: (row) => row, keyOf: ({ tokenId }) => [tokenId] }),
  });
}

/** Revokes a token. Other isolates refuse it within 30 seconds, or 5 minutes while D1 is down. */
export async function revokeToken(
  { revocations, revoked, now }: Needs,
  tokenId: string,
  tokenExpiresAt?: number,
): Promise<Result<RevokedToken>> {
  const revokedAt = now();
  const expiresAt = tokenExpiresAt ?? revokedAt + limits.ttlMs;
  if (expiresAt <= revokedAt)
    return wrongTime("body.expiresAt", "is in the past, so nothing would be revoked");
  const token = { tokenId, expiresAt, revokedAt };
  const done = await d1Result(() => revocations.revoke(token));
  revoked.invalidate();
  if (!done.ok) return done;
  return done.value === null ? FULL : ok({ ...token, expiresAt: done.value });
}

/** Not one to delete: the end of a revocation lets its token in again. */
const FULL = fail("limit_reached", {
  message: `${limits.revokedTokens.toLocaleString("en-US")} tokens are revoked one by one. Refuse all tokens that were issued before a time instead: PUT /v1/revocations/min-issued-at.`,
});

/** In 2001. A time in seconds, as in a token's own claims, is less. */
const FIRST_TOKEN_MS = 1e12;

const wrongTime = (path: string, message: string): Failure =>
  fail("invalid_request", {
    details: [{ path, message: `${message} (it is in milliseconds since the epoch, not in seconds)` }],
  });

/** Ends the revocation of one token. */
export async function restoreToken({ revocations, revoked }: Needs, tokenId: string): Promise<Result<void>> {
  const done = await d1Result(() => revocations.restore(tokenId));
  revoked.invalidate();
  return done;
}

/** Refuses all tokens that were issued before this time; null ends that. A time in the future would lock out its caller too. */
export async function setMinIssuedAt(
  { revocations, revoked, now }: Needs,
  time: number | null,
): Promise<Result<void>> {
  if (time !== null && time > now())
    return wrongTime("body.minIssuedAt", "is in the future: no token issued now would pass");
  if (time !== null && time < FIRST_TOKEN_MS)
    return wrongTime("body.minIssuedAt", "is before the first token");
  const done = await d1Result(() => revocations.setMinIssuedAt(time));
  revoked.invalidate();
  return done;
}
