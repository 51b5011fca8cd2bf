import { mintToken as mint, type TokenRequest } from "../../../src/domain/token.ts";
import { type OptionNames, requireKnownOptions } from "./known-options.ts";

const FIELDS: OptionNames<TokenRequest> = {
  user: true,
  scope: true,
  ttlMs: true,
  shared: true,
  thread: true,
  trust: true,
};

/**
 * Mints a token with the deployment's `CAIRN_SECRET`, for a server or for one user. `user` is the user whose memory the
 * token opens; `*` opens every user's. By default it reads, writes and uses the registry of prompt caches (`cache`), and
 * expires after one hour. Rejects with a
 * `TypeError` for an unknown field, and for a request that Cairn would refuse.
 */
export async function mintToken(secret: string, request: TokenRequest): Promise<string> {
  // A JavaScript caller may leave the request out: `user` is then what is missing.
  const given: TokenRequest = request ?? {};
  // An ignored field would widen the token: `scopes: ["read"]` would also write.
  requireKnownOptions("mintToken", given, FIELDS);
  return mint(secret, given, Date.now());
}
