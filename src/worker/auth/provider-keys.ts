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

/** The provider's keys could not be had: nothing is known of the token. */
export class NoKeys extends Error {
  override readonly name = "NoKeys";
}

/** In milliseconds. How long fetched keys are kept without asking, and after a fetch none is made for an unknown key. */
const FRESH_MS = 600_000;
const COOLDOWN_MS = 30_000;
/** How long they still count while the provider does not answer: a key that it took back counts as long at most. */
const USABLE_MS = 3_600_000;
/** How long after a fetch that failed none is made: each call would wait for it. */
const RETRY_MS = 5_000;
const FETCH_WITHIN_MS = 5_000;

/**
 * The keys that a provider publishes, kept for 10 minutes; a token whose key is not among them has them fetched anew, once
 * in 30 seconds at most. While the provider is down, those that it published last count for an hour after they were fetched.
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
      return formerKey(cache, { header, token, now, cause: failure.cause });
    try {
      const key = await keys(header, token);
      failure = null;
      return key;
    } catch (error) {
      if (isOfToken(error)) throw error;
      failure = { at: now, cause: error };
      console.error({ message: "the login provider's keys could not be fetched", error: String(error) });
      return formerKey(cache, { header, token, now, cause: error });
    }
  };
}

type Wanted = { header: JWTHeaderParameters; token: FlattenedJWSInput; now: number; cause: unknown };

async function formerKey({ uat, jwks }: JWKSCacheInput, { header, token, now, cause }: Wanted) {
  if (jwks === undefined || uat === undefined || Math.abs(now - uat) >= USABLE_MS)
    throw new NoKeys("no keys", { cause });
  try {
    return await createLocalJWKSet(jwks)(header, token);
  } catch (error) {
    // It may be a new one.
    throw error instanceof joseErrors.JWKSNoMatchingKey ? new NoKeys("no such key", { cause }) : error;
  }
}

/** What is wrong with the token is told from what is wrong with the provider. */
const isOfToken = (error: unknown): boolean =>
  error instanceof joseErrors.JWKSNoMatchingKey ||
  error instanceof joseErrors.JWKSMultipleMatchingKeys ||
  error instanceof joseErrors.JOSENotSupported;
