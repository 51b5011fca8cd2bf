import {
  blockFrame,
  itemText,
  type LayerName,
  renderBlock,
  type Shown,
  sectionFrame,
} from "../../../src/domain/context/block.ts";
import { fitted } from "../../../src/domain/context/budget.ts";
import { inOrderOfWorth } from "../../../src/domain/context/worth-showing.ts";
import type { CountTokens } from "../../../src/domain/context/tokens.ts";
import type { ContextCandidate, ContextLayer, ContextSection } from "../../../src/domain/schema/context.ts";
import type { ContextItem, PlacedSection } from "../../../src/contract/user-memory.ts";
import { keyOf, type Look, shownKeys } from "./context-store.ts";
import { type FoundLayer, RECALLED } from "./layer-search.ts";

export type Section = { layer: LayerName; items: readonly ContextItem[] };
export type Fitted = { sections: Section[]; meta: ContextSection[]; candidates: ContextCandidate[] };

/** The form of a block: its look, and how its tokens are counted. */
export type Form = Look & { count: CountTokens };

/** An item as a block shows it. */
function shownIn({ shown, id }: ContextItem, { sources }: Look): Shown {
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

export const textOf = (sections: readonly Section[], look: Look): string =>
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

/** Chooses what fits the budget, in tokens. Each item is shown once, in the first layer that has it. */
export function fittedSections(
  found: readonly (FoundLayer & { name: LayerName })[],
  { budget, form, block, shown, hiding }: Fitting,
): Fitted {
  const { format, count } = form;
  const seen = new Set(shown);
  const layers = found.map((one) => {
    const news = distinct(one.items).filter(({ place }) => !seen.has(keyOf(place)));
    const items = news.slice(0, limitOf(one.layer.layer));
    const known = one.items.filter(({ place }) => seen.has(keyOf(place)));
    for (const item of items) {
      const hides = hiding === undefined || hiding.has(item);
      for (const key of hides ? shownKeys(item.place) : [keyOf(item.place)]) seen.add(key);
    }
    return { ...one, items, known };
  });
  const kept = fitted(
    layers.map(({ layer, name, items }) => {
      const costs = items.map((item) => weightOf([item], form));
      const scores = items.map(({ score = 0 }) => score);
      return {
        min: layer.min,
        max: layer.max,
        around: count(sectionFrame(name, format)),
        costs,
        ...(name === "recalled" && { order: inOrderOfWorth(scores, costs) }),
      };
    }),
    budget - tokensOf(blockFrame(format), count),
  );
  const chosen = layers.map(({ items }, i) => (kept[i] ?? []).flatMap((at) => items[at] ?? []));
  const sections = () => layers.map(({ name }, i): Section => ({ layer: name, items: chosen[i] ?? [] }));
  // A tokenizer may count more for the whole than for its parts.
  while (tokensOf(textOf(sections(), form), count) > budget)
    if (chosen.findLast(({ length }) => length > 0)?.pop() === undefined) break;
  const shows = new Set(chosen.flat());
  const isLeftOut = (item: ContextItem) => !shows.has(item) && shownKeys(item.place).length > 1;
  if (hiding === undefined && layers.some(({ items }) => items.some(isLeftOut)))
    return fittedSections(found, { budget, form, block, shown, hiding: shows });
  const meta = layers.map(({ layer, name, items, ms, status }, i): ContextSection => {
    const some = chosen[i] ?? [];
    const tokens = sectionTokens({ layer: name, items: some }, form);
    return {
      layer: name,
      slot: layer.slot,
      block,
      tokens,
      items: some.length,
      dropped: items.length - some.length,
      ms,
      status,
    };
  });
  const candidates = layers.flatMap(({ name, items, known }, i) => {
    const fits = new Set(chosen[i]);
    return [
      ...items.map((item) => candidateOf(name, item, fits.has(item) ? "fits" : "budget")),
      ...known.map((item) => candidateOf(name, item, "known")),
    ];
  });
  return { sections: sections().filter(({ items }) => items.length > 0), meta, candidates };
}

/** The first of items with one place. */
const distinct = (items: readonly ContextItem[]): ContextItem[] =>
  [...new Map(items.toReversed().map((item) => [keyOf(item.place), item])).values()].toReversed();

export const candidateOf = (
  layer: LayerName,
  { id, shown, score }: ContextItem,
  why: ContextCandidate["why"],
): ContextCandidate => ({ layer, id, text: shown.text, ...(score !== undefined && { score }), why });

/** Items that a layer shows at most. */
function limitOf(layer: ContextLayer): number {
  switch (layer.type) {
    case "instructions":
      return layer.n ?? 20;
    case "profile":
      return layer.n ?? 40;
    case "facts":
      return layer.n ?? 20;
    case "reflections":
      return layer.n ?? 3;
    case "recalled":
      return layer.k ?? RECALLED;
    case "procedures":
      return layer.n ?? 5;
    case "episodes":
      return (layer.recent ?? 5) + (layer.similar ?? 3);
    default:
      return Infinity;
  }
}
