// Tables in Markdown: the one printer of the benchmarks, the evaluations, the peers and the prompt caches.
import type { Difference, Interval } from "./evals/metrics.ts";

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Prints an empty line and a table. A column with a digit stands at the right, but for the first. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const isNumber = (i: number) => i > 0 && rows.some((cells) => /\d/.test(cells[i] ?? ""));
  const rule = header.map((_, i) => (isNumber(i) ? "---:" : "---"));
  console.log(`\n${[header, rule, ...rows].map(row).join("\n")}`);
}

export const percent = (share: number): string => (100 * share).toFixed(1);
export const withInterval = (share: number, [low, high]: Interval): string =>
  `${percent(share)} (${percent(low)}–${percent(high)})`;

const signed = (share: number): string => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
export const asDifference = ({ mean, interval: [low, high] }: Difference): string =>
  `${signed(mean)} (${signed(low)} to ${signed(high)})`;
