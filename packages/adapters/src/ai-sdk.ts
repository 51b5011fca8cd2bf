export type { ConversationOptions } from "./ai-sdk/conversation.ts";
export { cairnMemory } from "./ai-sdk/middleware.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";
export type { MemoryFailure, MemoryOptions } from "./context/memory-options.ts";
export { memoryStep } from "./ai-sdk/step.ts";
export { type MemoryTools, memoryTools, type MemoryToolsOptions } from "./ai-sdk/tools.ts";
