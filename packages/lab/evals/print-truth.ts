// The table of `npm run eval -- --truth FILE`, its wrong answers, and what makes it fail.
import { faint } from "./demo/terminal.ts";
import { interval, mean, pairedDifference } from "./metrics.ts";
import { asDifference, percent, printTable, withInterval } from "../table.ts";
import { type Check, isRight, type Judged } from "./truth.ts";

/** Prints what is right and what comes first, then what is silent: a row for each kind, all, and what this model cannot know. */
export function printTruth(ours: readonly Judged[], floor: readonly Judged[]): void {
  const rows: [name: string, is: (one: Judged) => boolean][] = [
    ...kindsOf(ours).map((kind): (typeof rows)[number] => [
      kind,
      (one) => isCounted(one) && one.kind === kind,
    ]),
    ["all", isCounted],
    ...[...new Set(ours.flatMap(({ needs }) => needs ?? []))].map((needs): (typeof rows)[number] => [
      `needs ${needs}, not counted`,
      (one) => one.needs === needs,
    ]),
  ];
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
      "block",
      "list",
    ],
    rows.map(([name, is]) => {
      const some = ours.filter(is);
      const [right, rightOfFloor] = [scoresOf(some), scoresOf(floor.filter(is))];
      return [
        name,
        String(new Set(some.map(({ id }) => id)).size),
        String(some.length),
        withInterval(mean(right), interval(right)),
        percent(mean(rightOfFloor)),
        asDifference(pairedDifference(right, rightOfFloor)),
        ofCheck("first", some),
        ofCheck("within3", some),
        notOfCheck("notAbove", some),
        ofCheck("block", some),
        ofCheck("list", some),
      ];
    }),
  );
  const modes = ["auto", "strict"] as const;
  printTable(
    [
      "silence",
      ...modes.flatMap((mode) => [`${mode}: abstain`, "small talk", "lost"]),
      "unrelated lines a query",
      "lines of a query that abstains",
    ],
    rows.map(([name, is]) => {
      const some = ours.filter(is);
      const silent = some.filter(({ checks }) => checks.abstain !== undefined);
      const answerable = some.filter(({ checks }) => checks.kept !== undefined);
      return [
        name,
        ...modes.flatMap((mode) => {
          const holds = (one: Judged): boolean =>
            mode === "strict" ? one.strict : (one.checks.abstain ?? one.checks.kept) === true;
          return [
            countOf(silent.filter((one) => !isSmallTalk(one)).map(holds)),
            countOf(silent.filter(isSmallTalk).map(holds)),
            countOf(answerable.map((one) => !holds(one))),
          ];
        }),
        perQuery(answerable),
        perQuery(silent),
      ];
    }),
  );
}

const isSmallTalk = ({ kind }: Judged): boolean => kind === "smalltalk";
/** How many of them hold. */
const countOf = (all: readonly boolean[]): string =>
  all.length === 0 ? "" : `${all.filter(Boolean).length} of ${all.length}`;
const checksOf = (check: Check, some: readonly Judged[]): boolean[] =>
  some.flatMap(({ checks }) => checks[check] ?? []);
const ofCheck = (check: Check, some: readonly Judged[]): string => countOf(checksOf(check, some));
const notOfCheck = (check: Check, some: readonly Judged[]): string =>
  countOf(checksOf(check, some).map((holds) => !holds));
const perQuery = (some: readonly Judged[]): string =>
  some.length === 0 ? "" : mean(some.map(({ unrelated }) => unrelated)).toFixed(2);

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

/** A share from 0 to 1; null for any other text. */
export function shareIn(text: string): number | null {
  const given = text.trim() === "" ? NaN : Number(text);
  return given >= 0 && given <= 1 ? given : null;
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
