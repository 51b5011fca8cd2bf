import { CairnError } from "../../../client/src/error.ts";

export type Scope = "execution" | "thread" | "resource" | "global";

/** The default owner of the tenant's shared state. */
const SHARED = "shared:noetic";
/** The prefix of the owners of threads and executions; users and shared owners must not have it. */
const OWN = "noetic:";
const RESERVED: readonly string[] = [OWN, "shared:"];

/**
 * The owner of a scope's state: a resource is a user, and `global` the shared owner. Threads and executions own
 * themselves if no user is named. Throws if a resource's id is not a valid user.
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
