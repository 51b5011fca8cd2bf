import type { CallModelInputFilter } from "@openai/agents-core";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { ContextReader } from "../context/context-reader.ts";
import type { ThreadOption } from "../context/named-thread.ts";
import {
  CONTEXT_CALL_OPTIONS,
  type ContextCallOptions,
  requireContextOptions,
  requireThread,
} from "../context/require-context-options.ts";
import { requireUser } from "../options/require-options.ts";
import { contentWithBlock, isUserItem, promptMessage } from "./prompt.ts";

export type CairnInputFilterOptions = ContextCallOptions & {
  /** The client; its token may read the user's memory, and write it where the thread is an agent's. */
  memory: Pick<Cairn, "context" | "threads">;
  /** The user whose memory is read. */
  user: string;
  /** A thread's id, or the agent with whom the user's latest thread is. It keeps each turn's block. */
  thread?: ThreadOption;
};

const OPTIONS: OptionNames<CairnInputFilterOptions> = {
  memory: true,
  user: true,
  thread: { agent: true },
  ...CONTEXT_CALL_OPTIONS,
};

/**
 * A `callModelInputFilter` that gives a model memory in runs without a session: the stable block behind the agent's
 * instructions, and a block before the text of each of the user's messages. Only the model sees them. Failures go to
 * `onError`, unless `strict`.
 *
 * @example
 * await run(agent, history, { callModelInputFilter: cairnInputFilter({ memory, user: "alice", thread }) });
 */
export function cairnInputFilter(options: CairnInputFilterOptions): CallModelInputFilter {
  requireUser("cairnInputFilter", options, OPTIONS);
  requireContextOptions("cairnInputFilter", options);
  requireThread("cairnInputFilter", options.thread);
  const { memory, user, thread } = options;
  const reader = new ContextReader(memory, options, "openai");
  return async function addMemory({ modelData }) {
    const { input, instructions } = modelData;
    const { stable, blocks } = await reader.read({ user, thread, messages: input.map(promptMessage) });
    // The items are the filter's own copies. The SDK recognises them by their objects.
    for (const [index, block] of blocks) {
      const item = input[index];
      if (isUserItem(item)) item.content = contentWithBlock(item.content, block);
    }
    const system = [instructions, stable].filter((text) => text !== undefined && text !== "");
    return system.length === 0 ? { input } : { input, instructions: system.join("\n\n") };
  };
}
