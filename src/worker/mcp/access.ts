import { mayRead, mayWrite, wordOf } from "../auth/claims.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Owner, ownerOf } from "../../domain/memory/record.ts";
import { type Scope, isShared, isUser } from "../../domain/token.ts";
import type { Caller } from "../auth/claims.ts";

/** Names the user, in percent-encoding. A token of all users needs it. */
export const USER_HEADER = "Cairn-User";

/** The user and the rights of a request. */
export type Access = {
  user: string;
  caller: Caller;
  /** The shared owners that the token names, without the user itself. */
  shared: readonly string[];
};

/** The user of a request: the one that the header names, else the token's. */
export function userOf(caller: Caller, header: string | undefined): Result<string> {
  const user = header === undefined ? caller.user : decodeUser(header);
  if (user === null) return invalidHeader("is not a user id in percent-encoding");
  return user === "*" ? invalidHeader(`is required with a ${wordOf(caller)} of all users`) : ok(user);
}

/** The rights of a request on the memory of a user that its caller reaches. */
export const accessOf = (caller: Caller, user: string): Access => ({
  user,
  caller,
  shared: [...caller.shared].filter((owner) => owner !== user),
});

function decodeUser(id: string): string | null {
  try {
    // Two headers of this name arrive as one with a comma, which an encoded id does not have.
    const user = id.includes(",") ? "" : decodeURIComponent(id);
    return isUser(user) && user !== "*" ? user : null;
  } catch {
    return null;
  }
}

const invalidHeader = (message: string) =>
  fail("invalid_request", { details: [{ path: `header.${USER_HEADER}`, message }] });

/** True if the token reads the memory of a shared owner, which it cannot change. */
export const isReadOnly = ({ user, caller }: Access): boolean => !mayWrite(caller, user);

/** True if the token has the scope, also for this user's memory. */
export const allows = ({ user, caller }: Access, scope: Scope & ("read" | "write")): boolean =>
  caller.scopes.has(scope) && (scope === "read" ? mayRead : mayWrite)(caller, user);

/** What a tool or a resource gets of the owners that it touches. */
export type Reached = {
  /** The user alone. */
  user: Owner;
  /** The user, or the shared owner that the argument `owner` names. */
  owner: Owner;
  /** The shared owners to search besides the user: those of the argument `owners`, else the first of the token. */
  owners: string[];
};
/** Whose memory a tool or a resource touches. */
export type Touches = keyof Reached;
type Named = { owner?: string | undefined; owners?: readonly string[] | undefined };

/** Finds the owners that a call touches, or refuses it. */
export const reach: {
  [One in Touches]: (access: Access, scope: "read" | "write", named: Named) => Promise<Result<Reached[One]>>;
} = {
  user: (access, scope) => byScope[scope](access, undefined),
  owner: (access, scope, { owner }) => byScope[scope](access, owner),
  owners: async (access, _scope, { owners }) => ownersToSearch(access, owners),
};

/** The shared owners to search: the requested ones, or the first 16 of the token. */
export function ownersToSearch(
  { shared, caller }: Access,
  requested: readonly string[] | undefined,
): Result<string[]> {
  if (requested === undefined) return ok(shared.slice(0, limits.owners));
  const unknown = requested.findIndex((owner) => !shared.includes(owner));
  if (unknown < 0) return ok([...new Set(requested)]);
  return fail("not_found", {
    details: [{ path: `owners[${unknown}]`, message: unnamed(caller) }],
  });
}

const unnamed = (caller: Caller): string => `is not a shared owner that this ${wordOf(caller)} names`;

/** The owner to read: the user, or a shared owner that the token names. */
async function ownerToRead(access: Access, ownerId: string | undefined): Promise<Result<Owner>> {
  const owner = ownerId ?? access.user;
  if (owner === access.user || access.shared.includes(owner)) return ok(await ownerOf(owner));
  return fail("not_found", {
    details: [{ path: "owner", message: unnamed(access.caller) }],
  });
}

/**
 * The owner to change: the user, or a shared owner that the token names and may change. A token of all users may change
 * every user, but a model only reaches owners that the token names.
 */
async function ownerToChange(access: Access, ownerId: string | undefined): Promise<Result<Owner>> {
  const owner = await ownerToRead(access, ownerId);
  if (!owner.ok || mayWrite(access.caller, owner.value.id)) return owner;
  return fail("forbidden", {
    message: `This ${wordOf(access.caller)} may read the memory of ${JSON.stringify(owner.value.id)}, not change it${
      isShared(owner.value.id) && ownerId !== undefined ? ". Leave `owner` out to use the user's own" : ""
    }.`,
  });
}

const byScope = { read: ownerToRead, write: ownerToChange };
