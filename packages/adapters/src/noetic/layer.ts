import type { Hit, Memory, RememberBody } from "../../../client/src/shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { episodeOf, turnOf } from "./episode.ts";
import type { ExecutionContext, Item, ItemLog } from "./interfaces.ts";
import { type CairnFunctions, functionsOf } from "./layer-functions.ts";
import {
  type CairnLayerOptions,
  type FunctionName,
  type LayerBudget,
  type Provided,
  requireLayerOptions,
} from "./layer-options.ts";
import { TIMEOUT_MS, withinLimit } from "../limits/time-limit.ts";
import { ownerOf } from "./owners.ts";
import { RunMemories, withBlocks } from "./run-memories.ts";
import { saysAnything, turnsIn, withNew } from "./turns.ts";

type State = { user: string };
type RecallRun = { query: string; log: ItemLog; ctx: ExecutionContext; budget: number };
type HistoryRun<I extends Item> = { items: readonly I[]; ctx: ExecutionContext };
type StoreRun = { newItems: Item[]; log: ItemLog; ctx: ExecutionContext };
type ProvidedBy<P extends Provided> = P extends readonly (infer Name)[]
  ? Pick<CairnFunctions<State>, Extract<Name, FunctionName>>
  : P extends false
    ? Record<string, never>
    : CairnFunctions<State>;

/** The layer, as a `MemoryLayer` of core 3.x and a `ContextLayer` of core 5.x. */
export type CairnLayer<P extends Provided = true> = {
  id: "cairn";
  name: string;
  slot: number;
  /** Noetic keeps what an eventual layer recalled by its scope: that of a run is the execution. */
  scope: "resource" | "execution";
  /** Puts the stable block before the history, where a provider caches it. */
  placement: "anchor";
  budget: { min: number; max: number } | "auto";
  recallMode: "atomic" | "eventual";
  onInitError: "throw" | "disable";
  /** Timeouts in milliseconds; they also abort the hooks' own calls. */
  timeouts: { init?: number; recall: number; store: number };
  hooks: {
    init(run: { ctx: ExecutionContext }): Promise<{ state: State }>;
    recall(run: RecallRun): Promise<string | null>;
    projectHistory<I extends Item>(run: HistoryRun<I>): Promise<{ items: readonly I[] }>;
    store(run: StoreRun): Promise<undefined>;
  };
  provides: ProvidedBy<P>;
};

const SLOT = 300;
/** The usual, the least and the greatest budget of a context in tokens, and the longest query in bytes (src/domain). */
const BUDGET = 2_000;
const LEAST_BUDGET = 100;
const MOST_BUDGET = 100_000;
const LONGEST_QUERY = 256 * 1024;

/**
 * A layer of Noetic over Cairn's contexts and memories. Before a model call it puts the stable block before the history, and
 * each turn's block into the user's message that it was made for. It stores the turn after the call. Its functions `remember`
 * and `recall` are tools of the model. Hooks and functions reject with `CairnError`; Noetic reports failures of `recall` and
 * `store`, and goes on. Throws a `TypeError` for an invalid option.
 *
 * @example
 * const layers = [cairnLayer({ memory, z, user: "alice" })]; // `memory` in core 3.x, `contextLayers` in 5.x
 */
export function cairnLayer<const P extends Provided = true>(options: CairnLayerOptions<P>): CairnLayer<P> {
  requireLayerOptions(options);
  const { memory, z, scope, slot = SLOT, recallMode = "atomic", toMemory = episodeOf } = options;
  const { onInitError = "throw", provides = true, context = {} } = options;
  const { timeoutMs = TIMEOUT_MS } = options;
  const { init, recall: recallMs = timeoutMs, store: storeMs = timeoutMs } = options.timeouts ?? {};
  const timeouts = { ...(init !== undefined && { init }), recall: recallMs, store: storeMs };
  const budget = layerBudget(options.budget ?? context.budget ?? BUDGET);
  const greatest = Math.min(budget === "auto" ? MOST_BUDGET : budget.max, context.budget ?? MOST_BUDGET);
  const runs = new RunMemories();
  const userOf = ({ resourceId, threadId }: ExecutionContext): string => {
    if (options.user !== undefined) return options.user;
    return resourceId === undefined ? ownerOf("thread", threadId) : ownerOf("resource", resourceId);
  };
  const find = async (ctx: ExecutionContext, query: string, most: number): Promise<Hit[]> => {
    const asked = truncateUtf8(query.trim(), LONGEST_QUERY);
    if (asked === "") return [];
    const body = { query: asked, k: most, scope, owners: context.owners, window: 0 };
    const found = await withinLimit({ timeoutMs: recallMs }, (signal) =>
      memory.recall(userOf(ctx), body, { signal }),
    );
    return found.hits;
  };
  const remember = (ctx: ExecutionContext, remembered: RememberBody): Promise<Memory> =>
    withinLimit({ timeoutMs: storeMs }, (signal) =>
      memory.memories.remember(
        userOf(ctx),
        { scope, ...remembered },
        { signal, trust: "model", adapter: "noetic" },
      ),
    );
  const functions = functionsOf<State>({ z, find, remember });
  return {
    id: "cairn",
    name: "Cairn",
    slot,
    scope: recallMode === "eventual" ? "execution" : "resource",
    placement: "anchor",
    budget,
    recallMode,
    onInitError,
    timeouts,
    hooks: {
      // Calls no server: a run for an invalid user fails here, before its first recall.
      init: async ({ ctx }) => ({ state: { user: userOf(ctx) } }),
      recall: async ({ query, log, ctx, budget: allotted }) => {
        const most = Math.floor(Math.min(greatest, allotted));
        if (most < LEAST_BUDGET) return null;
        const known = recallMode === "eventual" ? runs.of(ctx) : undefined;
        const reader = { memory, user: userOf(ctx), context: { ...context, scope, budget: most } };
        const read = (signal: AbortSignal) => runs.read(reader, { query, items: log.items, ctx, signal });
        const { first } = known ?? (await withinLimit({ timeoutMs: recallMs }, read));
        return first === "" ? null : first;
      },
      projectHistory: async ({ items, ctx }) => {
        const known = runs.of(ctx);
        return { items: known === undefined ? items : withBlocks(items, known) };
      },
      store: async ({ newItems, log, ctx }) => {
        const logged = saysAnything(newItems) ? turnsIn(withNew(log.items, newItems)).at(-1) : undefined;
        if (logged === undefined) return undefined;
        const turn = await turnOf(logged, ctx);
        const remembered = await toMemory(turn);
        if (remembered !== null) await remember(ctx, { source: turn.source, ...remembered });
        return undefined;
      },
    },
    // The functions that the option names are those of its type.
    provides: Object.fromEntries(
      Object.entries(functions).filter(([name]) =>
        typeof provides === "boolean" ? provides : provides.some((one) => one === name),
      ),
    ) as ProvidedBy<P>,
  };
}

const layerBudget = (budget: LayerBudget): CairnLayer["budget"] =>
  typeof budget === "number" ? { min: budget, max: budget } : budget;
