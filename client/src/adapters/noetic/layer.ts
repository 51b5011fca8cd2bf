import type { z } from "zod";
import type { Cairn } from "../../cairn.ts";
import type { CallOptions } from "../../options.ts";
import type { Hit, Memory, RecallBody, RememberBody } from "../../shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { requireUserIfGiven } from "../options/require-options.ts";
import type { OptionNames } from "../../known-options.ts";
import { episodeOf, notIn, turnOf } from "./episode.ts";
import type { ExecutionContext, Item, ItemLog } from "./interfaces.ts";
import { type CairnFunctions, functionsOf } from "./layer-functions.ts";
import { ownerOf } from "./owners.ts";
import { recalledBlock } from "./recalled-block.ts";
import { lastSaid, saysAnything, type Turn, turnsIn, withNew } from "./turns.ts";

export type CairnLayerOptions = Pick<RecallBody, "kinds" | "minScore" | "owners"> & {
  memory: Cairn;
  /** Your zod (4): Noetic requires its schemas for functions, and this package has none. */
  z: typeof z;
  /** The user whose memory it is; unless set, the run's resource, or its thread if it has none. */
  user?: string;
  /** A scope, such as a project; limits both recall and storage to it. */
  scope?: string;
  /** The most memories of a recall, to 100; 10 unless set. */
  k?: number;
  /** The recall's budget in tokens; 200 to 2,000 unless set. */
  budget?: { min: number; max: number };
  /** Converts a turn to a memory, or to null for none; an episode of its texts unless set. */
  toMemory?: (turn: Turn) => RememberBody | null | Promise<RememberBody | null>;
};

const OPTIONS: OptionNames<CairnLayerOptions> = {
  memory: true,
  z: true,
  user: true,
  scope: true,
  k: true,
  kinds: true,
  minScore: true,
  owners: true,
  budget: { min: true, max: true } satisfies OptionNames<CairnLayerOptions["budget"]>,
  toMemory: true,
};

type State = { user: string };
type RecallRun = { query: string; log: ItemLog; ctx: ExecutionContext; budget: number };
type StoreRun = { newItems: Item[]; log: ItemLog; ctx: ExecutionContext };

/** The layer, as a `MemoryLayer` of core 3.x and a `ContextLayer` of core 5.x. */
export type CairnLayer = {
  id: "cairn";
  name: string;
  slot: number;
  scope: "resource";
  /** Puts the recall after the history, so that the prompt before it can be cached. */
  placement: "live";
  budget: { min: number; max: number };
  /** Timeouts in milliseconds; they also abort the hooks' own calls. */
  timeouts: { recall: number; store: number };
  hooks: {
    init(run: { ctx: ExecutionContext }): Promise<{ state: State }>;
    recall(run: RecallRun): Promise<string | null>;
    store(run: StoreRun): Promise<undefined>;
  };
  provides: CairnFunctions<State>;
};

const SLOT = 300;
const TIMEOUTS = { recall: 5_000, store: 30_000 };
/** The longest query in bytes (src/domain/limits.ts). */
const LONGEST_QUERY = 256 * 1024;

/**
 * A layer of Noetic over Cairn's memories. It recalls before each model call, and stores the turn after it. Its
 * functions `remember` and `recall` are tools of the model. Hooks and functions reject with `CairnError`; Noetic
 * reports failures of `recall` and `store`, and goes on.
 *
 * @example
 * const layers = [cairnLayer({ memory, z, user: "alice" })]; // `memory` in core 3.x, `contextLayers` in 5.x
 */
export function cairnLayer(options: CairnLayerOptions): CairnLayer {
  requireUserIfGiven("cairnLayer", options, OPTIONS);
  const { memory, z, k = 10, budget = { min: 200, max: 2_000 }, toMemory = episodeOf } = options;
  const { scope, kinds, minScore, owners } = options;
  const userOf = ({ resourceId, threadId }: ExecutionContext): string => {
    if (options.user !== undefined) return options.user;
    return resourceId === undefined ? ownerOf("thread", threadId) : ownerOf("resource", resourceId);
  };
  const find = async (ctx: ExecutionContext, query: string, most: number): Promise<Hit[]> => {
    const asked = truncateUtf8(query.trim(), LONGEST_QUERY);
    if (asked === "") return [];
    const body = { query: asked, k: most, kinds, minScore, owners, scope, window: 0 };
    return (await memory.recall(userOf(ctx), body, within(TIMEOUTS.recall))).hits;
  };
  const remember = (ctx: ExecutionContext, remembered: RememberBody): Promise<Memory> =>
    memory.memories.remember(userOf(ctx), { scope, ...remembered }, within(TIMEOUTS.store));
  return {
    id: "cairn",
    name: "Cairn",
    slot: SLOT,
    scope: "resource",
    placement: "live",
    budget,
    timeouts: TIMEOUTS,
    hooks: {
      // Calls no server: a run for an invalid user fails here, before its first recall.
      init: async ({ ctx }) => ({ state: { user: userOf(ctx) } }),
      recall: async ({ query, log, ctx, budget: most }) => {
        if (most <= 0) return null;
        // `harness.execute()` logs the user's words and runs its steps with an empty input, which becomes the query.
        const hits = await find(ctx, query.trim() === "" ? lastSaid(log.items) : query, k);
        const tokens = (text: string) => ctx.tokenize?.(text) ?? Math.ceil(text.length / 4);
        return recalledBlock(hits.filter(notIn(log, ctx)), { budget: most, tokens });
      },
      store: async ({ newItems, log, ctx }) => {
        const turn = saysAnything(newItems) ? turnsIn(withNew(log.items, newItems)).at(-1) : undefined;
        const remembered = turn === undefined ? null : await toMemory(turnOf(turn, ctx));
        if (remembered !== null) await remember(ctx, remembered);
        return undefined;
      },
    },
    provides: functionsOf({ z, k, find, remember }),
  };
}

const within = (ms: number): CallOptions => ({ signal: AbortSignal.timeout(ms) });
