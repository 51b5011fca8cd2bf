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

/** What a prompt has without any configuration. */
export const USUAL_LAYERS: readonly ContextLayer[] = [
  { type: "profile" },
  { type: "facts" },
  { type: "summary" },
  { type: "recalled" },
];

/** The share of the budget that a layer takes at most, if its limit is `auto`. */
const SHARES: Record<LayerType, number> = {
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

/** The layers in their order. */
export function planned(layers: readonly ContextLayer[], budget: number): PlannedLayer[] {
  return layers
    .map((layer, i): PlannedLayer => {
      const { tokens = "auto", slot = i } = layer;
      const { min = 0, max = Math.floor(budget * SHARES[layer.type]) } = tokens === "auto" ? {} : tokens;
      const stable =
        !searches(layer) && layer.type !== "history" && !("mode" in layer && layer.mode === "atomic");
      return { layer, slot, min, max: Math.max(min, max), stable };
    })
    .toSorted((a, b) => a.slot - b.slot);
}
