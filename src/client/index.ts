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
} from "../domain/conversation/continuation.ts";
export {
  assertValidContinuation,
  ContinuationValidationError,
  type ContinuationValidator,
  defaultContinuationValidator,
} from "../domain/conversation/continuation-validator.ts";
export type { AiMessage, AnyMessage, ContentPart } from "../domain/conversation/message.ts";
export { sanitizeConversation } from "../domain/conversation/sanitize.ts";
export type { Scope, TokenRequest } from "../domain/token.ts";
export { mintToken } from "./mint-token.ts";
