import { bold } from "./demo/terminal.ts";
import { percentile } from "./demo/terminal.ts";
import type { Question } from "./dataset.ts";
import { hitAt1, interval, mean, ndcgAt, recallAt } from "./metrics.ts";

/** The answers of one way of searching to each question, best first, and their times. */
export type Run = { name: string; ranked: string[][]; times: number[] };

const measures = {
  "R@1": (ranked, relevant) => recallAt(ranked, relevant, 1),
  "R@5": (ranked, relevant) => recallAt(ranked, relevant, 5),
  "R@10": (ranked, relevant) => recallAt(ranked, relevant, 10),
  "R@50": (ranked, relevant) => recallAt(ranked, relevant, 50),
  "Hit@1": hitAt1,
  "NDCG@5": (ranked, relevant) => ndcgAt(ranked, relevant, 5),
  "NDCG@10": (ranked, relevant) => ndcgAt(ranked, relevant, 10),
} satisfies Record<string, (ranked: readonly string[], relevant: Question["relevant"]) => number>;
const names = Object.keys(measures) as (keyof typeof measures)[];

/** Prints a table in Markdown: every way of searching over all questions, then by category. */
export function print(title: string, questions: readonly Question[], runs: readonly Run[]): void {
  console.log(`\n${bold(title)}: ${questions.length} questions\n`);
  console.log(row(["", ...names, "95 % of R@10", "p50 ms", "p95 ms"]));
  console.log(row(Array.from({ length: names.length + 4 }, () => "---")));
  for (const run of runs) console.log(row(figures(run, questions)));
  const categories = [...new Set(questions.map(({ category }) => category))].filter((one) => one !== "");
  if (categories.length < 2) return;
  console.log(`\n${row(["R@10 by category", ...categories])}`);
  console.log(row(Array.from({ length: categories.length + 1 }, () => "---")));
  for (const run of runs) {
    const scores = questions.map(({ relevant }, i) => recallAt(run.ranked[i] ?? [], relevant, 10));
    const cells = categories.map((category) =>
      percent(mean(scores.filter((_, i) => questions[i]?.category === category))),
    );
    console.log(row([run.name, ...cells]));
  }
}

function figures({ name, ranked, times }: Run, questions: readonly Question[]): string[] {
  const scores = (of: (ranked: readonly string[], relevant: Question["relevant"]) => number) =>
    questions.map(({ relevant }, i) => of(ranked[i] ?? [], relevant));
  const [low, high] = interval(scores(measures["R@10"]));
  return [
    name,
    ...names.map((one) => percent(mean(scores(measures[one])))),
    `${percent(low)}–${percent(high)}`,
    ...(times.length === 0
      ? ["", ""]
      : [percentile(times, 0.5).toFixed(1), percentile(times, 0.95).toFixed(1)]),
  ];
}

/** The score of the best hit for a question of a kind. */
export type Best = { category: string; score: number };
export const ANSWERABLE = "answerable";

/** Prints the scores of best hits by kind, and how often one of an answerable question is higher than one of the kind. */
export function printBest(best: readonly Best[]): void {
  const scoresOf = (kind: string) =>
    best.filter(({ category }) => category === kind).map(({ score }) => score);
  const answerable = scoresOf(ANSWERABLE);
  console.log(
    `\n${row(["score of the best hit", "questions", "p10", "p50", "p90", "answerable is higher"])}`,
  );
  console.log(row(Array.from({ length: 6 }, () => "---")));
  for (const kind of new Set(best.map(({ category }) => category))) {
    const scores = scoresOf(kind);
    const higher = answerable.flatMap((one) =>
      scores.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)),
    );
    console.log(
      row([
        kind,
        String(scores.length),
        ...[0.1, 0.5, 0.9].map((share) => percentile(scores, share).toFixed(2)),
        kind === ANSWERABLE ? "" : percent(mean(higher)),
      ]),
    );
  }
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const percent = (share: number): string => (100 * share).toFixed(1);
