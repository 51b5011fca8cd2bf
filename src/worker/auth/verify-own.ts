import { decodeProtectedHeader, errors as joseErrors, jwtVerify } from "jose";
import { fail, type Failure, type Result } from "../../domain/errors.ts";
import { CLOCK_SKEW_S, readClaims, type Verified, wrongClaim } from "./claims.ts";
import { ALGORITHM, isSecret, keyId } from "../../domain/token.ts";

/** The tenant's secrets: the one that signs, then the previous one, whose tokens still pass. */
export type SigningKeys = readonly string[];

/** Keeps the secrets that are long enough. */
export const signingKeysOf = (current: string | undefined, previous: string | undefined): SigningKeys =>
  isSecret(current) ? [current, ...(isSecret(previous) ? [previous] : [])] : [];

/**
 * Verifies one of the tenant's own tokens at `now` (milliseconds): signature (HS256 only), times and claims. WebCrypto
 * compares signatures in constant time.
 */
export async function verifyOwn(token: string, keys: SigningKeys, now: number): Promise<Result<Verified>> {
  for (const key of await candidates(token, keys)) {
    const verdict = await verifyWith(token, key, now);
    if (verdict !== "another key") return verdict;
  }
  return fail("invalid_token");
}

/** The key that the token's `kid` names, or all. */
async function candidates(token: string, keys: SigningKeys): Promise<SigningKeys> {
  if (keys.length < 2) return keys;
  const kid = kidOf(token);
  for (const key of keys) if ((await keyId(key)) === kid) return [key];
  return keys;
}

function kidOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

async function verifyWith(
  token: string,
  key: string,
  now: number,
): Promise<Result<Verified> | "another key"> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(key), {
      algorithms: [ALGORITHM],
      currentDate: new Date(now),
      clockTolerance: CLOCK_SKEW_S,
      requiredClaims: ["sub", "exp", "scope"],
    });
    return readClaims(payload, now);
  } catch (error) {
    return error instanceof joseErrors.JWSSignatureVerificationFailed ? "another key" : failureOfToken(error);
  }
}

/** The failure for an error of jose, which checks the claims only when the signature is valid. */
export function failureOfToken(error: unknown): Failure {
  if (error instanceof joseErrors.JWTExpired) return fail("token_expired");
  if (!(error instanceof joseErrors.JWTClaimValidationFailed)) return fail("invalid_token");
  const { claim, reason } = error;
  if (reason !== "check_failed") return wrongClaim(claim, REASONS[reason] ?? "is wrong");
  return claim === "nbf"
    ? fail("token_not_yet_valid")
    : wrongClaim(claim, "is not the one of this deployment");
}

const REASONS: Record<string, string> = { missing: "is missing", invalid: "has a wrong type" };
