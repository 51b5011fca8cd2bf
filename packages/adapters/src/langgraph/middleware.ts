import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type CairnContextOptions, prompter } from "./context.ts";

/** What a middleware gets of a run: the config that its caller gave, its context, and its signal. */
export type CairnRuntime = Pick<RunnableConfig, "configurable" | "signal"> & { context?: unknown };

export type CairnMiddlewareOptions = Omit<
  CairnContextOptions<{ messages: BaseMessage[] }, CairnRuntime>,
  "prompt"
>;

/** The part of a request of the package `langchain` that memory reads and changes. */
type ModelRequest = { systemMessage?: SystemMessage; messages: BaseMessage[]; runtime: CairnRuntime };

/** A middleware of the package `langchain`, to its compiler too. */
export type CairnMiddleware = {
  name: string;
  wrapModelCall<Request extends ModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
};

/**
 * A middleware of `createAgent` that gives a model memory: the stable block behind the instructions, and a block before the text of
 * each of the user's messages. Only the model's call changes, so the agent's state and its checkpoints have no blocks. Failures go
 * to `onError`, unless `strict`; a missing user is a `TypeError`.
 *
 * @example
 * const agent = createAgent({ model, tools, systemPrompt: "Be brief.", middleware: [cairnMiddleware({ memory, user })] });
 */
export function cairnMiddleware(options: CairnMiddlewareOptions): CairnMiddleware {
  const prompt = prompter<{ messages: BaseMessage[] }, CairnRuntime>("cairnMiddleware", options);
  return {
    name: "Cairn",
    wrapModelCall: async (request, handler) => {
      // An agent without instructions has an empty message for them.
      const { systemMessage = new SystemMessage(""), runtime } = request;
      const messages = [systemMessage, ...request.messages];
      const [instructions, ...others] = await prompt({ messages }, runtime);
      return handler({ ...request, systemMessage: instructions, messages: others });
    },
  };
}
