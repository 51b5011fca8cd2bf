import { CairnError, hasCode } from "../../error.ts";

/** Whether a call named something that is not there, or is another's; or an id that none can be, as one of no URL. */
export const isUnknown = (error: unknown): error is CairnError =>
  hasCode(error, "not_found") ||
  (hasCode(error, "invalid_request") &&
    error.details.length > 0 &&
    error.details.every(({ path }) => path === "path" || path === "path.id"));

/** The same failure in the words that users of the SDK look for. */
export const conversationNotFound = (id: string, cause: CairnError): CairnError =>
  new CairnError(
    {
      code: "not_found",
      message: `conversation ${JSON.stringify(id)} not found`,
      ...(cause.requestId !== undefined && { requestId: cause.requestId }),
    },
    { status: 404, cause, call: cause.call },
  );
