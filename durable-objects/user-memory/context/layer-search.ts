import type { LayerName } from "../../../src/domain/context/block.ts";
import { type PlannedLayer, searches } from "../../../src/domain/context/layers.ts";
import { worthShowing } from "../../../src/domain/context/worth-showing.ts";
import { isSmallTalk } from "../../../src/domain/context/small-talk.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { ContextLayer } from "../../../src/domain/schema/context.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { ContextRequest, LayerFound, Recall } from "../../../src/contract/user-memory.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { CANDIDATES } from "../recall/arms.ts";
import type { ContextItems, ScoredPlace } from "./context-items.ts";
import type { SharedOwners } from "./shared-owners.ts";

/** The items of a layer, the best first. */
export type FoundLayer = Omit<LayerFound, "recalled"> & { layer: PlannedLayer };

/** The finds of a layer's search in this object: places, since the items there may be deleted until the answer is made. */
type FoundPlaces = Omit<LayerFound, "items"> & { name: LayerName; hits: readonly ScoredPlace[] };

/** `confidence`: of the layer `recalled`. */
export type Searched = {
  layers: readonly { layer: PlannedLayer; own: FoundPlaces; shared: readonly LayerFound[] }[];
  confidence?: number;
  abstained?: true;
};

/** The time of a layer's search. */
const SEARCH_MS = 2_000;
/** Hits of the layer `recalled`: the budget is the usual end. */
export const RECALLED = 50;
/** More hits than a layer shows, as some may be in the prompt already: a share of them, and at most so many. */
const [SPARE, MOST_SPARE] = [2, 10];
const MOST_HITS = 100;

/** Searches by the query, for each layer that does, in this object and in those of shared owners. */
export class LayerSearch {
  readonly #recall: RecallService;
  readonly #items: ContextItems;
  readonly #shared: SharedOwners;
  readonly #now: () => number;

  constructor({
    recall,
    items,
    shared,
    now,
  }: {
    recall: RecallService;
    items: ContextItems;
    shared: SharedOwners;
    now: () => number;
  }) {
    this.#recall = recall;
    this.#items = items;
    this.#shared = shared;
    this.#now = now;
  }

