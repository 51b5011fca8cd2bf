import {
  type ContinuationCode,
  type ContinuationOptions,
  type ContinuationRefusal,
  validateContinuation,
} from "../../../src/domain/conversation/continuation.ts";
import { type AnyMessage } from "../../../src/domain/conversation/message.ts";

/** The error of `assertValidContinuation`. Its message holds the reason. */
export class ContinuationValidationError extends Error {
  // As in the client's error: a minified class would be printed under another name.
  static override readonly name = "ContinuationValidationError";
  override readonly name = "ContinuationValidationError";
  readonly code: ContinuationCode;
  readonly index: number | undefined;

  constructor({ code, reason, index }: ContinuationRefusal) {
    super(`${code}: ${reason}`);
    this.code = code;
    this.index = index;
  }
}

/** `validateContinuation` that throws `ContinuationValidationError` instead of returning a refusal. */
export function assertValidContinuation(
  persisted: Iterable<AnyMessage>,
  incoming: readonly AnyMessage[],
  options: ContinuationOptions = {},
): void {
  const answer = validateContinuation(persisted, incoming, options);
  if (!answer.ok) throw new ContinuationValidationError(answer);
}

/** Takes any message, so it fits wherever a validator of some SDK's own message type is asked for. */
export type ContinuationValidator = (
  persisted: Iterable<AnyMessage>,
  incoming: readonly AnyMessage[],
  options?: ContinuationOptions,
) => void;

/**
 * A validator for an SDK to call, which throws `ContinuationValidationError`.
 *
 * @example
 * const agent = createAgent({ validateContinuation: defaultContinuationValidator({ mode: "strict" }) });
 */
export function defaultContinuationValidator(options: ContinuationOptions = {}): ContinuationValidator {
  return (persisted, incoming, given = {}) => {
    // Field by field: a spread would let `mode: undefined` of a call undo strict.
    assertValidContinuation(persisted, incoming, {
      mode: given.mode ?? options.mode,
      approvedToolCallIds: given.approvedToolCallIds ?? options.approvedToolCallIds,
      rejectedToolCallIds: given.rejectedToolCallIds ?? options.rejectedToolCallIds,
    });
  };
}
