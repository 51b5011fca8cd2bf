import { blockFrame, itemText, renderBlock, sectionFrame } from "../../../src/domain/context/block.ts";
import { fitted } from "../../../src/domain/context/budget.ts";
import type { ContextItem, Shown } from "../../../src/domain/context/item.ts";
import { type LayerName, rulesOf } from "../../../src/domain/context/layers/rules.ts";
import type { CountTokens } from "../../../src/domain/context/tokens.ts";
import type { ContextCandidate, ContextSection } from "../../../src/domain/schema/context.ts";
import type { PlannedLayer } from "../../../src/domain/context/plan.ts";
import type { LayerFound, PlacedSection } from "../../../src/contract/user-memory.ts";
import { keyOf, type Rendering, shownKeys } from "./context-store.ts";

export type Section = { layer: LayerName; items: readonly ContextItem[] };
/** The items of a layer's section, the best first. */
export type FoundLayer = Omit<LayerFound, "recalled"> & { layer: PlannedLayer; name: LayerName };
export type Fitted = { sections: Section[]; meta: ContextSection[]; candidates: ContextCandidate[] };

/** The form of a block: its look, and how its tokens are counted. */
export type Form = Rendering & { count: CountTokens };

/** Items that no search found, as those of a layer. */
export const layerOf = (
  layer: PlannedLayer,
  items: readonly ContextItem[],
  name: LayerName = layer.layer.type,
): FoundLayer => ({ layer, name, items, ms: 0, status: "ok" });

/** An item as a block shows it. */
function shownIn({ shown, id }: ContextItem, { sources }: Rendering): Shown {
  const suffix = `(id: ${id})`;
  return sources !== true || shown.text.endsWith(suffix)
    ? shown
    : { ...shown, text: `${shown.text} ${suffix}` };
}

/** The tokens of items by themselves. */
export const weightOf = (items: readonly ContextItem[], form: Form): number =>
  items.reduce((sum, item) => sum + form.count(itemText(shownIn(item, form), form.format)), 0);

export const sectionTokens = ({ layer, items }: Section, form: Form): number =>
  items.length === 0 ? 0 : Math.ceil(weightOf(items, form) + form.count(sectionFrame(layer, form.format)));

export const textOf = (sections: readonly Section[], look: Rendering): string =>
  renderBlock(
    sections.map(({ layer, items }) => ({ layer, items: items.map((item) => shownIn(item, look)) })),
    look.format,
  );

export const placed = (sections: readonly Section[]): PlacedSection[] =>
  sections.map(({ layer, items }) => ({ layer, places: items.map(({ place }) => place) }));

/** The whole tokens of a text. */
export const tokensOf = (text: string, count: CountTokens): number => Math.ceil(count(text));

type Fitting = {
  budget: number;
  form: Form;
  block: ContextSection["block"];
  shown: ReadonlySet<string>;
  /** The items that hide their messages, if not all do: those that fit. */
  hiding?: ReadonlySet<ContextItem>;
};

/** A layer whose items are new to the prompt. `known`: those that it has; `fits`: the new ones that fit. */
type FittedLayer = FoundLayer & { known: readonly ContextItem[]; fits: ContextItem[] };

/** Chooses what fits the budget, in tokens. Each item is shown once, in the first layer that has it. */
export function fittedSections(found: readonly FoundLayer[], fitting: Fitting): Fitted {
  const layers = fittedLayers(found, fitting);
  const shows = new Set(layers.flatMap(({ fits }) => fits));
  const isLeftOut = (item: ContextItem) => !shows.has(item) && shownKeys(item.place).length > 1;
  if (fitting.hiding === undefined && layers.some(({ items }) => items.some(isLeftOut)))
    return fittedSections(found, { ...fitting, hiding: shows });
  return {
    sections: sectionsOf(layers).filter(({ items }) => items.length > 0),
    meta: layers.map((layer) => metaOf(layer, fitting)),
    candidates: layers.flatMap(({ name, items, known }) => [
      ...items.map((item) => candidateOf(name, item, shows.has(item) ? "fits" : "budget")),
      ...known.map((item) => candidateOf(name, item, "known")),
    ]),
  };
}

/** The layers with what fits of each. */
function fittedLayers(found: readonly FoundLayer[], fitting: Fitting): FittedLayer[] {
  const { budget, form } = fitting;
  const { format, count } = form;
  const news = newsOf(found, fitting);
  const places = fitted(
    news.map(({ layer, name, items }) => {
      const costs = items.map((item) => weightOf([item], form));
      const scores = items.map(({ score = 0 }) => score);
      const order = rulesOf(layer.layer).order?.(scores, costs);
      return { ...layer, around: count(sectionFrame(name, format)), costs, order };
    }),
    budget - tokensOf(blockFrame(format), count),
  );
  const layers = news.map((one, i) => ({
    ...one,
    fits: (places[i] ?? []).flatMap((at) => one.items[at] ?? []),
  }));
  // A tokenizer may count more for the whole than for its parts.
  while (tokensOf(textOf(sectionsOf(layers), form), count) > budget)
    if (layers.findLast(({ fits }) => fits.length > 0)?.fits.pop() === undefined) break;
  return layers;
}

/** As many new items of each layer as it shows at most. */
function newsOf(found: readonly FoundLayer[], { shown, hiding }: Fitting): Omit<FittedLayer, "fits">[] {
  const seen = new Set(shown);
  return found.map((one) => {
    const { layer } = one.layer;
    const news = distinct(one.items).filter(({ place }) => !seen.has(keyOf(place)));
    const items = news.slice(0, rulesOf(layer).most?.(layer) ?? Infinity);
    const known = one.items.filter(({ place }) => seen.has(keyOf(place)));
    for (const item of items) {
      const hides = hiding === undefined || hiding.has(item);
      for (const key of hides ? shownKeys(item.place) : [keyOf(item.place)]) seen.add(key);
    }
    return { ...one, items, known };
  });
}

const sectionsOf = (layers: readonly FittedLayer[]): Section[] =>
  layers.map(({ name, fits }) => ({ layer: name, items: fits }));

const metaOf = (
  { layer, name, items, fits, ms, status }: FittedLayer,
  { block, form }: Fitting,
): ContextSection => ({
  layer: name,
  slot: layer.slot,
  block,
  tokens: sectionTokens({ layer: name, items: fits }, form),
  items: fits.length,
  dropped: items.length - fits.length,
  ms,
  status,
});

/** The first of items with one place. */
const distinct = (items: readonly ContextItem[]): ContextItem[] =>
  [...new Map(items.toReversed().map((item) => [keyOf(item.place), item])).values()].toReversed();

export const candidateOf = (
  layer: LayerName,
  { id, shown, score }: ContextItem,
  why: ContextCandidate["why"],
): ContextCandidate => ({ layer, id, text: shown.text, ...(score !== undefined && { score }), why });
