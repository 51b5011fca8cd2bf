import { createWorker } from "./worker/worker.ts";

export { PromptCache } from "../durable-objects/prompt-cache.ts";
export { UserMemory } from "../durable-objects/user-memory.ts";

export default createWorker();
