import {
  type ContextOptions,
  NO_MEMORY,
  type PromptMemory,
  promptMemory,
  type PromptMessage,
} from "./prompt-memory.ts";
import type { NamedThread } from "./named-thread.ts";
import { guarded } from "./guarded.ts";
import type { MemoryFailure, MemoryOptions } from "./memory-options.ts";

/** The providers whose caches Cairn knows; the SDK names a model's as in `openai.responses`. */
const PROVIDERS = ["anthropic", "openai", "google"] as const;

/** The options of a context for a model of a provider, as the AI SDK names it: its cache has a lifetime of its own. */
export function contextFor(model: string, context: ContextOptions | undefined): ContextOptions {
  const provider = PROVIDERS.find((name) => model.startsWith(name));
  return { ...(provider && { provider }), ...context };
}

/**
 * The memory of a prompt; `model` is the name of the model's provider. None if `context` is false, or if the call failed and
 * `strict` is not set.
 */
export async function memoryOf(
  options: MemoryOptions,
  thread: NamedThread | undefined,
  messages: readonly PromptMessage[],
  { ended, model = "" }: { ended?: AbortSignal | undefined; model?: string } = {},
): Promise<PromptMemory> {
  const { memory, user } = options;
  if (options.context === false) return NO_MEMORY;
  const context = contextFor(model, options.context);
  return guarded<PromptMemory, MemoryFailure>(
    options,
    (signal) => {
      const read = (id: string | undefined) =>
        promptMemory({ memory, user, thread: id, context }, messages, { signal });
      return thread === undefined ? read(undefined) : thread.use(signal, read);
    },
    { otherwise: NO_MEMORY, failure: () => ({ doing: "context" }), ended },
  );
}
