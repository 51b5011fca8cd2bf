import { mayRead, mayWrite } from "../auth/access.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Owner, ownerOf } from "../../domain/memory/record.ts";
import { type Scope, isShared, isUser } from "../../domain/token.ts";
import type { Caller } from "../auth/claims.ts";

/** Names the user, in percent-encoding: a token of all users has to, another one may. */
export const USER_HEADER = "Cairn-User";

/** Whose memory a request is about, and how far its token goes. */
export type Access = {
  user: string;
  caller: Caller;
  /** The shared owners that the token names, the user itself not among them. */
  shared: readonly string[];
};

/**
 * The user of a token; of one for all users (`*`), the user that the header names. `not_found` for a user whom the token
 * does not reach, as if there were none.
 */
export function accessOf(caller: Caller, named: string | undefined): Result<Access> {
  const user = named === undefined ? caller.user : decoded(named);
  if (user === null) return invalidHeader("is no user id in percent-encoding");
  if (user === "*") return invalidHeader("is required of a token of all users: whose memory is meant");
  if (!mayRead(caller, user)) return fail("not_found");
  return ok({ user, caller, shared: [...caller.shared].filter((owner) => owner !== user) });
}

function decoded(id: string): string | null {
  try {
    // Two headers of this name come as one, with a comma between them; an id has none in this encoding.
    const user = id.includes(",") ? "" : decodeURIComponent(id);
    return isUser(user) && user !== "*" ? user : null;
  } catch {
    return null;
  }
}

const invalidHeader = (message: string) =>
  fail("invalid_request", { details: [{ path: `header.${USER_HEADER}`, message }] });

/** Whether the token holds the scope, and may use it on this user's memory. */
export const allows = ({ user, caller }: Access, scope: Scope & ("read" | "write")): boolean =>
  caller.scopes.has(scope) && (scope === "read" ? mayRead : mayWrite)(caller, user);

/** The shared owners to ask besides the user: those that are wanted, or the first 16 of the token. */
export function ownersToAsk({ shared }: Access, wanted: readonly string[] | undefined): Result<string[]> {
  if (wanted === undefined) return ok(shared.slice(0, limits.owners));
  const unknown = wanted.findIndex((owner) => !shared.includes(owner));
  if (unknown < 0) return ok([...new Set(wanted)]);
  return fail("not_found", {
    details: [{ path: `owners[${unknown}]`, message: "is no shared owner that this token names" }],
  });
}

/** Whose memory a reading is about: the user, or one of the token's shared owners. */
export async function ownerToRead(access: Access, wanted: string | undefined): Promise<Result<Owner>> {
  const owner = wanted ?? access.user;
  if (owner === access.user || access.shared.includes(owner)) return ok(await ownerOf(owner));
  return fail("not_found", {
    details: [{ path: "owner", message: "is no shared owner that this token names" }],
  });
}

/**
 * Whose memory a change is about: the user, or a shared owner that the token both names and may change. A token of all
 * users may change everybody's; what a model asks for reaches only those that the token names.
 */
export async function ownerToChange(access: Access, wanted: string | undefined): Promise<Result<Owner>> {
  const owner = await ownerToRead(access, wanted);
  if (!owner.ok || mayWrite(access.caller, owner.value.id)) return owner;
  return fail("forbidden", {
    message: `This token may read the memory of ${JSON.stringify(owner.value.id)}, not change it${
      isShared(owner.value.id) && wanted !== undefined ? ": leave `owner` out to use the user's own" : ""
    }.`,
  });
}
