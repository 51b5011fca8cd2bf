import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { threadOwner } from "../thread-id.ts";
import { areShared, isTrust, isUser, trusts } from "../token.ts";
import type { Trust } from "./provenance.ts";

/** One user, or `*` for all. */
export const user = z.custom<string>(
  (id) => typeof id === "string" && isUser(id),
  `is not a user id: a string of 1 to ${limits.userId} bytes, or \`*\` for all users`,
);

/** What the claims of a token and the props of a service binding both say of the caller. */
export const callerFields = {
  /** Shared owners that the caller also reads. */
  shared: z
    .custom<string[]>(
      areShared,
      `is not a list of at most ${limits.sharedOwners} ids that begin with 'shared:'`,
    )
    .optional(),
  /** The only thread that the caller reaches. */
  thread: z
    .custom<string>((id) => typeof id === "string" && threadOwner(id) !== null, "is not the id of a thread")
    .optional(),
  /** The trust of what the caller writes. */
  trust: z.custom<Trust>(isTrust, `is not one of ${trusts.join(", ")}`).optional(),
};

/** The claims of one of the tenant's own tokens that say who calls. */
export const Claims = z.object({
  sub: user,
  scope: z.custom<string>(
    // `read,write` would be one unknown scope, and each call 403.
    (scope) => typeof scope === "string" && !scope.includes(","),
    "is not one string with spaces between the scopes, as in 'read write'",
  ),
  ...callerFields,
});
