// The table of `npm run eval -- --truth FILE`, its wrong answers, and what makes it fail.
import { faint } from "./demo/terminal.ts";
import { interval, mean, pairedDifference } from "./metrics.ts";
import { asDifference, percent, printTable, withInterval } from "./table.ts";
import { type Check, isRight, type Judged } from "./truth.ts";

/** Prints a row for each kind, one for all, and one for what this model cannot know. */
export function printTruth(ours: readonly Judged[], floor: readonly Judged[]): void {
  const rowOf = (name: string, is: (one: Judged) => boolean): string[] => {
    const some = ours.filter(is);
    const smallTalk = some.filter(({ kind }) => kind === "smalltalk");
    const others = some.filter(({ kind }) => kind !== "smalltalk");
    const [right, rightOfFloor] = [scoresOf(some), scoresOf(floor.filter(is))];
    const count = (check: Check, holds = true, among = some): string => {
      const asked = among.flatMap(({ checks }) => checks[check] ?? []);
      return asked.length === 0 ? "" : `${asked.filter((one) => one === holds).length} of ${asked.length}`;
    };
    return [
      name,
      String(new Set(some.map(({ id }) => id)).size),
      String(some.length),
      withInterval(mean(right), interval(right)),
      percent(mean(rightOfFloor)),
      asDifference(pairedDifference(right, rightOfFloor)),
      count("first"),
      count("within3"),
      count("notAbove", false),
      count("abstain", true, others),
      count("abstain", true, smallTalk),
      count("kept", false),
      count("block"),
      count("list"),
    ];
  };
  printTable(
    [
      "truth",
      "cases",
      "queries",
      "right (95 %)",
      "plain FTS5",
      "Cairn − FTS5 (95 %)",
      "first",
      "within 3",
      "wrong above",
      "abstain",
      "small talk",
      "lost",
      "block",
      "list",
    ],
    [
      ...kindsOf(ours).map((kind) => rowOf(kind, (one) => isCounted(one) && one.kind === kind)),
      rowOf("all", isCounted),
      ...[...new Set(ours.flatMap(({ needs }) => needs ?? []))].map((needs) =>
        rowOf(`needs ${needs}, not counted`, (one) => one.needs === needs),
      ),
    ],
  );
}

const isCounted = ({ needs }: Judged): boolean => needs === undefined;
const kindsOf = (all: readonly Judged[]): string[] => [
  ...new Set(all.filter(isCounted).map(({ kind }) => kind)),
];
const scoresOf = (some: readonly Judged[]): number[] => some.map((one) => Number(isRight(one)));

/** Prints each query that is not right, with what fails and its first hits. */
export function printWrong(all: readonly Judged[]): void {
  for (const one of all.filter((other) => isCounted(other) && !isRight(other))) {
    const failed = Object.entries(one.checks).flatMap(([check, holds]) => (holds ? [] : [check]));
    console.log(
      `\n${one.id}: ${one.query}  ${faint(`${failed.join(", ")}; ${one.confidence?.toFixed(2) ?? ""}`)}`,
    );
    for (const { ids, text } of one.hits.slice(0, 3))
      console.log(`  ${ids.join(" ")}  ${text.slice(0, 110)}`);
  }
}

/** A sentence for each share of right queries below its bound: over all, and of one kind. Shares from 0 to 1. */
export function truthFailures(all: readonly Judged[], bounds: { right: number; kind: number }): string[] {
  const counted = all.filter(isCounted);
  const parts = [
    { name: "all", some: counted, bound: bounds.right },
    ...kindsOf(all).map((kind) => ({
      name: kind,
      some: counted.filter((one) => one.kind === kind),
      bound: bounds.kind,
    })),
  ];
  return parts.flatMap(({ name, some, bound }) => {
    const share = mean(scoresOf(some));
    return share >= bound ? [] : [`${name}: ${percent(share)} % are right, below ${percent(bound)} %`];
  });
}
