import {
  decodeJwt,
  errors as joseErrors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { fail, type Result } from "../../domain/errors.ts";
import { CLOCK_SKEW_S, type Verified, withTimes } from "./claims.ts";
import type { LoginSettings } from "./login-settings.ts";
import { KeysUnavailable, providerKeys } from "./provider-keys.ts";
import { failureOfToken } from "./verify-own.ts";
import { isShared, isUser } from "../../domain/token.ts";

/** Asymmetric algorithms only: with HS256, the public key would be the secret. */
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

/** Verifies tokens of an identity provider, with the keys that it publishes. */
export class Logins {
  readonly #settings: LoginSettings;
  readonly #key: JWTVerifyGetKey;

  constructor(settings: LoginSettings) {
    this.#settings = settings;
    this.#key = providerKeys(settings.jwksUrl);
  }

  /** Reads the unverified issuer, which decides by whose keys the token is verified. */
  isIssuerOf(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#settings.issuer;
    } catch {
      return false;
    }
  }

  /** Verifies signature, issuer, audience, times and the user's claim at `now` (milliseconds). */
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
      const { payload } = await this.#verifySignature(token, options);
      const user = payload[userClaim];
      if (typeof user !== "string" || !isUser(user) || user === "*" || isShared(user)) return NO_USER;
      // Some providers let a person enter another one's address.
      if (userClaim === "email" && payload.email_verified !== true) return NOT_VERIFIED;
      return withTimes(payload, { user, scopes: new Set(scopes), shared: new Set(shared) }, now);
    } catch (error) {
      return error instanceof KeysUnavailable ? fail("login_keys_unavailable") : failureOfToken(error);
    }
  }

  async #verifySignature(token: string, options: JWTVerifyOptions) {
    try {
      return await jwtVerify(token, this.#key, options);
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
      // The token has no `kid`, and several keys fit its algorithm.
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
  message: "The token's user claim (JWT_USER_CLAIM) is not a user id, or is reserved: `*`, `shared:…`.",
});
const NOT_VERIFIED = fail("invalid_token", {
  message: "The token's `email` (JWT_USER_CLAIM) counts only with `email_verified`: true.",
});