  async search(request: ContextRequest): Promise<Searched> {
    const layers = request.layers.filter(({ layer }) => searches(layer));
    if (layers.length === 0) return { layers: [] };
    const [own, ...others] = await Promise.all([
      this.#searchOwn(request),
      ...(request.owners ?? []).map((owner) => this.#ofOwner(owner, { request, layers })),
    ]);
    const recalled = [own, ...others].flat().flatMap((one) => one.recalled ?? []);
    const abstains =
      request.answerable !== "off" &&
      recalled.length > 0 &&
      recalled.every(({ isAnswerable }) => !isAnswerable);
    return {
      layers: own.flatMap((one, i) => {
        const layer = layers[i];
        return layer === undefined
          ? []
          : [{ layer, own: one, shared: others.flatMap((all) => all[i] ?? []) }];
      }),
      ...(recalled.length > 0 && { confidence: Math.max(...recalled.map(({ confidence }) => confidence)) }),
      ...(abstains && { abstained: true as const }),
    };
  }

  /** The items of what a search found that still exist. */
  found({ layers }: Searched): Map<PlannedLayer, FoundLayer> {
    return new Map(
      layers.map(({ layer, own, shared }) => [layer, merged([this.#itemsOf(own), ...shared], layer)]),
    );
  }

  /** Searches this object alone, for another one's context. */
  async own(request: ContextRequest): Promise<LayerFound[]> {
    return (await this.#searchOwn(request)).map((one) => this.#itemsOf(one));
  }

  #itemsOf({ name, hits, ...found }: FoundPlaces): LayerFound {
    return { ...found, items: this.#items.itemsOf(name, hits, this.#now()) };
  }

  /** Searches this object, in the order of the layers that search. */
  #searchOwn(request: ContextRequest): Promise<FoundPlaces[]> {
    return Promise.all(
      request.layers.filter(({ layer }) => searches(layer)).map((layer) => this.#searchLayer(request, layer)),
    );
  }

  /** Searches a shared owner. Finds nothing, and the status says why, if its object fails or is late. */
  async #ofOwner(
    owner: UserHash,
    { request, layers }: { request: ContextRequest; layers: readonly PlannedLayer[] },
  ): Promise<LayerFound[]> {
    const ms = Math.max(...layers.map(({ layer }) => wantedBy(layer)?.timeoutMs ?? SEARCH_MS));
    const began = this.#now();
    try {
      return await withDeadline(this.#shared.search(owner, request), ms);
    } catch (error) {
      console.error({ message: "a shared owner does not answer", error: String(error) });
      const status = error instanceof DeadlineExceeded ? ("late" as const) : ("failed" as const);
      return layers.map(() => ({ items: [], ms: this.#now() - began, status }));
    }
  }

  async #searchLayer(request: ContextRequest, { layer }: PlannedLayer): Promise<FoundPlaces> {
    const wanted = wantedBy(layer);
    const began = this.#now();
    const found = (hits: readonly ScoredPlace[], status: LayerFound["status"]): FoundPlaces => ({
      name: layer.type,
      hits,
      ms: this.#now() - began,
      status,
    });
    if (request.query === undefined || wanted === null) return found([], "ok");
    if (layer.type === "recalled" && request.answerable !== "off" && isSmallTalk(request.query.given))
      return { ...found([], "ok"), recalled: { confidence: 0, isAnswerable: false } };
    try {
      const search = this.#recall.recall(recallOf(request, request.query, wanted));
      const answer = await withDeadline(search, wanted.timeoutMs);
      if (!answer.ok) throw new Error(answer.code);
      const { hits, confidence, isAnswerable, freshness } = answer.value;
      if (layer.type === "recalled" && request.answerable !== "off" && !isAnswerable)
        return { ...found([], "ok"), recalled: { confidence, isAnswerable } };
      const { minScore } = wanted;
      const documents = request.answerable === "off" ? Infinity : freshness.indexed;
      const worth =
        minScore === undefined
          ? worthShowing(hits, { confidence, documents })
          : hits.filter(({ score }) => score >= minScore);
      const places = this.#items.placesOf(worth, { whole: wanted.whole });
      return {
        ...found(places, "ok"),
        ...(layer.type === "recalled" && { recalled: { confidence, isAnswerable } }),
      };
    } catch (error) {
      if (error instanceof DeadlineExceeded) return found([], "late");
      console.error({ message: "a layer of a context failed", layer: layer.type, error: String(error) });
      return found([], "failed");
    }
  }
}

const STATUSES: readonly LayerFound["status"][] = ["ok", "late", "failed"];

/** A layer of several owners, by score. Its status is the worst of theirs. */
function merged(all: readonly LayerFound[], layer: PlannedLayer): FoundLayer {
  const [own] = all;
  if (own !== undefined && all.length === 1)
    return { layer, items: own.items, ms: own.ms, status: own.status };
  const items = all.flatMap((one) => one.items).toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));
  const worst = Math.max(0, ...all.map(({ status }) => STATUSES.indexOf(status)));
  return {
    layer,
    items: [...new Map(items.toReversed().map((item) => [item.shown.text, item])).values()].toReversed(),
    ms: Math.max(0, ...all.map(({ ms }) => ms)),
    status: STATUSES[worst] ?? "failed",
  };
}

const withSpare = (k: number): number => Math.min(SPARE * k, k + MOST_SPARE);

type Wanted = {
  /** Hits that are searched for. */
  k: number;
  /** Documents that each arm finds: fewer than hits, as neighbours and other arms bring more. */
  candidates?: number;
  kinds?: RecallKind[] | undefined;
  roles?: string[] | undefined;
  tags?: string[] | undefined;
  /** A share of the best score unless set. */
  minScore: number | undefined;
  timeoutMs: number;
  /** Shows the whole text, and not its title. */
  whole: boolean;
};

/** The search of a layer; null if it has none. */
function wantedBy(layer: ContextLayer): Wanted | null {
  switch (layer.type) {
    case "recalled": {
      const { k = RECALLED, kinds, roles, tags, minScore, timeoutMs = SEARCH_MS } = layer;
      const candidates = layer.k === undefined ? { candidates: CANDIDATES } : {};
      return { k: withSpare(k), ...candidates, kinds, roles, tags, minScore, timeoutMs, whole: false };
    }
    case "procedures": {
      const { n = 5, tags, minScore = 0.3, timeoutMs = SEARCH_MS, show } = layer;
      return {
        k: withSpare(n),
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
        k: withSpare(similar),
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
  { owner, layers, scope, referenceDate, timeZone, answerable }: ContextRequest,
  { text, vector, embeddedMs }: NonNullable<ContextRequest["query"]>,
  { k, candidates, kinds, roles, tags = [] }: Wanted,
): Recall {
  const filter = { ...(tags.length > 0 && { tags }), ...(scope !== undefined && { scope: [scope] }) };
  // The layer `instructions` shows them already.
  const showsInstructions = layers.some(({ layer }) => layer.type === "instructions");
  return {
    owner,
    query: text,
    answerable,
    ...(showsInstructions && { weights: { instructions: 0 } }),
    queryVector: vector,
    embeddedMs,
    k: Math.min(MOST_HITS, k),
    ...(candidates !== undefined && { candidates }),
    window: 0,
    ...(kinds && { kinds }),
    ...(roles && { roles }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(referenceDate !== undefined && { referenceDate }),
    ...(timeZone !== undefined && { timeZone }),
  };
}
