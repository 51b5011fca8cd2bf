/** A layer's items, the best first, each with its cost, and the cost of the layer around them. All in tokens. */
export type Priced = { min: number; max: number; around: number; costs: readonly number[] };

/**
 * Chooses whole items within a budget: first each layer's minimum, then the rest, in the order of the layers. A layer keeps
 * its best items; an item that alone exceeds the layer's maximum is skipped. Returns the indexes of each layer's items.
 */
export function fitted(layers: readonly Priced[], budget: number): number[][] {
  const kept = layers.map((): number[] => []);
  const used = layers.map(() => 0);
  const next = layers.map(() => 0);
  let left = budget;
  const take = (limitOf: (layer: Priced) => number) => {
    for (const [i, layer] of layers.entries()) {
      const limit = Math.min(limitOf(layer), layer.max);
      for (let at = next[i] ?? 0; at < layer.costs.length; at++) {
        const cost = (layer.costs[at] ?? 0) + (kept[i]?.length === 0 ? layer.around : 0);
        next[i] = at;
        if (layer.around + (layer.costs[at] ?? 0) <= layer.max) {
          if (cost > left || (used[i] ?? 0) + cost > limit) break;
          kept[i]?.push(at);
          used[i] = (used[i] ?? 0) + cost;
          left -= cost;
        }
        next[i] = at + 1;
      }
    }
  };
  take(({ min }) => min);
  take(({ max }) => max);
  return kept;
}
