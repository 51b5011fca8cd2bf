export { cairnContextNode, type CairnContextOptions, cairnPrompt } from "./langgraph/context.ts";
export {
  type CairnMiddleware,
  cairnMiddleware,
  type CairnMiddlewareOptions,
  type CairnRuntime,
} from "./langgraph/middleware.ts";
export {
  type CairnMemoryManager,
  cairnMemoryManager,
  type CairnMemoryManagerOptions,
} from "./langgraph/memory-manager.ts";
export type { IngestFailure } from "./ingest/background-ingest.ts";
export { CairnSaver, type CairnSaverOptions } from "./langgraph/saver.ts";
export { CairnStore, type CairnStoreOptions } from "./langgraph/store.ts";
export type { ContextFailure } from "./context/guarded.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";
