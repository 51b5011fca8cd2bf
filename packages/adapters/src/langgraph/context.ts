import {
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  SystemMessage,
} from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { ContextReader } from "../context/context-reader.ts";
import type { ThreadOption } from "../context/named-thread.ts";
import {
  CONTEXT_CALL_OPTIONS,
  type ContextCallOptions,
  isText,
  requireContextOptions,
  requireThread,
} from "../context/require-context-options.ts";
import { requireMemory, requireUser, requireValid } from "../options/require-options.ts";
import { threadIdOf } from "./config.ts";
import { promptMessage, withMemory } from "./messages.ts";

/** The part of a graph's state that a prompt is made of. */
type MessagesState = { messages: BaseMessage[] };

/** `Config` is the type of the config that the functions among the options get. */
export type CairnContextOptions<
  State extends MessagesState = MessagesState,
  Config extends RunnableConfig = RunnableConfig,
> = ContextCallOptions & {
  /** The client; its token may read the users' memory, and write it where the thread is an agent's. */
  memory: Pick<Cairn, "context" | "threads">;
  /** The user whose memory is read, or a function that takes it from the run's config. */
  user: string | ((config: Config) => string);
  /**
   * Cairn's thread that keeps each turn's block: its id, an agent, or a function of the run's config. The agent
   * `langgraph/<thread_id>` unless set; none for a run without a `thread_id`, or where the function returns undefined.
   */
  thread?: ThreadOption | ((config: Config) => ThreadOption | undefined);
  /** The agent's instructions, or a function that makes the prompt without memory; the state's messages unless set. */
  prompt?:
    | string
    | SystemMessage
    | ((state: State, config: Config) => BaseMessageLike[] | Promise<BaseMessageLike[]>);
};

const OPTIONS: OptionNames<CairnContextOptions> = {
  memory: true,
  user: true,
  // `prompt` may be a message, whose fields are no options.
  prompt: true,
  thread: { agent: true },
  ...CONTEXT_CALL_OPTIONS,
};

/**
 * A `prompt` for LangGraph's prebuilt agent that gives a model memory: the stable block behind the instructions, and a
 * block before the text of each of the user's messages. The graph's state stays as it is. Failures go to `onError`,
 * unless `strict`; a missing user is a `TypeError`.
 *
 * @example
 * const agent = createReactAgent({ llm, tools, prompt: cairnPrompt({ memory, user: "alice", prompt: "Be brief." }) });
 */
export function cairnPrompt<
  State extends MessagesState = MessagesState,
  Config extends RunnableConfig = RunnableConfig,
>(options: CairnContextOptions<State, Config>): (state: State, config: Config) => Promise<BaseMessage[]> {
  return prompter("cairnPrompt", options);
}

/**
 * A node of a `StateGraph` around the node that calls the model: it gets the state with the messages of `cairnPrompt`,
 * and its updates are passed on. The graph's state has no blocks, so they reach no checkpoint.
 *
 * @example
 * graph.addNode("model", cairnContextNode({ memory, user: "alice" }, async ({ messages }) => ({
 *   messages: [await model.invoke(messages)],
 * })));
 */
export function cairnContextNode<
  Update,
  State extends MessagesState = MessagesState,
  Config extends RunnableConfig = RunnableConfig,
>(
  options: CairnContextOptions<State, Config>,
  node: (state: State, config: Config) => Update | Promise<Update>,
): (state: State, config: Config) => Promise<Update> {
  const prompt = prompter("cairnContextNode", options);
  requireValid("cairnContextNode", { node: typeof node === "function" }, "the function that calls the model");
  return async function cairnContext(state, config) {
    return node({ ...state, messages: await prompt(state, config) }, config);
  };
}

/** Makes the messages of a model's call: those of the state, with memory. */
export function prompter<State extends MessagesState, Config extends RunnableConfig>(
  made: string,
  options: CairnContextOptions<State, Config>,
): (state: State, config: Config) => Promise<BaseMessage[]> {
  requireOptions(made, options);
  const { memory, prompt } = options;
  const reader = new ContextReader(memory, options);
  return async function promptWithMemory(state, config) {
    const messages = await promptOf(prompt, state, config);
    const given = await reader.read({
      user: userOf(made, options.user, config),
      thread: threadOf(made, options.thread, config),
      messages: messages.map(promptMessage),
      ended: config.signal,
    });
    return withMemory(messages, given);
  };
}

/** The messages of a prompt without memory. */
async function promptOf<State extends MessagesState, Config extends RunnableConfig>(
  prompt: CairnContextOptions<State, Config>["prompt"],
  state: State,
  config: Config,
): Promise<BaseMessage[]> {
  if (typeof prompt === "function")
    return (await prompt(state, config)).map((message) => coerceMessageLikeToMessage(message));
  if (prompt === undefined) return state.messages;
  return [typeof prompt === "string" ? new SystemMessage(prompt) : prompt, ...state.messages];
}

/** Without the check, calls would go to a user named `undefined`. */
function userOf<Config>(made: string, user: string | ((config: Config) => string), config: Config): string {
  const found: unknown = typeof user === "function" ? user(config) : user;
  if (!isText(found)) throw new TypeError(`${made}: \`user\` returned no user for the run's config`);
  return found;
}

function threadOf<Config extends RunnableConfig>(
  made: string,
  thread: ThreadOption | ((config: Config) => ThreadOption | undefined) | undefined,
  config: Config,
): ThreadOption | undefined {
  if (typeof thread === "function") {
    const found = thread(config);
    requireThread(made, found);
    return found;
  }
  if (thread !== undefined) return thread;
  const id = threadIdOf(config);
  return id === undefined ? undefined : { agent: `langgraph/${id}` };
}

function requireOptions<State extends MessagesState, Config extends RunnableConfig>(
  made: string,
  options: CairnContextOptions<State, Config>,
): void {
  const given = options as CairnContextOptions<State, Config> | undefined;
  if (typeof given?.user === "function") requireMemory(made, options, OPTIONS);
  else requireUser(made, options, OPTIONS);
  requireContextOptions(made, options);
  if (typeof options.thread !== "function") requireThread(made, options.thread);
  const { prompt } = options;
  const valid =
    prompt === undefined ||
    ["string", "function"].includes(typeof prompt) ||
    SystemMessage.isInstance(prompt);
  requireValid(made, { prompt: valid }, "a text, a system message, or a function of the state");
}
