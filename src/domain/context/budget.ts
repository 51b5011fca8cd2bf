/**
 * A layer's items, the best first, each with its cost, and the cost of the layer around them. All in tokens. `order`: the places of
 * the items in the order in which they are taken, if it is another; then a smaller item takes the room that one has not.
 */
export type Priced = {
  min: number;
  max: number;
  around: number;
  costs: readonly number[];
  order?: readonly number[] | undefined;
};

/**
 * Chooses whole items within a budget: first each layer's minimum, then the rest, in the order of the layers. A layer keeps
 * its best items; an item that alone exceeds the layer's maximum is skipped. Returns the indexes of each layer's items.
 */
export function fitted(layers: readonly Priced[], budget: number): number[][] {
  const places = layers.map(() => new Set<number>());
  const used = layers.map(() => 0);
  let left = budget;
  const take = (limitOf: (layer: Priced) => number, isLast: boolean) => {
    for (const [i, layer] of layers.entries()) {
      const limit = Math.min(limitOf(layer), layer.max);
      const own = places[i] ?? new Set();
      for (const at of layer.order ?? layer.costs.keys()) {
        const item = layer.costs[at] ?? 0;
        if (own.has(at) || layer.around + item > layer.max) continue;
        const cost = item + (own.size === 0 ? layer.around : 0);
        if (cost > left || (used[i] ?? 0) + cost > limit) {
          // Within a minimum, smaller ones would take the room of a better one.
          if (layer.order === undefined || !isLast) break;
          continue;
        }
        own.add(at);
        used[i] = (used[i] ?? 0) + cost;
        left -= cost;
      }
    }
  };
  take(({ min }) => min, false);
  take(({ max }) => max, true);
  return places.map((own) => [...own].toSorted((a, b) => a - b));
}
