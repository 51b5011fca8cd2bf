// Noetic cannot be had: a harness that calls a layer as `AgentHarness` does, in core 3.x and 5.x, when `execute()` is given
// the user's words. They go into the log of the thread's session, and the step tree is run with an empty input.
import { newId } from "../../src/new-id.ts";
import type { CairnLayer } from "../../src/adapters/noetic.ts";

type Item = { id: string; type: string; [field: string]: unknown };
type Log = { items: Item[] };
/** One call of the model: what it is sent, and the items that it answers with. */
type Model = (sent: readonly Item[]) => Item[];

const textPart = (role: string, text: string) => [
  { type: role === "assistant" ? "output_text" : "input_text", text },
];
export const message = (role: "user" | "assistant" | "developer", text: string): Item => ({
  id: newId(),
  type: "message",
  status: "completed",
  role,
  content: textPart(role, text),
});
export const functionCall = (name: string, args: object): Item => ({
  id: newId(),
  type: "function_call",
  callId: newId(),
  name,
  arguments: JSON.stringify(args),
});

/** The options that each version reads its layers from; others are ignored. */
type Options =
  | { version: 3; memory: CairnLayer[]; model: Model }
  | { version: 5; contextLayers: CairnLayer[]; model: Model };

const BUDGET = 2_000;

export class AgentHarness {
  readonly #options: Options;
  readonly #sessions = new Map<string, Log>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** One turn of a thread, rounds of tools included. */
  async execute(input: string, { threadId, resourceId }: { threadId: string; resourceId: string }) {
    const session = this.#sessions.get(threadId) ?? { items: [] };
    session.items.push(message("user", input));
    this.#sessions.set(threadId, session);
    // Core 3.x copies the session's items into the log of each turn, and back; in 5.x it is one log.
    const log = this.#options.version === 3 ? { items: [...session.items] } : session;
    const ctx = {
      executionId: newId(),
      threadId,
      resourceId,
      tokenize: (text: string) => Math.ceil(text.length / 4),
    };
    for (const layer of this.#layers) await layer.hooks.init({ ctx });
    await this.#step("", log, ctx);
    session.items = [...log.items];
  }

  get #layers(): CairnLayer[] {
    return this.#options.version === 3 ? this.#options.memory : this.#options.contextLayers;
  }

  async #step(input: string, log: Log, ctx: Parameters<CairnLayer["hooks"]["init"]>[0]["ctx"]) {
    for (;;) {
      const recalled: Item[] = [];
      for (const { hooks } of this.#layers) {
        const text = await hooks.recall({ query: input, log, ctx, budget: BUDGET });
        if (text !== null) recalled.push(message("developer", text));
      }
      const newItems = this.#options.model([...log.items, ...recalled]);
      log.items.push(...newItems);
      for (const { hooks } of this.#layers) await hooks.store({ newItems, log, ctx });
      const calls = newItems.filter(({ type }) => type === "function_call");
      if (calls.length === 0) return;
      for (const { callId } of calls)
        log.items.push({ id: newId(), type: "function_call_output", callId, output: "done" });
    }
  }
}
