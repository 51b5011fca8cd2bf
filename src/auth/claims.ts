import { byteLength, limits } from "../limits.ts";
import type { Caller } from "./token.ts";

/** What the id of a shared owner begins with: memory that many users read (of a team, of an app). */
export const SHARED_PREFIX = "shared:";

/** Whether this names a shared owner. */
export const isShared = (user: string): boolean => user.startsWith(SHARED_PREFIX);

/** Whether memory can be stored under this id, or it is `*`. */
export const isUser = (id: string): boolean =>
  id !== "" && id !== "." && id !== ".." && id.isWellFormed() && byteLength(id) <= limits.userId;

/** Whom the claims of a token whose signature holds speak for; null if one of them is not as it has to be. */
export function callerOf({ sub, scope, shared = [] }: Record<string, unknown>): Caller | null {
  if (typeof sub !== "string" || !isUser(sub) || typeof scope !== "string") return null;
  if (!Array.isArray(shared) || shared.length > limits.sharedOwners) return null;
  if (!shared.every((id) => typeof id === "string" && isShared(id) && isUser(id))) return null;
  return { user: sub, scopes: new Set(scope.split(" ")), shared: new Set<string>(shared) };
}
