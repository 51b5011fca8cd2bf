import { median } from "../table.ts";
import type { OperationName } from "./peer.ts";

/** Calls a second of Cairn and of a peer, in rounds side by side. */
export type Pair = {
  operation: OperationName;
  peer: string;
  lacks: string;
  cairn: number[];
  theirs: number[];
};

/** Prints a table in Markdown. */
export function print(pairs: readonly Pair[]): void {
  const lines = [
    "| operation | peer | Cairn calls/s | peer calls/s | ratio | what the peer does not do |",
    "| --- | --- | ---: | ---: | ---: | --- |",
    ...pairs.map(row),
  ];
  console.log(lines.join("\n"));
}

function row({ operation, peer, lacks, ...rates }: Pair): string {
  // The first round only warms up.
  const [cairn, theirs] = [rates.cairn.slice(1), rates.theirs.slice(1)];
  const ratio = median(cairn.map((rate, i) => rate / (theirs[i] ?? Number.NaN)));
  const cells = [
    operation,
    peer,
    whole(median(cairn)),
    whole(median(theirs)),
    ratio.toLocaleString("en-US", { maximumSignificantDigits: 2 }),
    lacks,
  ];
  return `| ${cells.join(" | ")} |`;
}

const whole = (n: number): string => Math.round(n).toLocaleString("en-US");
