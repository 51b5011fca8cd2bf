import { mintToken as mint, type TokenRequest } from "../../src/domain/token.ts";

/**
 * Mints a token with the deployment's `CAIRN_SECRET`, for a server to call Cairn with or to hand to one user. `user` is
 * the user whose memory it opens (`*`: every user's). It reads and writes, and holds for one hour, unless the request
 * says otherwise. Throws a `TypeError` for a request that Cairn would refuse.
 */
export const mintToken = (secret: string, request: TokenRequest): Promise<string> =>
  mint(secret, request, Date.now());
