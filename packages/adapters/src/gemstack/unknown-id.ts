import { CairnError, hasCode } from "../../../client/src/error.ts";

/** True if the named resource is missing or another user's, or if the id is impossible in a URL. */
export const isUnknown = (error: unknown): error is CairnError =>
  hasCode(error, "not_found") ||
  (hasCode(error, "invalid_request") &&
    error.details.length > 0 &&
    error.details.every(({ path }) => path === "path" || path === "path.id"));

/** The failure with the SDK's own message. */
export const conversationNotFound = (id: string, cause?: CairnError): CairnError =>
  new CairnError(
    {
      code: "not_found",
      message: `Conversation ${JSON.stringify(id)} not found.`,
      ...(cause?.requestId !== undefined && { requestId: cause.requestId }),
    },
    { status: 404, cause, call: cause?.call },
  );

/** The SDK lists all threads to find an owner, which needs more rights: the error says what to do instead. */
export const withoutOwners = (cause: CairnError): CairnError =>
  new CairnError(
    {
      code: "forbidden",
      message:
        "The owner of the conversation cannot be looked up: name it, as in `agent.forUser(userId).continue(id)`, or give the client a token of all users (`*`) with the scope `admin`.",
      ...(cause.requestId !== undefined && { requestId: cause.requestId }),
    },
    { status: cause.status, cause, call: cause.call },
  );
