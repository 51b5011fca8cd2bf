import { NO_MEMORY, type PromptMemory, promptMemory, type PromptMessage } from "../context/prompt-memory.ts";
import type { NamedThread } from "../context/named-thread.ts";
import { guarded, type MemoryOptions } from "./options.ts";

/** The memory of a prompt; none if `context` is false, or if the call failed and `strict` is not set. */
export async function memoryOf(
  options: MemoryOptions,
  thread: NamedThread | undefined,
  messages: readonly PromptMessage[],
  ended?: AbortSignal,
): Promise<PromptMemory> {
  const { memory, user, context } = options;
  if (context === false) return NO_MEMORY;
  return guarded<PromptMemory>(
    options,
    (signal) => {
      const read = (id: string | undefined) =>
        promptMemory({ memory, user, thread: id, context }, messages, { signal });
      return thread === undefined ? read(undefined) : thread.use(signal, read);
    },
    { otherwise: NO_MEMORY, failure: () => ({ doing: "context" }), ended },
  );
}
