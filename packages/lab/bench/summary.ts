import { printTable } from "../table.ts";
import { type Counts, dollarsOf } from "./counts.ts";
import type { Round } from "./load.ts";
import type { Operation } from "./operations.ts";

export type Summary = {
  name: string;
  flatAgainst?: string;
  ratio: number;
  cairn: Figures;
  floor: Figures;
  rows: Counts;
};
type Figures = { rounds: readonly Round[]; rps: number; p50: number; p99: number; cpuUs: number | null };

export function summary({
  operation: { name, flatAgainst },
  ...measured
}: {
  operation: Operation;
  cairn: Round[];
  floor: Round[];
  /** Of a call of Cairn. */
  rows: Counts;
}): Summary {
  // The first round only warms up.
  const [cairn, floor] = [measured.cairn.slice(1), measured.floor.slice(1)];
  return {
    name,
    ...(flatAgainst !== undefined && { flatAgainst }),
    // Each round against the one beside it, so that a slow second of a shared machine hits both.
    ratio: ratioOf(cairn, floor),
    cairn: figures(cairn),
    floor: figures(floor),
    rows: measured.rows,
  };
}

const ratioOf = (these: readonly Round[], those: readonly Round[]): number =>
  median(these.map(({ rps }, i) => rps / (those[i]?.rps ?? Number.NaN)));

function figures(rounds: readonly Round[]): Figures {
  const latencies = rounds.flatMap((round) => round.latencies).toSorted((a, b) => a - b);
  const cpu = rounds.map(({ cpuMs }) => cpuMs);
  const cpuMs = cpu.reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
  return {
    rounds,
    rps: median(rounds.map(({ rps }) => rps)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuUs: cpu.includes(null) ? null : (cpuMs * 1000) / latencies.length,
  };
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

const milliseconds = (n: number): string => n.toFixed(1);
const microseconds = (n: number | null): string => (n === null ? "–" : n.toFixed(0));

/** Prints a table, and below it what has to be flat. */
export function print(summaries: readonly Summary[]): void {
  printTable(
    [
      "operation",
      "cairn rps",
      "floor rps",
      "ratio",
      "cairn p50 / p99 ms",
      "floor p50 / p99 ms",
      "cairn CPU µs",
      "floor CPU µs",
      "rows written",
      "rows read",
      "$ per million",
    ],
    summaries.map(({ name, ratio, cairn, floor, rows }) => [
      name,
      cairn.rps.toFixed(0),
      floor.rps.toFixed(0),
      ratio.toFixed(2),
      `${milliseconds(cairn.p50)} / ${milliseconds(cairn.p99)}`,
      `${milliseconds(floor.p50)} / ${milliseconds(floor.p99)}`,
      microseconds(cairn.cpuUs),
      microseconds(floor.cpuUs),
      String(rows.written + rows.d1Written),
      String(rows.read + rows.d1Read),
      dollarsOf(rows).toFixed(2),
    ]),
  );
  console.log();
  for (const row of summaries) {
    const small = summaries.find(({ name }) => name === row.flatAgainst);
    if (small === undefined) continue;
    console.log(
      `${row.name} runs at ${ratioOf(row.cairn.rounds, small.cairn.rounds).toFixed(2)} of ${small.name}`,
    );
  }
}
