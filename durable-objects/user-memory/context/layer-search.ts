import type { LayerQuery } from "../../../src/domain/context/layers/layer.ts";
import { rulesOf } from "../../../src/domain/context/layers/rules.ts";
import { type PlannedLayer, searches } from "../../../src/domain/context/plan.ts";
import { worthShowing } from "../../../src/domain/context/worth-showing.ts";
import { isSmallTalk } from "../../../src/domain/context/small-talk.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { ContextRequest, LayerFound, Recall } from "../../../src/contract/user-memory.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { CANDIDATES } from "../recall/retrievers.ts";
import type { ContextItems } from "./context-items.ts";
import type { FoundLayer } from "./fitted-sections.ts";
import type { SharedOwners } from "./shared-owners.ts";

type SearchDependencies = {
  recall: RecallService;
  items: ContextItems;
  shared: SharedOwners;
  now: () => number;
};

/** The finds of a layer's search in one object. Its items are read for the answer: they may be deleted until then. */
type Finds = Omit<LayerFound, "items"> & { items: () => LayerFound["items"] };
/** The finds of a layer in each object. `confidence`: of the layer `recalled`. */
export type Searched = {
  layers: readonly { layer: PlannedLayer; finds: readonly Finds[] }[];
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
  readonly #deps: SearchDependencies;

  constructor(deps: SearchDependencies) {
    this.#deps = deps;
  }

  async search(request: ContextRequest): Promise<Searched> {
    const layers = request.layers.filter(({ layer }) => searches(layer));
    if (layers.length === 0) return { layers: [] };
    const objects = await Promise.all([
      this.#inOwn(request, layers),
      ...(request.owners ?? []).map((owner) => this.#inShared(owner, request, layers)),
    ]);
    const recalled = objects.flat().flatMap((one) => one.recalled ?? []);
    const abstains =
      request.answerable !== "off" &&
      recalled.length > 0 &&
      recalled.every(({ isAnswerable }) => !isAnswerable);
    return {
      layers: layers.map((layer, i) => ({ layer, finds: objects.flatMap((all) => all[i] ?? []) })),
      ...(recalled.length > 0 && { confidence: Math.max(...recalled.map(({ confidence }) => confidence)) }),
      ...(abstains && { abstained: true as const }),
    };
  }

  /** The items of what a search found that still exist. */
  found({ layers }: Searched): Map<PlannedLayer, FoundLayer> {
    return new Map(layers.map(({ layer, finds }) => [layer, merged(finds, layer)]));
  }

  /** Searches this object alone, for another one's context: in the order of the layers that search. */
  async own(request: SearchRequest): Promise<LayerFound[]> {
    const layers = request.layers.filter(({ layer }) => searches(layer));
    const finds = await this.#inOwn(request, layers);
    return finds.map(({ items, ...one }) => ({ ...one, items: items() }));
  }

  #inOwn(request: SearchRequest, layers: readonly PlannedLayer[]): Promise<Finds[]> {
    return Promise.all(layers.map(({ layer }) => this.#searchLayer(request, layer)));
  }

  /** Searches a shared owner. Finds nothing, and the status says why, if its object fails or is late. */
  async #inShared(
    owner: UserHash,
    request: ContextRequest,
    layers: readonly PlannedLayer[],
  ): Promise<Finds[]> {
    const { shared, now } = this.#deps;
    const ms = Math.max(...layers.map(({ layer }) => queryOf(layer)?.timeoutMs ?? SEARCH_MS));
    const began = now();
    try {
      const found = await withDeadline(shared.search(owner, request), ms);
      return found.map(({ items, ...one }) => ({ ...one, items: () => items }));
    } catch (error) {
      console.error({ message: "a shared owner does not answer", error: String(error) });
      return layers.map(() => nothing(error, now() - began));
    }
  }

  async #searchLayer(request: SearchRequest, layer: PlannedLayer["layer"]): Promise<Finds> {
    const { now } = this.#deps;
    const began = now();
    try {
      const found = await this.#hitsOf(request, layer);
      return { ...found, ms: now() - began, status: "ok" };
    } catch (error) {
      if (!(error instanceof DeadlineExceeded))
        console.error({ message: "a layer of a context failed", layer: layer.type, error: String(error) });
      return nothing(error, now() - began);
    }
  }

  /** The hits that are worth a line, and how sure the recall is if the layer decides by it. */
  async #hitsOf(
    request: SearchRequest,
    layer: PlannedLayer["layer"],
  ): Promise<Pick<Finds, "items" | "recalled">> {
    const { recall, items, now } = this.#deps;
    const { query, answerable } = request;
    const wanted = queryOf(layer);
    if (query === undefined || wanted === null) return { items: NONE };
    const { decides = false } = rulesOf(layer);
    const mayAbstain = decides && answerable !== "off";
    if (mayAbstain && isSmallTalk(query.given))
      return { items: NONE, recalled: { confidence: 0, isAnswerable: false } };
    const { minScore, timeoutMs = SEARCH_MS, whole = false } = wanted;
    const answer = await withDeadline(recall.recall(recallOf(request, query, wanted)), timeoutMs);
    if (!answer.ok) throw new Error(answer.code);
    const { hits, confidence, isAnswerable, freshness } = answer.value;
    const recalled = decides ? { confidence, isAnswerable } : undefined;
    if (mayAbstain && !isAnswerable) return { items: NONE, recalled };
    const documents = answerable === "off" ? Infinity : freshness.indexed;
    const worth =
      minScore === undefined
        ? worthShowing(hits, { confidence, documents })
        : hits.filter(({ score }) => score >= minScore);
    const places = items.placesOf(worth, { whole });
    return { items: () => items.itemsOf(layer.type, places, now()), recalled };
  }
}

