// Tables in Markdown.
import type { Difference, Interval } from "./metrics.ts";

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(`\n${[header, header.map((_, i) => (i === 0 ? "---" : "---:")), ...rows].map(row).join("\n")}`);
}

export const percent = (share: number): string => (100 * share).toFixed(1);
export const withInterval = (share: number, [low, high]: Interval): string =>
  `${percent(share)} (${percent(low)}–${percent(high)})`;

const signed = (share: number): string => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
export const asDifference = ({ mean, interval: [low, high] }: Difference): string =>
  `${signed(mean)} (${signed(low)} to ${signed(high)})`;
