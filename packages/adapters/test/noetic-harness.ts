// Noetic cannot be had: a harness that calls layers as `AgentHarness` does, in core 3.x and 5.x, when `execute()` is given the
// user's words. They go into the log of the thread's session, and the step tree is run with an empty input. Before each call
// of the model, layers recall in the order of their slots, and project the history. In 5.x the first recall of an anchored
// layer is sent again in its thread, and a later one is added at the end.
import { newId } from "../../client/src/new-id.ts";
import type { CairnLayer, ExecutionContext, Provided } from "../src/noetic.ts";

export type Item = { id: string; type: string; [field: string]: unknown };
type Log = { items: Item[] };
type Layer = CairnLayer<Provided>;

/** One call of the model: what it is sent, and the items that it answers with. */
type Model = (sent: readonly Item[]) => Item[] | Promise<Item[]>;

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

type Common = {
  model: Model;
  /** Another layer's projection of the history, in slot 275. */
  history?: (items: readonly Item[]) => readonly Item[];
  /** What hooks failed with: Noetic reports it, and goes on. */
  report?: (hook: string, error: unknown) => void;
};
/** The options that each version reads its layers from; others are ignored. */
type Options = Common & ({ version: 3; memory: Layer[] } | { version: 5; contextLayers: Layer[] });

export class AgentHarness {
  readonly #options: Options;
  readonly #sessions = new Map<string, Log>();
  readonly #pins = new Map<string, string>();
  readonly #recalled = new Map<string, string | null>();

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
    const ctx = { executionId: newId(), threadId, resourceId };
    const layers: Layer[] = [];
    for (const layer of this.#layers) if (await this.#begins(layer, ctx)) layers.push(layer);
    await this.#step("", { log, ctx, layers });
    session.items = [...log.items];
  }

  get #layers(): Layer[] {
    return this.#options.version === 3 ? this.#options.memory : this.#options.contextLayers;
  }

  async #begins({ hooks, onInitError }: Layer, ctx: ExecutionContext): Promise<boolean> {
    try {
      await hooks.init({ ctx });
      return true;
    } catch (error) {
      this.#options.report?.("init", error);
      if (onInitError === "throw") throw error;
      return false;
    }
  }

  async #step(input: string, { log, ctx, layers }: { log: Log; ctx: ExecutionContext; layers: Layer[] }) {
    for (;;) {
      const sent = await this.#view(input, { log, ctx, layers });
      const newItems = await this.#options.model(sent);
      log.items.push(...newItems);
      for (const { hooks } of layers)
        await hooks
          .store({ newItems, log, ctx })
          .catch((error: unknown) => this.#options.report?.("store", error));
      const calls = newItems.filter(({ type }) => type === "function_call");
      if (calls.length === 0) return;
      for (const { callId } of calls)
        log.items.push({ id: newId(), type: "function_call_output", callId, output: "done" });
    }
  }

  async #view(input: string, { log, ctx, layers }: { log: Log; ctx: ExecutionContext; layers: Layer[] }) {
    const first: string[] = [];
    const updates: string[] = [];
    for (const layer of layers.toSorted((a, b) => a.slot - b.slot)) {
      const text = await this.#recall(layer, { input, log, ctx });
      if (this.#options.version === 3) {
        if (text !== null) first.push(text);
        continue;
      }
      const pin = `${ctx.threadId}:${layer.id}`;
      if (text !== null && !this.#pins.has(pin)) this.#pins.set(pin, text);
      const pinned = this.#pins.get(pin);
      if (pinned !== undefined) first.push(pinned);
      if (pinned !== undefined && pinned !== text)
        updates.push(`<update layer="${layer.id}">${text ?? "no longer applies"}</update>`);
    }
    return [
      ...first.map((text) => message("developer", text)),
      ...(await this.#history(log.items, { ctx, layers })),
      ...updates.map((text) => message("developer", text)),
    ];
  }

  async #recall(
    { id, scope, budget, recallMode, hooks }: Layer,
    { input, log, ctx }: { input: string; log: Log; ctx: ExecutionContext },
  ): Promise<string | null> {
    const key = `${scope === "execution" ? ctx.executionId : ctx.resourceId}:${id}`;
    const known = recallMode === "eventual" ? this.#recalled.get(key) : undefined;
    if (known !== undefined) return known;
    try {
      const least = budget === "auto" ? 2_000 : budget.min;
      const text = await hooks.recall({ query: input, log, ctx, budget: least });
      this.#recalled.set(key, text);
      return text;
    } catch (error) {
      this.#options.report?.("recall", error);
      return null;
    }
  }

  async #history(
    items: readonly Item[],
    { ctx, layers }: { ctx: ExecutionContext; layers: Layer[] },
  ): Promise<readonly Item[]> {
    const { history = (some: readonly Item[]) => some } = this.#options;
    const projections = [
      { slot: 275, project: async (some: readonly Item[]) => history(some) },
      ...layers.map(({ slot, hooks }) => ({
        slot,
        project: async (some: readonly Item[]) => (await hooks.projectHistory({ items: some, ctx })).items,
      })),
    ];
    let projected = items;
    for (const { project } of projections.toSorted((a, b) => a.slot - b.slot))
      projected = await project(projected);
    return projected;
  }
}
