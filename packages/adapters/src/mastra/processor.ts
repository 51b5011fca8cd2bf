import { parseMemoryRequestContext } from "@mastra/core/memory";
import type { ProcessLLMRequestArgs, ProcessLLMRequestResult, Processor } from "@mastra/core/processors";
import type { Cairn } from "../../../client/src/cairn.ts";
import { isCairnError } from "../../../client/src/error.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { MemoryOptions } from "../context/memory-options.ts";
import { MEMORY_OPTIONS, requireMemoryOptions } from "../context/memory-options.ts";
import { memoryOf } from "../context/memory-of.ts";
import { type ContextThread, NamedThread } from "../context/named-thread.ts";
import { limited } from "../limits/time-limit.ts";
import { requireValid } from "../options/require-options.ts";
import { type PromptMemory, type ReadMemory, withBlocks } from "../context/prompt-memory.ts";
import { ThreadRecords } from "./thread-records.ts";

type Prompt = ProcessLLMRequestArgs["prompt"];

export type CairnProcessorOptions = Omit<MemoryOptions, "memory" | "context"> & {
  /** The client; its token may read the user's memory, and write the user's threads and entries. */
  memory: Cairn;
  /** Options of the context. */
  context?: Exclude<MemoryOptions["context"], false>;
  /** The prefix of `cairnStorage`; `mastra/` unless set. */
  prefix?: string;
};

/** Mastra's type of a processor that an agent takes names the method that it has. */
export type CairnProcessor = Processor<"cairn"> & {
  processLLMRequest: (args: ProcessLLMRequestArgs) => Promise<ProcessLLMRequestResult>;
};

const OPTIONS: OptionNames<CairnProcessorOptions> = { ...MEMORY_OPTIONS, prefix: true };

/**
 * An input processor that gives an agent memory. It changes only what the model gets: the stable block as a system message
 * behind the others, and each of the user's messages with the block that it was first sent with. Without `thread`, the blocks
 * are kept with the Cairn thread of Mastra's thread. Failures go to `onError` and break no answer, unless `strict`.
 *
 * @example
 * const agent = new Agent({ id: "a", name: "A", instructions, model, inputProcessors: [cairnProcessor({ memory, user: "alice" })] });
 */
export function cairnProcessor(options: CairnProcessorOptions): CairnProcessor {
  requireMemoryOptions("cairnProcessor", options, OPTIONS);
  const { memory, user, thread, context, prefix = "mastra/" } = options;
  // Without a context there is nothing that it does. JavaScript callers are not type-checked.
  requireValid("cairnProcessor", { context: (context as unknown) !== false }, "an object of options");
  const named = thread === undefined ? undefined : new NamedThread(options, thread);
  const records = new ThreadRecords({ memory: limited(memory, options), user, prefix });

  /** The thread of the option, or that of Mastra's thread. */
  const threadOf = (mastraThread: string | undefined) => {
    if (named !== undefined || mastraThread === undefined) return named;
    return {
      useInContext: (work: (thread: ContextThread) => Promise<ReadMemory>) =>
        inThreadOf(records, mastraThread, (threadId) => work({ threadId })),
    };
  };

  return {
    id: "cairn",
    name: "Cairn",
    async processLLMRequest({
      prompt,
      state,
      requestContext,
      abortSignal,
      model,
    }): Promise<ProcessLLMRequestResult> {
      // Blocks are counted by the user's messages, since processors may add others between two steps.
      const said = prompt.filter(({ role }) => role === "user");
      const before = state["memory"] as Given | undefined; // written below
      const given =
        before?.messages === said.length
          ? before
          : {
              messages: said.length,
              memory: await memoryOf(
                options,
                threadOf(parseMemoryRequestContext(requestContext)?.thread?.id),
                said,
                { ended: abortSignal, model: model.provider },
              ),
            };
      state["memory"] = given;
      return { prompt: withMemory(prompt, given.memory) };
    },
  };
}

/** The memory of a run, and how many messages of the user it is for: a run may get more of them. */
type Given = { messages: number; memory: PromptMemory };

/** Calls `work` with the Cairn thread of Mastra's thread; again with a new one if it was deleted. */
async function inThreadOf<T>(
  records: ThreadRecords,
  id: string,
  work: (cairnThread: string) => Promise<T>,
): Promise<T> {
  const record = await records.getOrBegin(id);
  try {
    return await work(record.cairnThread);
  } catch (error) {
    // A shared owner that the token may not read is not found either.
    const isThread = isCairnError(error) && error.details.some(({ path }) => path === "body.threadId");
    if (!isThread) throw error;
    return work((await records.beginAnew(record)).cairnThread);
  }
}

function withMemory(prompt: Prompt, { stable, blocks }: PromptMemory): Prompt {
  const at = prompt.flatMap(({ role }, index) => (role === "user" ? index : []));
  const placed = new Map(
    [...blocks].flatMap(([nth, block]) => (at[nth] === undefined ? [] : [[at[nth], block]])),
  );
  const told = withBlocks(prompt, { stable, blocks: placed });
  if (stable === "") return told;
  const first = told.findIndex(({ role }) => role !== "system");
  return told.toSpliced(first < 0 ? told.length : first, 0, { role: "system", content: stable });
}
