// `npm run eval -- --abstain`: how well the confidence tells questions with an answer from those without one.
import { ANSWERABLE, type Asked, thresholdAt } from "./confidence.ts";
import type { Corpus } from "./dataset.ts";
import { bold } from "./demo/terminal.ts";
import { auc, mean, randomBelow } from "./metrics.ts";
import { percent, printTable } from "./table.ts";

/** The most questions that a conversation is asked of others. */
const FOREIGN = 40;
const CURVE = [0.01, 0.02, 0.03, 0.05, 0.1, 0.2];

/** Questions of the other conversations of a set, by a fixed seed. */
export function foreignTo(corpus: Corpus, all: readonly Corpus[]): string[] {
  const left = all
    .filter((one) => one !== corpus)
    .flatMap(({ questions }) => questions.map(({ query }) => query));
  const below = randomBelow();
  const taken: string[] = [];
  while (taken.length < FOREIGN && left.length > 0) taken.push(...left.splice(below(left.length), 1));
  return taken;
}

const kindsOf = (all: readonly Asked[]): string[] =>
  [...new Set(all.map(({ kind }) => kind))].filter((kind) => kind !== ANSWERABLE);
const setsOf = (all: readonly Asked[]): string[] => [...new Set(all.map(({ set }) => set))];

/** Prints, per set, how often an answerable question has more confidence than one of each other kind. */
export function printAuc(title: string, all: readonly Asked[], confidences: readonly number[]): void {
  const kinds = kindsOf(all);
  const of = (set: string | undefined, kind: string) =>
    confidences.filter((_, i) => all[i]?.kind === kind && (set === undefined || all[i]?.set === set));
  const row = (name: string, set?: string) => [
    name,
    ...kinds.map((kind) => {
      const [positives, negatives] = [of(set, ANSWERABLE), of(set, kind)];
      return negatives.length === 0 || positives.length === 0 ? "" : auc(positives, negatives).toFixed(2);
    }),
  ];
  printTable(
    [`AUC, ${title}`, ...kinds],
    [...setsOf(all).map((set) => row(set, set)), ...(setsOf(all).length > 1 ? [row("all sets")] : [])],
  );
}

/** Prints the classes, what each threshold costs and keeps away, and what the threshold in use did. */
export function printAbstaining(all: readonly Asked[], lost: number): void {
  const confidences = all.map(({ confidence }) => confidence);
  printAuc("the confidence in use", all, confidences);
  const kinds = kindsOf(all);
  for (const set of [...setsOf(all), undefined]) {
    const ours = all.filter((one) => set === undefined || one.set === set);
    const shareOf = (kind: string, is: (one: Asked) => boolean): string => {
      const some = ours.filter((one) => one.kind === kind);
      return some.length === 0 ? "" : percent(mean(some.map((one) => (is(one) ? 1 : 0))));
    };
    console.log(`\n${bold(set ?? "all sets")}: the shares that still bring hits, in percent`);
    const row = (name: string, brings: (one: Asked) => boolean) => [
      name,
      shareOf(ANSWERABLE, (one) => !brings(one)),
      ...kinds.map((kind) => shareOf(kind, brings)),
    ];
    printTable(
      ["threshold", "answerable lost", ...kinds],
      [
        ...CURVE.map((share) => {
          const threshold = thresholdAt(
            ours,
            ours.map(({ confidence }) => confidence),
            share,
          );
          return row(threshold.toFixed(2), ({ confidence }) => confidence >= threshold);
        }),
        row("in use (`answerable: auto`)", ({ abstained }) => !abstained),
      ],
    );
  }
  console.log(
    `\nAt the threshold ${thresholdAt(all, confidences, lost).toFixed(2)}, ${percent(lost)} % of the answerable are lost.`,
  );
}
