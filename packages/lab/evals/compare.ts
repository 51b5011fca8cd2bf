// How well recall finds, per set and per kind of question: plain FTS5, each arm alone, and Cairn.
import { bold, percentile } from "./demo/terminal.ts";
import type { Question } from "./dataset.ts";
import {
  type Difference,
  interval,
  mean,
  type Measure,
  measureNames,
  pairedDifference,
  scoresOf,
} from "./metrics.ts";
import { asDifference, percent, printTable, withInterval } from "../table.ts";

/** The answers of one way of searching to each question, best first, and their times. */
export type Run = { name: string; ranked: string[][]; times: number[] };
/** The questions of a set, answered by each way: the floor, the arms, Cairn, then Cairn asked in other words. */
export type Answered = { set: string; questions: Question[]; runs: Run[] };

export const CAIRN = "Cairn";
/** Fewer questions than this, all of them lost, may be chance: five of five are 1 in 32. */
const LEAST_QUESTIONS = 5;
const WITHIN: readonly Measure[] = ["R@1", "R@5", "R@10"];

/** Joins answers of several corpora, or sets, under one name. */
export const joined = (set: string, all: readonly Answered[]): Answered => ({
  set,
  questions: all.flatMap(({ questions }) => questions),
  runs: (all[0]?.runs ?? []).map(({ name }, way) => ({
    name,
    ranked: all.flatMap(({ runs }) => runs[way]?.ranked ?? []),
    times: all.flatMap(({ runs }) => runs[way]?.times ?? []),
  })),
});

const kindsOf = ({ questions }: Answered): string[] => [
  ...new Set(questions.map(({ category }) => category).filter((one) => one !== "")),
];

/** The questions of one kind, with their answers. */
function ofKind({ set, questions, runs }: Answered, kind: string): Answered {
  const isOne = (_: unknown, i: number) => questions[i]?.category === kind;
  return {
    set,
    questions: questions.filter(isOne),
    runs: runs.map((run) => ({ ...run, ranked: run.ranked.filter(isOne) })),
  };
}

function partsOf({ runs }: Answered): { floor: Run; arms: Run[]; cairn: Run } {
  const at = runs.findIndex(({ name }) => name === CAIRN);
  const [floor, cairn] = [runs[0], runs[at]];
  if (floor === undefined || cairn === undefined) throw new Error("nothing was asked");
  return { floor, arms: runs.slice(1, at), cairn };
}

const meanOf = ({ questions }: Answered, { ranked }: Run, measure: Measure): number =>
  mean(scoresOf(measure, questions, ranked));

const bestOf = (answered: Answered, arms: readonly Run[], measure: Measure): Run | undefined =>
  arms.toSorted((a, b) => meanOf(answered, b, measure) - meanOf(answered, a, measure))[0];

const difference = ({ questions }: Answered, ours: Run, theirs: Run, measure: Measure): Difference =>
  pairedDifference(scoresOf(measure, questions, ours.ranked), scoresOf(measure, questions, theirs.ranked));

export function printAnswered(answered: Answered): void {
  const { set, questions, runs } = answered;
  console.log(`\n${bold(set)}: ${questions.length} questions`);
  printTable(
    ["", ...measureNames.map((name) => (name === "R@10" ? "R@10 (95 %)" : name)), "p50 ms", "p95 ms"],
    runs.map(({ name, ranked, times }) => [
      name,
      ...measureNames.map((measure) => {
        const scores = scoresOf(measure, questions, ranked);
        return measure === "R@10" ? withInterval(mean(scores), interval(scores)) : percent(mean(scores));
      }),
      ...[0.5, 0.95].map((share) => (times.length === 0 ? "" : percentile(times, share).toFixed(1))),
    ]),
  );
  const kinds = kindsOf(answered);
  if (kinds.length < 2) return;
  printTable(
    ["R@10 by kind of question", "questions", "plain FTS5", "best arm", "Cairn", "Cairn − FTS5 (95 %)"],
    kinds.map((kind) => {
      const one = ofKind(answered, kind);
      const { floor, arms, cairn } = partsOf(one);
      const shares = [floor, bestOf(one, arms, "R@10") ?? floor, cairn].map((run) =>
        percent(meanOf(one, run, "R@10")),
      );
      return [
        kind,
        String(one.questions.length),
        ...shares,
        asDifference(difference(one, cairn, floor, "R@10")),
      ];
    }),
  );
}

/** A sentence for each set and kind in which Cairn is worse than plain FTS5, and each set in which an arm alone is better. */
export function failures(answered: Answered): string[] {
  const { set } = answered;
  const found: string[] = [];
  const compare = (where: string, among: Answered, theirs: Run | undefined, measure: Measure) => {
    if (theirs === undefined || among.questions.length < LEAST_QUESTIONS) return;
    const { cairn } = partsOf(among);
    const paired = difference(among, cairn, theirs, measure);
    if (paired.interval[1] >= 0) return;
    found.push(
      `${where}: ${measure} of Cairn is ${percent(meanOf(among, cairn, measure))}, and that of ${theirs.name} ` +
        `${percent(meanOf(among, theirs, measure))}: ${asDifference(paired)}`,
    );
  };
  const { floor, arms } = partsOf(answered);
  compare(set, answered, floor, "R@10");
  for (const measure of WITHIN) compare(set, answered, bestOf(answered, arms, measure), measure);
  for (const kind of kindsOf(answered)) {
    const one = ofKind(answered, kind);
    compare(`${set}, ${kind}`, one, partsOf(one).floor, "R@10");
  }
  return found;
}
