import {
  type ContextOptions,
  NO_MEMORY,
  type PromptMemory,
  promptMemory,
  type PromptMessage,
} from "./prompt-memory.ts";
import type { Cairn } from "../../cairn.ts";
import { type ContextFailure, guarded, type GuardOptions } from "./guarded.ts";

/** The providers whose caches Cairn knows; the SDK names a model's as in `openai.responses`. */
const PROVIDERS = ["anthropic", "openai", "google"] as const;

/** The options of a context for a model of a provider, as the AI SDK names it: its cache has a lifetime of its own. */
function contextFor(model: string, context: ContextOptions | undefined): ContextOptions {
  const provider = PROVIDERS.find((name) => model.startsWith(name));
  return { ...(provider && { provider }), ...context };
}

/** A thread that an adapter finds, and finds again if it was deleted. */
type FoundThread = { use<T>(signal: AbortSignal, work: (id: string) => Promise<T>): Promise<T> };

type Reader<Failure extends { doing: string }> = GuardOptions<Failure> & {
  memory: Pick<Cairn, "context">;
  user: string;
  context?: ContextOptions | false | undefined;
};

/**
 * The memory of a prompt; `model` is the name of the model's provider. None if `context` is false, or if the call failed and
 * `strict` is not set.
 */
export async function memoryOf<Failure extends { doing: string }>(
  options: Reader<Failure | ContextFailure>,
  thread: FoundThread | undefined,
  messages: readonly PromptMessage[],
  { ended, turn, model = "" }: { ended?: AbortSignal | undefined; turn?: AbortSignal; model?: string } = {},
): Promise<PromptMemory> {
  const { memory, user } = options;
  if (options.context === false) return NO_MEMORY;
  const context = contextFor(model, options.context);
  return guarded<PromptMemory, Failure | ContextFailure>(
    options,
    (signal) => {
      const read = (id: string | undefined) =>
        promptMemory({ memory, user, thread: id, context }, messages, { signal });
      return thread === undefined ? read(undefined) : thread.use(signal, read);
    },
    { otherwise: NO_MEMORY, failure: () => ({ doing: "context" }), ended, turn },
  );
}
