import {
  blockLength,
  type LayerName,
  lengthOf,
  renderBlock,
  sectionLength,
} from "../../../src/domain/context/block.ts";
import { fitted } from "../../../src/domain/context/budget.ts";
import type {
  ContextCandidate,
  ContextFormat,
  ContextLayer,
  ContextSection,
} from "../../../src/domain/schema/context.ts";
import type { ContextItem } from "./context-items.ts";
import { keyOf, type PlacedSection } from "./context-store.ts";
import { type FoundLayer, MOST_RECALLED } from "./layer-search.ts";

export type Section = { layer: LayerName; items: readonly ContextItem[] };
export type Fitted = { sections: Section[]; meta: ContextSection[]; candidates: ContextCandidate[] };

const CHARACTERS_PER_TOKEN = 4;
/** Without `k`, hits of the layer `recalled` after the first so many need this share of the best score. */
const FIRST = 10;
const FURTHER_SHARE = 0.25;

export const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
const tokensIn = (characters: number): number => characters / CHARACTERS_PER_TOKEN;

/** The tokens of items by themselves. */
export const weightOf = (items: readonly ContextItem[], format: ContextFormat): number =>
  tokensIn(items.reduce((sum, { shown }) => sum + lengthOf(shown, format), 0));

export const sectionTokens = ({ layer, items }: Section, format: ContextFormat): number =>
  items.length === 0 ? 0 : Math.ceil(weightOf(items, format) + tokensIn(sectionLength(layer, format)));

export const textOf = (sections: readonly Section[], format: ContextFormat): string =>
  renderBlock(
    sections.map(({ layer, items }) => ({ layer, items: items.map(({ shown }) => shown) })),
    format,
  );

export const placed = (sections: readonly Section[]): PlacedSection[] =>
  sections.map(({ layer, items }) => ({ layer, places: items.map(({ place }) => place) }));

/** Chooses what fits the budget, in tokens. Each item is shown once, in the first layer that has it. */
export function fittedSections(
  found: readonly (FoundLayer & { name: LayerName })[],
  {
    budget,
    format,
    block,
    shown,
  }: { budget: number; format: ContextFormat; block: ContextSection["block"]; shown: ReadonlySet<string> },
): Fitted {
  const seen = new Set(shown);
  const layers = found.map((one) => {
    const news = one.items.filter(({ place }) => !seen.has(keyOf(place)));
    const items = worthwhile(one.layer.layer, news, one.items[0]?.score ?? 0);
    const known = one.items.filter(({ place }) => seen.has(keyOf(place)));
    for (const { place } of items) seen.add(keyOf(place));
    return { ...one, items, known };
  });
  const kept = fitted(
    layers.map(({ layer, name, items }) => ({
      min: layer.min,
      max: layer.max,
      around: tokensIn(sectionLength(name, format)),
      costs: items.map(({ shown: one }) => tokensIn(lengthOf(one, format))),
    })),
    budget - Math.ceil(tokensIn(blockLength(format))),
  );
  const chosen = layers.map(({ items }, i) => (kept[i] ?? []).flatMap((at) => items[at] ?? []));
  const meta = layers.map(({ layer, name, items, ms, status }, i): ContextSection => {
    const some = chosen[i] ?? [];
    const tokens = sectionTokens({ layer: name, items: some }, format);
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
  const sections = layers.map(({ name }, i): Section => ({ layer: name, items: chosen[i] ?? [] }));
  const candidates = layers.flatMap(({ name, items, known }, i) => {
    const fits = new Set(chosen[i]);
    return [
      ...items.map((item) => candidateOf(name, item, fits.has(item) ? "fits" : "budget")),
      ...known.map((item) => candidateOf(name, item, "known")),
    ];
  });
  return { sections: sections.filter(({ items }) => items.length > 0), meta, candidates };
}

const candidateOf = (
  layer: LayerName,
  { id, shown, score }: ContextItem,
  why: ContextCandidate["why"],
): ContextCandidate => ({ layer, id, text: shown.text, ...(score !== undefined && { score }), why });

/** The items that a layer shows if they fit. */
function worthwhile(layer: ContextLayer, items: readonly ContextItem[], best: number): ContextItem[] {
  switch (layer.type) {
    case "recalled": {
      const { k, minScore } = layer;
      const some = items.slice(0, k ?? MOST_RECALLED);
      if ((k ?? minScore) !== undefined) return some;
      return some.filter(({ score = 0 }, i) => i < FIRST || score >= FURTHER_SHARE * best);
    }
    case "procedures":
      return items.slice(0, layer.n ?? 5);
    case "episodes":
      return items.slice(0, (layer.recent ?? 5) + (layer.similar ?? 3));
    default:
      return [...items];
  }
}
