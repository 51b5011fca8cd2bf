import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors as joseErrors,
  type JWKSCacheInput,
  type FlattenedJWSInput,
  jwksCache,
  type JWTHeaderParameters,
  type JWTVerifyGetKey,
} from "jose";

/** The provider's keys are unavailable, so the token can be neither accepted nor refused. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** The life of fetched keys, and the least time between two fetches for unknown keys. */
const FRESH_MS = 600_000;
const COOLDOWN_MS = 30_000;
/** The age to which old keys are used while the provider does not answer. */
const USABLE_MS = 3_600_000;
/** The pause after a failed fetch: else each call would wait for another. */
const RETRY_MS = 5_000;
const FETCH_WITHIN_MS = 5_000;

/**
 * The keys that a provider publishes. They are kept for 10 minutes; a token with an unknown key has them fetched again, once
 * in 30 seconds at most. While the provider is down, the last ones are used for an hour.
 */
export function providerKeys(url: URL): JWTVerifyGetKey {
  const cache: JWKSCacheInput = {};
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: FRESH_MS,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: FETCH_WITHIN_MS,
    [jwksCache]: cache,
  });
  let failure: { at: number; cause: unknown } | null = null;
  return async (header, token) => {
    // The clock of the library's own cache.
    const now = Date.now();
    if (failure !== null && Math.abs(now - failure.at) < RETRY_MS)
      return oldKey(cache, { header, token, now, cause: failure.cause });
    try {
      const key = await keys(header, token);
      failure = null;
      return key;
    } catch (error) {
      if (isTokenError(error)) throw error;
      failure = { at: now, cause: error };
      console.error({
        message: "the login provider's keys could not be fetched",
        at: url.origin + url.pathname,
        error: String(error),
      });
      return oldKey(cache, { header, token, now, cause: error });
    }
  };
}

type KeyRequest = { header: JWTHeaderParameters; token: FlattenedJWSInput; now: number; cause: unknown };

async function oldKey({ uat, jwks }: JWKSCacheInput, { header, token, now, cause }: KeyRequest) {
  if (jwks === undefined || uat === undefined || Math.abs(now - uat) >= USABLE_MS)
    throw new KeysUnavailable("no keys", { cause });
  try {
    return await createLocalJWKSet(jwks)(header, token);
  } catch (error) {
    // The key may be a new one.
    throw error instanceof joseErrors.JWKSNoMatchingKey
      ? new KeysUnavailable("no such key", { cause })
      : error;
  }
}

/** Errors of the token, not of the provider. */
const isTokenError = (error: unknown): boolean =>
  error instanceof joseErrors.JWKSNoMatchingKey ||
  error instanceof joseErrors.JWKSMultipleMatchingKeys ||
  error instanceof joseErrors.JOSENotSupported;
