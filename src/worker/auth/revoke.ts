import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { answered } from "../../platform/d1/answered.ts";
import { fail, type Failure, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { RevocationsList } from "../../domain/schema/revocation.ts";
import type { Services } from "../services.ts";
import { CLOCK_SKEW_S } from "./claims.ts";

type Needs = Pick<Services, "revocations" | "revoked" | "now">;
type RevokedToken = RevocationsList["items"][number];

/** A page of the revoked tokens, by their ids, and the time before which none may have been issued. */
export async function listRevocations(
  { revocations, now }: Needs,
  { limit = 100, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): Promise<Result<RevocationsList>> {
  const key = cursor === undefined ? undefined : decodeCursor(cursor, ["string"]);
  if (key === null) return invalidCursor;
  const read = await answered(() =>
    Promise.all([
      revocations.list({
        ...(key && { after: key[0] }),
        limit: limit + 1,
        time: now() - CLOCK_SKEW_S * 1000,
      }),
      revocations.minIssuedAt(),
    ]),
  );
  if (!read.ok) return read;
  const [rows, minIssuedAt] = read.value;
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return ok({
    ...(minIssuedAt !== null && { minIssuedAt }),
    items,
    ...(rows.length > limit && last !== undefined && { cursor: encodeCursor([last.tokenId]) }),
  });
}

/** Refuses this token from now on: here at once, in other isolates within 30 seconds. May be repeated. */
export async function revokeToken(
  { revocations, revoked, now }: Needs,
  tokenId: string,
  expiresAt = now() + limits.ttlMs,
): Promise<Result<RevokedToken>> {
  if (expiresAt <= now())
    return refusedTime("body.expiresAt", "is over already, so nothing would be revoked");
  const token = { tokenId, expiresAt, revokedAt: now() };
  const done = await answered(() => revocations.revoke(token));
  revoked.forget();
  if (!done.ok) return done;
  return done.value === null ? fail("too_many_revoked_tokens") : ok({ ...token, expiresAt: done.value });
}

/** 2001: who gives seconds, as a token's own claims are, gives less. */
const FIRST_TOKEN = 1e12;

const refusedTime = (path: string, message: string): Failure =>
  fail("invalid_request", {
    details: [{ path, message: `${message} (it is in milliseconds since the epoch, not in seconds)` }],
  });

/** Takes back the revocation of one token. */
export async function restoreToken({ revocations, revoked }: Needs, tokenId: string): Promise<Result<void>> {
  const done = await answered(() => revocations.restore(tokenId));
  revoked.forget();
  return done;
}

/**
 * Refuses all tokens that were issued before this time; null takes that back. A time in the future would lock out whoever
 * could take it back, and is refused.
 */
export async function setMinIssuedAt(
  { revocations, revoked, now }: Needs,
  time: number | null,
): Promise<Result<void>> {
  if (time !== null && time > now())
    return refusedTime("body.minIssuedAt", "is in the future: no token that is issued now would pass");
  if (time !== null && time < FIRST_TOKEN)
    return refusedTime("body.minIssuedAt", "is before there was any token");
  const done = await answered(() => revocations.setMinIssuedAt(time));
  revoked.forget();
  return done;
}
