import { CairnError, hasCode } from "../../error.ts";

/** Whether a call named something that is not there, or is another's; or an id that none can be, as one of no URL. */
export const isUnknown = (error: unknown): error is CairnError =>
  hasCode(error, "not_found") ||
  (hasCode(error, "invalid_request") &&
    error.details.length > 0 &&
    error.details.every(({ path }) => path === "path" || path === "path.id"));

/** The same failure in the words that users of the SDK look for. */
export const conversationNotFound = (id: string, cause?: CairnError): CairnError =>
  new CairnError(
    {
      code: "not_found",
      message: `Conversation ${JSON.stringify(id)} not found.`,
      ...(cause?.requestId !== undefined && { requestId: cause.requestId }),
    },
    { status: 404, cause, call: cause?.call },
  );

/** A token may not list all threads, which is how the SDK finds a thread's owner: says what to do instead. */
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
