import { memoryOf } from "./worker/rpc/memory.ts";
import { createWorker } from "./worker/worker.ts";

export { PromptCache } from "../durable-objects/prompt-cache.ts";
export { UserMemory } from "../durable-objects/user-memory.ts";

const worker = createWorker();

export const Memory = memoryOf(worker.answer);
export default { fetch: worker.fetch, scheduled: worker.scheduled };
