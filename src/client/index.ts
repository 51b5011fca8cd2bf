export { type Cairn, cairn } from "./cairn.ts";
export { CairnError, type CairnErrorCode } from "./error.ts";
export type { Versioned } from "./http.ts";
export type {
  CairnOptions,
  CallOptions,
  Fetch,
  IfVersion,
  RetryOptions,
  Token,
  Transport,
  WriteOptions,
} from "./options.ts";
export type { LeaseAnswer } from "./registry.ts";
export type * from "./shapes.ts";
export {
  type Continuation,
  type ContinuationCode,
  type ContinuationOptions,
  type ContinuationRefusal,
  validateContinuation,
} from "../conversation/continuation.ts";
export {
  assertValidContinuation,
  ContinuationValidationError,
  type ContinuationValidator,
  defaultContinuationValidator,
} from "../conversation/continuation-validator.ts";
export type { AiMessage, AnyMessage, ContentPart } from "../conversation/message.ts";
export { sanitizeConversation } from "../conversation/sanitize.ts";
