import type { Memory as Methods } from "../packages/client/src/entrypoint.ts";
import { clientInWorker } from "../packages/client/src/in-worker.ts";
import { memoryOf } from "./worker/rpc/memory.ts";
import { createWorker } from "./worker/worker.ts";

export { PromptCache } from "../durable-objects/prompt-cache.ts";
export { UserMemory } from "../durable-objects/user-memory.ts";

const worker = createWorker();

export const Memory = memoryOf<Methods>(worker.answer, clientInWorker());
export default { fetch: worker.fetch, scheduled: worker.scheduled };
