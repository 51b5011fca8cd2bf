import {
  type ContextOptions,
  NO_MEMORY,
  promptMemory,
  type PromptMessage,
  type ReadMemory,
} from "./prompt-memory.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { type ContextFailure, guarded, type GuardOptions } from "./guarded.ts";
import type { ContextThread } from "./named-thread.ts";

/** The providers whose caches Cairn knows; the SDK names a model's as in `openai.responses`. */
const PROVIDERS = ["anthropic", "openai", "google"] as const;

/** The options of a context for a model of a provider, as the AI SDK names it: its cache has a lifetime of its own. */
function contextFor(model: string, context: ContextOptions | undefined): ContextOptions {
  const provider = PROVIDERS.find((name) => model.startsWith(name));
  return { ...(provider && { provider }), ...context };
}

/** A thread that an adapter finds, and finds again if it was deleted. */
export type FoundThread = {
  useInContext(work: (thread: ContextThread) => Promise<ReadMemory>): Promise<ReadMemory>;
};

type Reader<Failure extends { doing: string }> = GuardOptions<Failure> & {
  memory: Pick<Cairn, "context">;
  user: string;
  context?: ContextOptions | false | undefined;
};

type Asked = {
  ended?: AbortSignal | undefined;
  model?: string;
  /** Asks for so many of the thread's last messages. */
  history?: number;
};

/**
 * The memory of a prompt; `model` is the name of the model's provider. None if `context` is false, or if the call failed and
 * `strict` is not set.
 */
export async function memoryOf<Failure extends { doing: string }>(
  options: Reader<Failure | ContextFailure>,
  thread: FoundThread | undefined,
  messages: readonly PromptMessage[],
  { ended, model = "", history }: Asked = {},
): Promise<ReadMemory> {
  const { memory, user } = options;
  if (options.context === false) return NO_MEMORY;
  const context = contextFor(model, options.context);
  return guarded<ReadMemory, Failure | ContextFailure>(
    options,
    (signal) => {
      const read = (named: ContextThread | undefined) =>
        promptMemory({ memory, user, thread: named, context, history }, messages, { signal });
      return thread === undefined ? read(undefined) : thread.useInContext(read);
    },
    { otherwise: NO_MEMORY, failure: () => ({ doing: "context" }), ended },
  );
}
