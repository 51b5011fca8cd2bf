import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { isText } from "../context/require-context-options.ts";
import {
  BACKGROUND_INGEST_OPTIONS,
  BackgroundIngest,
  type BackgroundIngestOptions,
  requireIngestOptions,
} from "../ingest/background-ingest.ts";
import { requireMemory, requireUser } from "../options/require-options.ts";
import { threadIdOf } from "./config.ts";
import { identified } from "./messages.ts";

export type CairnMemoryManagerOptions<Config extends RunnableConfig = RunnableConfig> =
  BackgroundIngestOptions & {
    /** The client; its token may write the users' memory. */
    memory: Pick<Cairn, "ingest" | "later">;
    /** The user whose memory is written, or a function that takes it from the run's config. */
    user: string | ((config: Config) => string);
  };

/** Extracts memories from the conversations of a graph. */
export type CairnMemoryManager<Config extends RunnableConfig = RunnableConfig> = {
  /** A node behind the one that answers: submits the state's messages, and changes nothing. */
  node: (state: { messages: BaseMessage[] }, config: Config) => Record<string, never>;
  /** Submits a conversation, whole or from any message on. `config` names the thread. */
  submit(messages: readonly BaseMessage[], config: Config): void;
  /** The threads whose last turns are not stored yet. */
  readonly pending: string[];
  /** Sends all that waits, at the end of a process or a request. */
  settle(): Promise<void>;
};

const OPTIONS: OptionNames<CairnMemoryManagerOptions> = {
  memory: true,
  user: true,
  ...BACKGROUND_INGEST_OPTIONS,
};

/**
 * Stores the conversations of a graph in Cairn, and lets Cairn extract memories from them in the background, in place of
 * LangMem's store manager with a `ReflectionExecutor`. No call of a model is in the graph. A turn that follows within
 * `afterMs` takes the place of the one before. Throws a `TypeError` for an invalid option.
 *
 * @example
 * const manager = cairnMemoryManager({ memory, user: (config) => config.configurable?.user_id });
 * graph.addNode("remember", manager.node).addEdge("model", "remember");
 */
export function cairnMemoryManager<Config extends RunnableConfig = RunnableConfig>(
  options: CairnMemoryManagerOptions<Config>,
): CairnMemoryManager<Config> {
  const given = options as CairnMemoryManagerOptions<Config> | undefined;
  if (typeof given?.user === "function") requireMemory("cairnMemoryManager", options, OPTIONS);
  else requireUser("cairnMemoryManager", options, OPTIONS);
  requireIngestOptions("cairnMemoryManager", options);
  const ingest = new BackgroundIngest(options.memory, "langgraph", options);
  const submit = (messages: readonly BaseMessage[], config: Config): void => {
    const user: unknown = typeof options.user === "function" ? options.user(config) : options.user;
    if (!isText(user))
      throw new TypeError("cairnMemoryManager: `user` returned no user for the run's config");
    // A system message belongs to the app, and changes with it.
    const said = messages.map(identified).filter(({ role }) => role !== "system");
    const thread = threadIdOf(config);
    if (said.length === 0) return;
    ingest.submit({
      user,
      name: thread ?? "",
      body: { messages: said, ...(thread !== undefined && { sessionId: `langgraph/${thread}` }) },
    });
  };
  return {
    node(state, config) {
      submit(state.messages, config);
      return {};
    },
    submit,
    get pending() {
      return ingest.pending;
    },
    settle: () => ingest.settle(),
  };
}
