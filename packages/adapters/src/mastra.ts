import { MastraCompositeStore } from "@mastra/core/storage";
import { CairnMemoryStorage } from "./mastra/memory-storage.ts";
import { type CairnMemoryStorageOptions, MEMORY_STORAGE_OPTIONS } from "./mastra/memory-storage-options.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";

export type { MemoryFailure } from "./context/memory-options.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";
export { type CairnProcessor, cairnProcessor, type CairnProcessorOptions } from "./mastra/processor.ts";
export {
  type CairnSemanticRecall,
  cairnSemanticRecall,
  type CairnSemanticRecallOptions,
} from "./mastra/semantic-recall.ts";
export { CairnMemoryStorage } from "./mastra/memory-storage.ts";
export type { CairnMemoryStorageOptions } from "./mastra/memory-storage-options.ts";

export type CairnStorageOptions = CairnMemoryStorageOptions & {
  /** Mastra's name for this storage; `cairn` unless set. */
  id?: string;
  /** The storage for workflows, scores and traces; without it Mastra stores none. */
  default?: MastraCompositeStore;
};

const OPTIONS: OptionNames<CairnStorageOptions> = { ...MEMORY_STORAGE_OPTIONS, id: true, default: true };

/**
 * A storage for Mastra with memory in Cairn: threads, messages and resources.
 *
 * @example
 * const storage = cairnStorage({ memory, user: "alice" });
 * const agent = new Agent({ id: "a", name: "A", instructions, model, memory: new Memory({ storage }) });
 */
export function cairnStorage(given: CairnStorageOptions): MastraCompositeStore {
  requireUser("cairnStorage", given, OPTIONS);
  const { id = "cairn", default: otherwise, ...options } = given;
  return new MastraCompositeStore({
    id,
    name: "Cairn",
    ...(otherwise && { default: otherwise }),
    domains: { memory: new CairnMemoryStorage(options) },
  });
}
