import { printTable } from "../table.ts";
import { median } from "../bench/summary.ts";
import type { OperationName } from "./peer.ts";

/** Calls a second of Cairn and of a peer, in rounds side by side. */
export type Pair = {
  operation: OperationName;
  peer: string;
  lacks: string;
  cairn: number[];
  theirs: number[];
};

export function print(pairs: readonly Pair[]): void {
  printTable(
    ["operation", "peer", "Cairn calls/s", "peer calls/s", "ratio", "what the peer does not do"],
    pairs.map(row),
  );
}

function row({ operation, peer, lacks, ...rates }: Pair): string[] {
  // The first round only warms up.
  const [cairn, theirs] = [rates.cairn.slice(1), rates.theirs.slice(1)];
  const ratio = median(cairn.map((rate, i) => rate / (theirs[i] ?? Number.NaN)));
  return [
    operation,
    peer,
    whole(median(cairn)),
    whole(median(theirs)),
    ratio.toLocaleString("en-US", { maximumSignificantDigits: 2 }),
    lacks,
  ];
}

const whole = (n: number): string => Math.round(n).toLocaleString("en-US");
