// `npm run eval -- --abstain`: how well the confidence tells questions with an answer from those without one.
import { ANSWERABLE, type Asked, thresholdAt } from "./confidence.ts";
import type { Corpus } from "./dataset.ts";
import { auc, mean, randomBelow } from "./metrics.ts";
import { percent, printTable } from "../table.ts";

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

/** Without a question, a share is no number. */
const shown = (share: number): string => (Number.isNaN(share) ? "" : percent(share));

type Brings = (one: Asked, i: number) => boolean;

/** The share of each kind for which hits are brought, in percent: first of the answerable that get none. */
function sharesOf(all: readonly Asked[], is: (one: Asked) => boolean, brings: Brings): string[] {
  const share = (kind: string): number => {
    const some = all.flatMap((one, i) => (one.kind === kind && is(one) ? [brings(one, i) ? 1 : 0] : []));
    return mean(some);
  };
  return [shown(1 - share(ANSWERABLE)), ...kindsOf(all).map((kind) => shown(share(kind)))];
}

/** Prints, per set, which share of each kind brings hits at the threshold that loses so many of the answerable. */
export function printBrought(
  title: string,
  all: readonly Asked[],
  { confidences, lost }: { confidences: readonly number[]; lost: number },
): void {
  const threshold = thresholdAt(all, confidences, lost);
  const row = (name: string, is: (one: Asked) => boolean) => [
    name,
    ...sharesOf(all, is, (_, i) => (confidences[i] ?? 0) >= threshold),
  ];
  printTable(
    [`% with hits at ${threshold.toFixed(2)}, ${title}`, "answerable lost", ...kindsOf(all)],
    [...setsOf(all).map((set) => row(set, (one) => one.set === set)), row("all sets", () => true)],
  );
}

/** Prints the classes, what each threshold costs and keeps away, and what the threshold in use did. */
export function printAbstaining(all: readonly Asked[], lost: number): void {
  const confidences = all.map(({ confidence }) => confidence);
  printAuc("the confidence in use", all, confidences);
  for (const set of [...setsOf(all), undefined]) {
    const ours = all.filter((one) => set === undefined || one.set === set);
    const row = (name: string, brings: Brings) => [name, ...sharesOf(ours, () => true, brings)];
    printTable(
      [`${set ?? "all sets"}: % with hits, threshold`, "answerable lost", ...kindsOf(ours)],
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
  printBrought("the confidence in use", all, { confidences, lost });
}
