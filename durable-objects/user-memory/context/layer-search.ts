import type { LayerName } from "../../../src/domain/context/block.ts";
import { type PlannedLayer, searches } from "../../../src/domain/context/layers.ts";
import { isSmallTalk } from "../../../src/domain/context/small-talk.ts";
import type { ContextLayer, ContextSection } from "../../../src/domain/schema/context.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import type { ContextRequest, Recall, Recalled } from "../contract.ts";
import type { RecallService } from "../recall/recall-service.ts";
import type { ContextItem, ContextItems } from "./context-items.ts";

/** The items of a layer, the best first. */
export type FoundLayer = {
  layer: PlannedLayer;
  items: readonly ContextItem[];
  ms: number;
  status: ContextSection["status"];
};
/** `confidence`: of the layer `recalled`. */
export type Searched = { found: readonly FoundLayer[]; confidence?: number; abstained?: true };

/** The time of a layer's search. */
const SEARCH_MS = 2_000;
/** The share of the best score that each hit of the layer `recalled` needs: others cost tokens and seldom help. */
const LEAST_SHARE = 0.1;
/** Hits of the layer `recalled` without `k`: no more than the candidates of each arm, which more would change. */
export const MOST_RECALLED = 32;
/** More hits than `k`, as some may be in the prompt already. */
const SPARE = 2;
const MOST_HITS = 100;

/** Searches by the query, for each layer that does. */
export class LayerSearch {
  readonly #recall: RecallService;
  readonly #items: ContextItems;
  readonly #now: () => number;

  constructor({ recall, items, now }: { recall: RecallService; items: ContextItems; now: () => number }) {
    this.#recall = recall;
    this.#items = items;
    this.#now = now;
  }

  async search(request: ContextRequest): Promise<Searched> {
    const isAuto = request.answerable === "auto";
    const given = request.query?.given;
    const isTalk = isAuto && given !== undefined && isSmallTalk(given);
    const searched = request.layers.filter(({ layer }) => searches(layer));
    const answers = await Promise.all(
      searched
        .filter((layer) => !(isTalk && isRecalled(layer)))
        .map((layer) => this.#searchLayer(request, layer)),
    );
    if (isTalk && searched.some(isRecalled))
      return { found: answers.map(({ found }) => found), confidence: 0, abstained: true };
    const main = answers.find(({ found, recalled }) => isRecalled(found.layer) && recalled);
    const abstains = isAuto && main?.recalled?.isAnswerable === false;
    return {
      found: answers.map(({ found }) =>
        abstains && isRecalled(found.layer) ? { ...found, items: [] } : found,
      ),
      ...(main?.recalled && { confidence: main.recalled.confidence }),
      ...(abstains && { abstained: true as const }),
    };
  }

  async #searchLayer(
    request: ContextRequest,
    planned: PlannedLayer,
  ): Promise<{ found: FoundLayer; recalled?: Recalled }> {
    const { layer } = planned;
    const wanted = wantedBy(layer);
    const began = this.#now();
    const found = (items: ContextItem[], status: FoundLayer["status"]): FoundLayer => ({
      layer: planned,
      items,
      ms: this.#now() - began,
      status,
    });
    if (request.query === undefined || wanted === null) return { found: found([], "ok") };
    try {
      const search = this.#recall.recall(recallOf(request, request.query, wanted));
      const answer = await within(wanted.timeoutMs, search);
      if (answer === LATE) return { found: found([], "late") };
      if (!answer.ok) throw new Error(answer.code);
      const { hits } = answer.value;
      const least = wanted.minScore ?? LEAST_SHARE * (hits[0]?.score ?? 0);
      const items = this.#items.ofHits(
        wanted.name,
        hits.filter(({ score }) => score >= least),
        { whole: wanted.whole, now: this.#now() },
      );
      return { found: found(items, "ok"), recalled: answer.value };
    } catch (error) {
      console.error({ message: "a layer of a context failed", layer: layer.type, error: String(error) });
      return { found: found([], "failed") };
    }
  }
}

const isRecalled = ({ layer }: PlannedLayer): boolean => layer.type === "recalled";

type Wanted = {
  name: LayerName;
  /** Hits that are searched for. */
  k: number;
  kinds?: RecallKind[] | undefined;
  roles?: string[] | undefined;
  tags?: string[] | undefined;
  /** A share of the best score unless set. */
  minScore: number | undefined;
  timeoutMs: number;
  /** Shows the whole text, and not its title. */
  whole: boolean;
};

/** What a layer searches for; null if for nothing. */
function wantedBy(layer: ContextLayer): Wanted | null {
  switch (layer.type) {
    case "recalled": {
      const { kinds, roles, tags, minScore, timeoutMs = SEARCH_MS } = layer;
      const k = layer.k === undefined ? MOST_RECALLED : SPARE * layer.k;
      return { name: "recalled", k, kinds, roles, tags, minScore, timeoutMs, whole: false };
    }
    case "procedures": {
      const { n = 5, tags, minScore = 0.3, timeoutMs = SEARCH_MS, show } = layer;
      return {
        name: "procedures",
        k: SPARE * n,
        kinds: ["procedure"],
        tags,
        minScore,
        timeoutMs,
        whole: show === "bodies",
      };
    }
    case "episodes": {
      const { similar = 3, tags, timeoutMs = SEARCH_MS } = layer;
      if (similar === 0) return null;
      return {
        name: "episodes",
        k: SPARE * similar,
        kinds: ["episode"],
        tags,
        minScore: 0,
        timeoutMs,
        whole: false,
      };
    }
    default:
      return null;
  }
}

function recallOf(
  { owner, scope, referenceDate, timeZone }: ContextRequest,
  { text, vector, embeddedMs }: NonNullable<ContextRequest["query"]>,
  { k, kinds, roles, tags = [] }: Wanted,
): Recall {
  const filter = { ...(tags.length > 0 && { tags }), ...(scope !== undefined && { scope: [scope] }) };
  return {
    owner,
    query: text,
    queryVector: vector,
    embeddedMs,
    k: Math.min(MOST_HITS, k),
    window: 0,
    ...(kinds && { kinds }),
    ...(roles && { roles }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(referenceDate !== undefined && { referenceDate }),
    ...(timeZone !== undefined && { timeZone }),
  };
}

const LATE = Symbol("late");

async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
