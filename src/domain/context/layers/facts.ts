import { day, oneLine } from "../../conversation/stored-text.ts";
import type { MemoryRow } from "../../memory/table.ts";
import type { NumberedPlace } from "../item.ts";
import { type Choice, defineLayer, items, type LayerSource, mode, ofMemories, optionsOf } from "./layer.ts";
import { bestFirst } from "./order.ts";

const N = 20;

export const facts = defineLayer({
  name: "facts",
  options: optionsOf("facts", { mode, ...ofMemories, n: items(200, N, "facts") }),
  block: "stable",
  share: 0.2,
  most: ({ n = N }) => n,
  choose: ({ tags }, source) => factChoices(source.memories("fact", tags), source),
  line: factLine,
});

/** Facts, the best first, with a note of those that took the place of others. */
export function factChoices(rows: readonly MemoryRow[], { successors }: LayerSource): Choice[] {
  const later = successors(rows.map(({ version }) => version));
  return bestFirst(rows).map((row) => ({ row, ...(later.has(row.version) && { replaces: true as const }) }));
}

export function factLine({ text, validFrom }: MemoryRow, { replaces }: NumberedPlace) {
  return { text: `${oneLine(text)} (${replaces === true ? "since " : ""}${day(validFrom)})` };
}
