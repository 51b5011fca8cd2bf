// Stores for GemStack's ai-sdk and Rudder's binding of it: conversations, facts of users, a shared cache. And a middleware
// that puts memory into prompts.
export { type CairnCache, cairnCache, type CairnCacheOptions } from "./gemstack/cache.ts";
export {
  type CairnConversations,
  cairnConversations,
  type CairnConversationsOptions,
} from "./gemstack/conversations.ts";
export {
  type CairnMemoryInject,
  cairnMemoryInject,
  type CairnMemoryInjectOptions,
} from "./gemstack/memory-inject.ts";
export {
  type CairnMemoryExtract,
  cairnMemoryExtract,
  type CairnMemoryExtractOptions,
} from "./gemstack/memory-extract.ts";
export type { IngestFailure } from "./ingest/background-ingest.ts";
export { type CairnRuns, cairnRuns, type CairnRunsOptions } from "./gemstack/runs.ts";
export type {
  CacheAdapter,
  ConversationStore,
  ConversationStoreListEntry,
  ConversationStoreMeta,
  MemoryEntry,
  RunStore,
  UserMemory,
} from "./gemstack/types.ts";
export {
  type CairnUserMemory,
  cairnUserMemory,
  type CairnUserMemoryOptions,
  type GivenFact,
} from "./gemstack/user-memory.ts";
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
} from "../../client/src/continuation-validator.ts";
export type { AiMessage, AnyMessage, ContentPart } from "../../../src/domain/conversation/message.ts";
export { sanitizeConversation } from "../../../src/domain/conversation/sanitize.ts";
