// GemStack's own use of a ConversationStore: how `forUser(user).continue(id)` finds a thread's owner, and what a turn stores.
// And its agent's loop, as far as middleware and memory meet it.
import type { AiMessage, ConversationStore, UserMemory } from "../src/gemstack.ts";

/** What the SDK throws where a thread is another user's. */
export class OwnershipError extends Error {}

/** One turn of `agent.forUser(user).continue(id).prompt(text)`: answers the history that the model was shown. */
export async function continued(
  store: ConversationStore,
  id: string,
  { user, text = "Go on" }: { user?: string; text?: string },
): Promise<AiMessage[]> {
  if (!(await isAllowed(store, id, user))) throw new OwnershipError(`${id} is owned by a different user`);
  const history = await store.load(id);
  await store.append(id, [
    { role: "user", content: text },
    { role: "assistant", content: `An answer to: ${text}` },
  ]);
  return history;
}

/** `agent.forUser(user).prompt(text)`: goes on with the user's latest thread of the agent, or begins one. Answers its id. */
export async function prompted(store: ConversationStore, user: string, agent: string): Promise<string> {
  const [latest] = (await store.list(user)).filter((thread) => thread.agent === agent);
  const id = latest?.id ?? (await store.create(undefined, { userId: user, agent }));
  await store.append(id, [{ role: "user", content: `of ${user}` }]);
  return id;
}

async function isAllowed(store: ConversationStore, id: string, user: string | undefined): Promise<boolean> {
  const own = user === undefined ? [] : await store.list(user);
  if (own.some((thread) => thread.id === id)) return true;
  const all = await store.list();
  const listed = all.find((thread) => thread.id === id);
  if (listed !== undefined) return listed.userId === undefined || listed.userId === user;
  // Not listed counts as nobody's, unless the list is empty though the store holds something.
  if (user === undefined || all.length > 0) return true;
  return own.length === 0 && (await store.load(id)).length === 0;
}

type Config = { messages?: AiMessage[]; temperature?: number };
type Context = { requestId: string; iteration: number; messages: AiMessage[] };
export interface AiMiddleware {
  name: string;
  onConfig?(ctx: Context, config: Config, phase: "init" | "beforeModel"): Config | void;
  onStart?(ctx: Context): void | Promise<void>;
  onFinish?(ctx: Context): void | Promise<void>;
}

/** The SDK's own middleware: the facts that fit the user's last message go to the end of the instructions. */
export const withMemoryInject = (user: string, memory: UserMemory): AiMiddleware => ({
  name: "memory-inject",
  async onStart({ messages }) {
    const facts = await memory.recall(user, textOf(messages.findLast(({ role }) => role === "user")));
    const block = ["<user-memory>", ...facts.map(({ fact }) => `- ${fact}`), "</user-memory>"].join("\n");
    if (facts.length > 0) messages[0] = { role: "system", content: `${textOf(messages[0])}\n\n${block}` };
  },
});

/** Keeps what the SDK's auto-extract reads after a run: the last message of the user, and the answer to it. */
export const withMemoryExtract = (read: (user: string, assistant: string) => void): AiMiddleware => ({
  name: "memory-extract",
  onFinish({ messages }) {
    const answer = messages.findLastIndex(
      ({ role, toolCalls }) => role === "assistant" && !toolCalls?.length,
    );
    read(textOf(messages.slice(0, answer).findLast(({ role }) => role === "user")), textOf(messages[answer]));
  },
});

type AgentOptions = {
  store: ConversationStore;
  /** The agent's name: the most recent thread of the user with it goes on. */
  agent: string;
  instructions: string;
  /** Made for each run. */
  middleware: () => AiMiddleware[];
  /** Answers a prompt: a text, or the name of a tool to call. */
  model: (messages: readonly AiMessage[]) => { text: string } | { tool: string };
  prepareStep?: (step: number) => { system?: string };
};

export class AgentHost {
  readonly #options: AgentOptions;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** `agent.forUser(user).prompt(text)`: loads the thread, runs the loop, and appends the turn. */
  async prompt(user: string, text: string): Promise<string> {
    const { store, agent } = this.#options;
    const [latest] = (await store.list(user)).filter((thread) => thread.agent === agent);
    const id = latest?.id ?? (await store.create(undefined, { userId: user, agent }));
    const asked: AiMessage = { role: "user", content: text };
    const turn = await this.run([...(await store.load(id)), asked]);
    await store.append(id, [asked, ...turn]);
    return id;
  }

  /** `agent.prompt("", { messages })`: the loop over these messages; answers what the run added. */
  async run(given: readonly AiMessage[]): Promise<AiMessage[]> {
    const { instructions, middleware, model, prepareStep } = this.#options;
    const messages: AiMessage[] = [{ role: "system", content: instructions }, ...given];
    const ctx: Context = { requestId: crypto.randomUUID(), iteration: 0, messages };
    const all = middleware();
    const configure = (phase: "init" | "beforeModel") => {
      let config: Config = { messages, temperature: 0 };
      for (const one of all) config = one.onConfig?.(ctx, config, phase) ?? config;
      if (config.messages !== undefined) messages.splice(0, messages.length, ...config.messages);
    };
    configure("init");
    for (const one of all) await one.onStart?.(ctx);
    const added: AiMessage[] = [];
    for (; ctx.iteration < 5; ctx.iteration++) {
      const { system } = prepareStep?.(ctx.iteration) ?? {};
      if (system !== undefined) messages[0] = { role: "system", content: system };
      configure("beforeModel");
      const answer = model(structuredClone(messages));
      const news: AiMessage[] =
        "text" in answer
          ? [{ role: "assistant", content: answer.text }]
          : [
              {
                role: "assistant",
                content: "",
                toolCalls: [{ id: `c${added.length}`, name: answer.tool, arguments: {} }],
              },
              { role: "tool", content: "done", toolCallId: `c${added.length}` },
            ];
      messages.push(...news);
      added.push(...news);
      if ("text" in answer) break;
    }
    for (const one of all) await one.onFinish?.(ctx);
    return added;
  }
}

/** The text of a message, as the SDK reads it. */
export function textOf(message: AiMessage | undefined): string {
  const { content = "" } = message ?? {};
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
