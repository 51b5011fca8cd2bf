export { type Cairn, cairn, type UserView } from "./cairn.ts";
export { CairnError, type CairnErrorCode } from "./error.ts";
export type { Versioned } from "./http.ts";
export type {
  Binding,
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
} from "../../../src/domain/conversation/continuation.ts";
export {
  assertValidContinuation,
  ContinuationValidationError,
  type ContinuationValidator,
  defaultContinuationValidator,
} from "./continuation-validator.ts";
export type { AiMessage, AnyMessage, ContentPart } from "../../../src/domain/conversation/message.ts";
export { messageHash } from "../../../src/domain/context/message-hash.ts";
export { sanitizeConversation } from "../../../src/domain/conversation/sanitize.ts";
export type { Scope, TokenRequest } from "../../../src/domain/token.ts";
export { mintToken } from "./mint-token.ts";
