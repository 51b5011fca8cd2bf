import {
  decodeJwt,
  errors as joseErrors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { fail, type Result } from "../../domain/errors.ts";
import { CLOCK_SKEW_S, timed, type Verified } from "./claims.ts";
import type { LoginSettings } from "./login-settings.ts";
import { NoKeys, providerKeys } from "./provider-keys.ts";
import { refusalOf } from "./verify-own.ts";
import { isShared, isUser } from "../../domain/token.ts";

/** Signatures that a public key checks. With one that a secret checks (HS256), the public key would be the secret. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Tokens of an identity provider, checked with the keys that it publishes. */
export class Logins {
  readonly #settings: LoginSettings;
  readonly #key: JWTVerifyGetKey;

  constructor(settings: LoginSettings) {
    this.#settings = settings;
    this.#key = providerKeys(settings.jwksUrl);
  }

  /** Whether the token says that it is of this provider. That is not checked here: it decides by which keys it will be. */
  claims(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#settings.issuer;
    } catch {
      return false;
    }
  }

  /** Checks the token at `now` (milliseconds): signature, issuer, audience, times and the claim that names the user. */
  async verify(token: string, now: number): Promise<Result<Verified>> {
    const { issuer, audience, userClaim, scopes, shared } = this.#settings;
    const options = {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      currentDate: new Date(now),
      clockTolerance: CLOCK_SKEW_S,
      requiredClaims: ["exp", userClaim],
    };
    try {
      const { payload } = await this.#checked(token, options);
      const user = payload[userClaim];
      if (typeof user !== "string" || !isUser(user) || user === "*" || isShared(user)) return NO_USER;
      return timed(payload, { user, scopes: new Set(scopes), shared: new Set(shared) }, now);
    } catch (error) {
      return error instanceof NoKeys ? fail("login_keys_unavailable") : refusalOf(error);
    }
  }

  async #checked(token: string, options: JWTVerifyOptions) {
    try {
      return await jwtVerify(token, this.#key, options);
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
      // The token names no key, and several are of its kind.
      for await (const key of error) {
        try {
          return await jwtVerify(token, key, options);
        } catch (reason) {
          if (!(reason instanceof joseErrors.JWSSignatureVerificationFailed)) throw reason;
        }
      }
      throw new joseErrors.JWSSignatureVerificationFailed();
    }
  }
}

const NO_USER = fail("invalid_token", {
  message: "The token's user claim (JWT_USER_CLAIM) is no user id, or one that is reserved: `*`, `shared:…`.",
});
