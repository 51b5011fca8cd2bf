// What a test of an adapter has in hand: a user of its own, and a client with a token for that user.
import { inject } from "vitest";
import { type Cairn, type CairnOptions, cairn } from "../../client/src/index.ts";
import { type Scope, mintToken, scopes } from "../../../src/domain/token.ts";
import { fromNow } from "../../../test/from-now.ts";

let users = 0;
/** A user of one test's own, so that tests share nothing. */
export const newUser = (): string => `adapter-${++users}-${crypto.randomUUID()}`;

/** A token of this user, or of all (`*`), as a backend mints it. */
export const tokenOf = (user: string, scope: readonly Scope[] = scopes): Promise<string> =>
  mintToken(inject("cairn").secret, { user, scope }, fromNow(-60_000));

/** A client of the Cairn that the tests run against. */
export const clientOf = async (user: string, more: Partial<CairnOptions> = {}): Promise<Cairn> =>
  cairn({ url: inject("cairn").url, token: await tokenOf(user), ...more });
