import { MastraCompositeStore } from "@mastra/core/storage";
import { CairnMemoryStorage, type CairnMemoryStorageOptions } from "./mastra/memory-storage.ts";

export { CairnMemoryStorage, type CairnMemoryStorageOptions } from "./mastra/memory-storage.ts";

export type CairnStorageOptions = CairnMemoryStorageOptions & {
  /** Mastra's name for this storage; `cairn` unless set. */
  id?: string;
  /** Where all is kept that is not memory: workflows, scores, traces. Without it Mastra does without them. */
  default?: MastraCompositeStore;
};

/**
 * A storage for Mastra whose memory is Cairn's: threads, messages, and what is kept of a resource.
 *
 * @example
 * const storage = cairnStorage({ memory, user: "alice" });
 * const agent = new Agent({ id: "a", name: "A", instructions, model, memory: new Memory({ storage }) });
 */
export const cairnStorage = ({
  id = "cairn",
  default: otherwise,
  ...options
}: CairnStorageOptions): MastraCompositeStore =>
  new MastraCompositeStore({
    id,
    name: "Cairn",
    ...(otherwise && { default: otherwise }),
    domains: { memory: new CairnMemoryStorage(options) },
  });
