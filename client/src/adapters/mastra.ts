import { MastraCompositeStore } from "@mastra/core/storage";
import {
  CairnMemoryStorage,
  type CairnMemoryStorageOptions,
  MEMORY_STORAGE_OPTIONS,
} from "./mastra/memory-storage.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../known-options.ts";

export { CairnMemoryStorage, type CairnMemoryStorageOptions } from "./mastra/memory-storage.ts";

export type CairnStorageOptions = CairnMemoryStorageOptions & {
  /** Mastra's name for this storage; `cairn` unless set. */
  id?: string;
  /** Where all is kept that is not memory: workflows, scores, traces. Without it Mastra does without them. */
  default?: MastraCompositeStore;
};

const OPTIONS: OptionNames<CairnStorageOptions> = { ...MEMORY_STORAGE_OPTIONS, id: true, default: true };

/**
 * A storage for Mastra whose memory is Cairn's: threads, messages, and what is kept of a resource.
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
