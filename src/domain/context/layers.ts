import type { ContextLayer, LayerType } from "../schema/context.ts";

/** A layer with its order and its limits in tokens. */
export type PlannedLayer = {
  layer: ContextLayer;
  slot: number;
  min: number;
  max: number;
  /** True for a layer of the stable block. */
  stable: boolean;
};

/** The layers of a prompt without any configuration. */
export const USUAL_LAYERS: readonly ContextLayer[] = [
  { type: "instructions" },
  { type: "profile" },
  { type: "facts" },
  { type: "summary" },
  { type: "recalled" },
];

/** The share of the budget that a layer takes at most, if its limit is `auto`. `recalled` takes what others leave. */
const SHARES: Record<LayerType, number> = {
  instructions: 0.15,
  profile: 0.2,
  facts: 0.2,
  reflections: 0.1,
  procedures: 0.2,
  episodes: 0.2,
  entries: 0.3,
  summary: 0.3,
  recalled: 0.6,
  history: 1,
};
const SEARCHES: ReadonlySet<LayerType> = new Set(["procedures", "episodes", "recalled"]);

/** True for a layer that depends on the query. */
export const searches = ({ type }: ContextLayer): boolean => SEARCHES.has(type);

const isStable = (layer: ContextLayer): boolean =>
  !searches(layer) && layer.type !== "history" && !("mode" in layer && layer.mode === "atomic");

/** The layers in their order. */
export function planned(layers: readonly ContextLayer[], budget: number): PlannedLayer[] {
  return layers
    .map((layer, i): PlannedLayer => {
      const { tokens = "auto", slot = i } = layer;
      const share = shareOf(layer, layers);
      const { min = 0, max = Math.floor(budget * share) } = tokens === "auto" ? {} : tokens;
      return { layer, slot, min, max: Math.max(min, max), stable: isStable(layer) };
    })
    .toSorted((a, b) => a.slot - b.slot);
}

/** A layer of the turn's block leaves `recalled` less. The stable block, which is made first, leaves it the rest anyway. */
function shareOf(layer: ContextLayer, all: readonly ContextLayer[]): number {
  const own = SHARES[layer.type];
  if (layer.type !== "recalled") return own;
  const others = all.filter((one) => one !== layer && !isStable(one) && one.type !== "history");
  return Math.max(own, 1 - others.reduce((sum, { type }) => sum + SHARES[type], 0));
}
