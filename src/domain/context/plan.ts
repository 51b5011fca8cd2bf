import type { ContextLayer } from "../schema/context.ts";
import { rulesOf } from "./layers/rules.ts";

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

/** True for a layer that depends on the query. */
export const searches = (layer: ContextLayer): boolean => rulesOf(layer).search !== undefined;

/** True for a layer of the thread's messages, which is in no block. */
export const isOfMessages = (layer: ContextLayer): boolean => rulesOf(layer).block === "messages";

const isStable = (layer: ContextLayer): boolean =>
  rulesOf(layer).block === "stable" && !("mode" in layer && layer.mode === "atomic");

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

/** Another layer of the turn's block leaves less. The stable block, which is made first, leaves the rest anyway. */
function shareOf(layer: ContextLayer, all: readonly ContextLayer[]): number {
  const { share, takesRest } = rulesOf(layer);
  if (takesRest !== true) return share;
  const others = all.filter((one) => one !== layer && !isStable(one) && !isOfMessages(one));
  return Math.max(share, 1 - others.reduce((sum, one) => sum + rulesOf(one).share, 0));
}
