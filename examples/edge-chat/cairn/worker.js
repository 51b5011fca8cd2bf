// The memory: the whole of Cairn as a Worker of its own, which only the chat can call.
export { cairnWorker as default, Memory, PromptCache, UserMemory } from "@edgecairn/embed/worker";
