import type {
  ContinuationCode,
  ContinuationOptions,
} from "../../../../src/domain/conversation/continuation.ts";
import { ContinuationValidationError } from "../../../client/src/continuation-validator.ts";
import { hasCode } from "../../../client/src/error.ts";

/** The checks of a whole conversation, as fields of an append. */
export const checksOf = ({
  mode = "strict",
  approvedToolCallIds,
  rejectedToolCallIds,
}: ContinuationOptions) => ({
  validate: mode,
  ...(approvedToolCallIds && { approvedToolCallIds: [...approvedToolCallIds] }),
  ...(rejectedToolCallIds && { rejectedToolCallIds: [...rejectedToolCallIds] }),
});

/** The refusal in the details of a failed append: `body.messages[2]` is the message of index 2. */
export function refusalIn(error: unknown): ContinuationValidationError | undefined {
  if (!hasCode(error, "invalid_continuation")) return undefined;
  const [detail] = error.details;
  const index = /\[(\d+)\]$/.exec(detail?.path ?? "")?.[1];
  return new ContinuationValidationError({
    ok: false,
    // The server's codes come from the same function.
    code: (detail?.code ?? "not-a-prefix") as ContinuationCode,
    reason: detail?.message ?? error.message,
    ...(index !== undefined && { index: Number(index) }),
  });
}
