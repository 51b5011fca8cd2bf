import type { LayerQuery } from "../../../src/domain/context/layers/layer.ts";
import { type LayerName, rulesOf } from "../../../src/domain/context/layers/rules.ts";
import { type PlannedLayer, searches } from "../../../src/domain/context/plan.ts";
import { worthShowing } from "../../../src/domain/context/worth-showing.ts";
import { isSmallTalk } from "../../../src/domain/context/small-talk.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { ContextRequest, LayerFound, Recall } from "../../../src/contract/user-memory.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { CANDIDATES } from "../recall/retrievers.ts";
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

/** The parts of a request that a search takes. */
type SearchRequest = Pick<
  ContextRequest,
  "owner" | "layers" | "query" | "scope" | "referenceDate" | "timeZone" | "answerable"
>;

/** The time of a layer's search. */
const SEARCH_MS = 2_000;
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
  async own(request: SearchRequest): Promise<LayerFound[]> {
    return (await this.#searchOwn(request)).map((one) => this.#itemsOf(one));
  }

  #itemsOf({ name, hits, ...found }: FoundPlaces): LayerFound {
    return { ...found, items: this.#items.itemsOf(name, hits, this.#now()) };
  }

  /** Searches this object, in the order of the layers that search. */
  #searchOwn(request: SearchRequest): Promise<FoundPlaces[]> {
    return Promise.all(
      request.layers.filter(({ layer }) => searches(layer)).map((layer) => this.#searchLayer(request, layer)),
    );
  }

  /** Searches a shared owner. Finds nothing, and the status says why, if its object fails or is late. */
  async #ofOwner(
    owner: UserHash,
    { request, layers }: { request: ContextRequest; layers: readonly PlannedLayer[] },
  ): Promise<LayerFound[]> {
    const ms = Math.max(...layers.map(({ layer }) => queryOf(layer)?.timeoutMs ?? SEARCH_MS));
    const began = this.#now();
    try {
      return await withDeadline(this.#shared.search(owner, request), ms);
    } catch (error) {
      console.error({ message: "a shared owner does not answer", error: String(error) });
      const status = error instanceof DeadlineExceeded ? ("late" as const) : ("failed" as const);
      return layers.map(() => ({ items: [], ms: this.#now() - began, status }));
    }
  }

  async #searchLayer(request: SearchRequest, { layer }: PlannedLayer): Promise<FoundPlaces> {
    const began = this.#now();
    const found = (some: Partial<FoundPlaces>): FoundPlaces => ({
      name: layer.type,
      hits: [],
      ms: this.#now() - began,
      status: "ok",
      ...some,
    });
    try {
      return found(await this.#hitsOf(request, layer));
    } catch (error) {
      if (error instanceof DeadlineExceeded) return found({ status: "late" });
      console.error({ message: "a layer of a context failed", layer: layer.type, error: String(error) });
      return found({ status: "failed" });
    }
  }

  /** The hits that are worth a line, and how sure the recall is if the layer decides by it. */
  async #hitsOf(
    request: SearchRequest,
    layer: PlannedLayer["layer"],
  ): Promise<Partial<Pick<FoundPlaces, "hits" | "recalled">>> {
    const { query, answerable } = request;
    const wanted = queryOf(layer);
    if (query === undefined || wanted === null) return {};
    const { decides = false } = rulesOf(layer);
    const mayAbstain = decides && answerable !== "off";
    if (mayAbstain && isSmallTalk(query.given)) return { recalled: { confidence: 0, isAnswerable: false } };
    const { minScore, timeoutMs = SEARCH_MS, whole = false } = wanted;
    const answer = await withDeadline(this.#recall.recall(recallOf(request, query, wanted)), timeoutMs);
    if (!answer.ok) throw new Error(answer.code);
    const { hits, confidence, isAnswerable, freshness } = answer.value;
    const judged = decides ? { recalled: { confidence, isAnswerable } } : {};
    if (mayAbstain && !isAnswerable) return judged;
    const documents = answerable === "off" ? Infinity : freshness.indexed;
    const worth =
      minScore === undefined
        ? worthShowing(hits, { confidence, documents })
        : hits.filter(({ score }) => score >= minScore);
    return { hits: this.#items.placesOf(worth, { whole }), ...judged };
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

const queryOf = (layer: PlannedLayer["layer"]): LayerQuery | null => rulesOf(layer).search?.(layer) ?? null;

function recallOf(
  { owner, layers, scope, referenceDate, timeZone, answerable }: SearchRequest,
  { text, vector, embeddedMs }: NonNullable<SearchRequest["query"]>,
  { k, isOpen, kinds, roles, tags = [] }: LayerQuery,
): Recall {
  const filter = {
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(scope !== undefined && { scope: [scope] }),
  };
  // The layer `instructions` shows them already.
  const showsInstructions = layers.some(({ layer }) => layer.type === "instructions");
  return {
    owner,
    query: text,
    answerable,
    ...(showsInstructions && { weights: { instructions: 0 } }),
    queryVector: vector,
    embeddedMs,
    k: Math.min(MOST_HITS, withSpare(k)),
    // Fewer than hits, as neighbours and other arms bring more.
    ...(isOpen === true && { candidates: CANDIDATES }),
    window: 0,
    ...(kinds && { kinds: [...kinds] }),
    ...(roles && { roles: [...roles] }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(referenceDate !== undefined && { referenceDate }),
    ...(timeZone !== undefined && { timeZone }),
  };
}
