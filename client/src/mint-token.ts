import { mintToken as mint, type TokenRequest } from "../../src/domain/token.ts";

/**
 * Mints a token with the deployment's `CAIRN_SECRET`, for a server or for one user. `user` is the user whose memory the
 * token opens; `*` opens every user's. By default it reads and writes, and expires after one hour. Throws a `TypeError`
 * for a request that Cairn would refuse.
 */
export const mintToken = (secret: string, request: TokenRequest): Promise<string> =>
  mint(secret, request, Date.now());
