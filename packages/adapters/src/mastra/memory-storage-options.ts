import type { Cairn } from "../../../client/src/index.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { TimeLimit } from "../limits/time-limit.ts";

export type CairnMemoryStorageOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns all threads and resources; erasing the user deletes them. */
  user: string;
  /** Prepended to the keys of all entries, to 128 bytes; `mastra/` unless set. */
  prefix?: string;
};

export const MEMORY_STORAGE_OPTIONS: OptionNames<CairnMemoryStorageOptions> = {
  memory: true,
  user: true,
  prefix: true,
  timeoutMs: true,
};

/** The methods that read or write Cairn: each has one limit for all its calls. */
export const LIMITED_METHODS = [
  "dangerouslyClearAll",
  "getThreadById",
  "saveThread",
  "updateThread",
  "updateThreadMetadata",
  "deleteThread",
  "listThreads",
  "listMessages",
  "listMessagesByResourceId",
  "listMessagesById",
  "saveMessages",
  "updateMessages",
  "deleteMessages",
  "copyThread",
  "getResourceById",
  "saveResource",
  "updateResource",
  "getObservationalMemory",
  "getObservationalMemoryHistory",
  "initializeObservationalMemory",
  "insertObservationalMemoryRecord",
  "createReflectionGeneration",
  "swapBufferedReflectionToActive",
  "updateActiveObservations",
  "updateBufferedObservations",
  "swapBufferedToActive",
  "updateBufferedReflection",
  "setReflectingFlag",
  "setObservingFlag",
  "setBufferingObservationFlag",
  "setBufferingReflectionFlag",
  "setPendingMessageTokens",
  "updateObservationalMemoryConfig",
  "clearObservationalMemory",
] as const;
