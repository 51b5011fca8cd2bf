import { oneLine } from "../../conversation/stored-text.ts";
import type { MemoryRow } from "../../memory/table.ts";
import type { ContextItem, NumberedPlace } from "../item.ts";
import { changes } from "./changes.ts";
import { layers } from "./index.ts";
import type { LayerOptions, Rules } from "./layer.ts";

/** The sections of a block: one for each layer, and the changes. */
const sections = [...layers, changes] as const;
export type LayerName = (typeof sections)[number]["name"];
export const layerNames: readonly LayerName[] = sections.map(({ name }) => name);

type Section = Pick<Rules<LayerOptions>, "tag" | "line">;
const sectionByName = new Map<string, Section>(sections.map((one) => [one.name, one]));
const layerByType = new Map<string, Rules<LayerOptions>>(layers.map((one) => [one.name, one]));

/** The rules of a layer's section. */
export const sectionOf = (name: LayerName): Section => sectionByName.get(name) ?? {};
/** The tag or heading of a layer's section. */
export const tagOf = (name: LayerName): string => sectionOf(name).tag ?? name;

export function rulesOf({ type }: { type: string }): Rules<LayerOptions> {
  const rules = layerByType.get(type);
  if (rules === undefined) throw new Error(`no layer ${type}`);
  return rules;
}

/** The item of a memory's version in a section. */
export function memoryItem(
  layer: LayerName,
  row: MemoryRow,
  place: NumberedPlace = { n: row.version },
): ContextItem {
  const { id, source, text } = row;
  const from = source?.message === undefined ? {} : { message: String(source.message) };
  return { id, place, shown: sectionOf(layer).line?.(row, place) ?? { text: oneLine(text) }, ...from };
}
