import { blockFrame, itemText, renderBlock, sectionFrame } from "../../../src/domain/context/block.ts";
import { fitted } from "../../../src/domain/context/budget.ts";
import type { ContextItem, Shown } from "../../../src/domain/context/item.ts";
import { type LayerName, rulesOf } from "../../../src/domain/context/layers/rules.ts";
import type { CountTokens } from "../../../src/domain/context/tokens.ts";
import type { ContextCandidate, ContextSection } from "../../../src/domain/schema/context.ts";
import type { PlacedSection } from "../../../src/contract/user-memory.ts";
import { keyOf, type Rendering, shownKeys } from "./context-store.ts";
import type { FoundLayer } from "./layer-search.ts";

export type Section = { layer: LayerName; items: readonly ContextItem[] };
export type Fitted = { sections: Section[]; meta: ContextSection[]; candidates: ContextCandidate[] };

/** The form of a block: its look, and how its tokens are counted. */
export type Form = Rendering & { count: CountTokens };

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

/** The items of a layer that are new to the prompt, and those that it has. */
type NewsOfLayer = FoundLayer & { name: LayerName; known: readonly ContextItem[] };

/** Chooses what fits the budget, in tokens. Each item is shown once, in the first layer that has it. */
export function fittedSections(
  found: readonly (FoundLayer & { name: LayerName })[],
  fitting: Fitting,
): Fitted {
  const layers = newsOf(found, fitting);
  const chosen = choiceOf(layers, fitting);
  const shows = new Set(chosen.flat());
  const isLeftOut = (item: ContextItem) => !shows.has(item) && shownKeys(item.place).length > 1;
  if (fitting.hiding === undefined && layers.some(({ items }) => items.some(isLeftOut)))
    return fittedSections(found, { ...fitting, hiding: shows });
  return {
    sections: sectionsOf(layers, chosen).filter(({ items }) => items.length > 0),
    meta: layers.map((layer, i) => metaOf(layer, chosen[i] ?? [], fitting)),
    candidates: layers.flatMap(({ name, items, known }, i) => {
      const fits = new Set(chosen[i]);
      return [
        ...items.map((item) => candidateOf(name, item, fits.has(item) ? "fits" : "budget")),
        ...known.map((item) => candidateOf(name, item, "known")),
      ];
    }),
  };
}

/** As many new items of each layer as it shows at most. */
function newsOf(
  found: readonly (FoundLayer & { name: LayerName })[],
  { shown, hiding }: Fitting,
): NewsOfLayer[] {
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

/** The items of each layer that fit. */
function choiceOf(layers: readonly NewsOfLayer[], { budget, form }: Fitting): ContextItem[][] {
  const { format, count } = form;
  const kept = fitted(
    layers.map(({ layer, name, items }) => {
      const costs = items.map((item) => weightOf([item], form));
      const scores = items.map(({ score = 0 }) => score);
      const order = rulesOf(layer.layer).order?.(scores, costs);
      return {
        min: layer.min,
        max: layer.max,
        around: count(sectionFrame(name, format)),
        costs,
        ...(order !== undefined && { order }),
      };
    }),
    budget - tokensOf(blockFrame(format), count),
  );
  const chosen = layers.map(({ items }, i) => (kept[i] ?? []).flatMap((at) => items[at] ?? []));
  // A tokenizer may count more for the whole than for its parts.
  while (tokensOf(textOf(sectionsOf(layers, chosen), form), count) > budget)
    if (chosen.findLast(({ length }) => length > 0)?.pop() === undefined) break;
  return chosen;
}

const sectionsOf = (layers: readonly NewsOfLayer[], chosen: readonly ContextItem[][]): Section[] =>
  layers.map(({ name }, i) => ({ layer: name, items: chosen[i] ?? [] }));

const metaOf = (
  { layer, name, items, ms, status }: NewsOfLayer,
  some: readonly ContextItem[],
  { block, form }: Fitting,
): ContextSection => ({
  layer: name,
  slot: layer.slot,
  block,
  tokens: sectionTokens({ layer: name, items: some }, form),
  items: some.length,
  dropped: items.length - some.length,
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