const NONE = () => [];
const STATUSES: readonly LayerFound["status"][] = ["ok", "late", "failed"];

const nothing = (error: unknown, ms: number): Finds => ({
  items: NONE,
  ms,
  status: error instanceof DeadlineExceeded ? "late" : "failed",
});

/** A layer of several objects, by score. Its status is the worst of theirs. */
function merged(finds: readonly Finds[], layer: PlannedLayer): FoundLayer {
  const name = layer.layer.type;
  const all = finds.flatMap(({ items }) => items());
  const worst = Math.max(0, ...finds.map(({ status }) => STATUSES.indexOf(status)));
  const ms = Math.max(0, ...finds.map((one) => one.ms));
  const status = STATUSES[worst] ?? "failed";
  if (finds.length === 1) return { layer, name, items: all, ms, status };
  const byScore = all.toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));
  const distinct = new Map(byScore.toReversed().map((item) => [item.shown.text, item]));
  return { layer, name, items: [...distinct.values()].toReversed(), ms, status };
}

const withSpare = (k: number): number => Math.min(SPARE * k, k + MOST_SPARE);

const queryOf = (layer: PlannedLayer["layer"]): LayerQuery | null => rulesOf(layer).search?.(layer) ?? null;

function recallOf(
  { owner, layers, scope, referenceDate, timeZone, answerable }: SearchRequest,
  { text, vector, embeddedMs }: NonNullable<SearchRequest["query"]>,
  { k, isOpen = false, kinds, roles, tags = [] }: LayerQuery,
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
    weights: showsInstructions ? { instructions: 0 } : undefined,
    queryVector: vector,
    embeddedMs,
    k: Math.min(MOST_HITS, withSpare(k)),
    // Fewer than hits, as neighbours and other retrievers bring more.
    candidates: isOpen ? CANDIDATES : undefined,
    window: 0,
    kinds: kinds && [...kinds],
    roles: roles && [...roles],
    filter: Object.keys(filter).length > 0 ? filter : undefined,
    referenceDate,
    timeZone,
  };
}
