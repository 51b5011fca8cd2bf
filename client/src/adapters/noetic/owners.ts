import { CairnError } from "../../error.ts";

export type Scope = "execution" | "thread" | "resource" | "global";

/** Whose the tenant's shared state is, unless it is told. */
export const SHARED = "shared:noetic";
/** What owners of threads and executions begin with. No user may, nor as a shared owner does. */
const OWN = "noetic:";
const RESERVED: readonly string[] = [OWN, "shared:"];

/**
 * Whose memory a scope's state is: a resource is a user, `global` is the shared owner; a thread or execution belongs to
 * nobody but itself where no user is named. Throws where a resource's id would name what is not a user.
 */
export function ownerOf(scope: Scope, scopeKey: string, shared: string = SHARED): string {
  if (scope === "global") return shared;
  if (scope !== "resource") return `${OWN}${scope}:${scopeKey}`;
  const reserved = RESERVED.find((start) => scopeKey.startsWith(start));
  if (reserved === undefined) return scopeKey;
  const message = `begins with '${reserved}', which no user's does`;
  throw new CairnError(
    {
      code: "invalid_request",
      message: `not sent: the resource id ${message}`,
      details: [{ path: "resourceId", message }],
    },
    { status: 400 },
  );
}
