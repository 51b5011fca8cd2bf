// Exports of other systems, in several versions.
export { chatgpt } from "./chatgpt.ts";
export { claude } from "./claude.ts";
export { langgraph } from "./langgraph.ts";
export { mem0 } from "./mem0.ts";
export { supermemory } from "./supermemory.ts";
export { zep } from "./zep.ts";
