// Tells if a recall knows when nothing fits: the confidence of questions with an answer against that of questions without one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cairn, RecallAnswer } from "../client/src/index.ts";
import { type ConfidenceWeights, signalNames } from "../src/domain/ranking/confidence.ts";
import { progress } from "./demo/terminal.ts";
import type { Corpus } from "./dataset.ts";
import { areaUnderCurve } from "./metrics.ts";

export const ANSWERABLE = "answerable";
/** A query, its kind, and what a recall answered to it. */
export type Judged = {
  corpus: string;
  kind: string;
  confidence: number;
  abstained: boolean;
  signals: readonly number[];
};

const { smallTalk, offTopic } = JSON.parse(
  readFileSync(join(import.meta.dirname, "off-topic.json"), "utf8"),
) as { smallTalk: string[]; offTopic: string[] };
/** Questions of other conversations that are asked in each. */
const FOREIGN = 40;
const [STEPS, RATE, L1] = [600, 0.05, 0.001];

/** Asks a conversation its own questions, those of the others, small talk, and what has nothing to do with it. */
export async function judge(
  client: Cairn,
  user: string,
  { corpus, others }: { corpus: Corpus; others: readonly Corpus[] },
): Promise<Judged[]> {
  const foreign = others
    .filter((other) => other !== corpus && other.set === corpus.set)
    .flatMap(({ questions }) => questions.map(({ query }) => query));
  const step = Math.max(1, Math.ceil(foreign.length / FOREIGN));
  const asked = [
    ...corpus.questions.map(({ query }) => ({ query, kind: ANSWERABLE })),
    ...corpus.unanswerable.map(({ query, category }) => ({ query, kind: category })),
    ...foreign.filter((_, i) => i % step === 0).map((query) => ({ query, kind: "foreign" })),
    ...smallTalk.map((query) => ({ query, kind: "small-talk" })),
    ...offTopic.map((query) => ({ query, kind: "off-topic" })),
  ];
  const judged: Judged[] = [];
  const draw = progress(`judging ${corpus.name}`, asked.length);
  for (const { query, kind } of asked) {
    const answer = await client.recall(user, { query, explain: true, answerable: "auto", window: 0 });
    judged.push({ corpus: corpus.name, kind, ...judgementOf(answer) });
    draw(judged.length);
  }
  return judged;
}

const judgementOf = ({ confidence, abstained, signals = {} }: RecallAnswer) => ({
  confidence,
  abstained: abstained === true,
  signals: signalNames.map((name) => signals[name] ?? 0),
});

const isAnswerable = ({ kind }: Judged): boolean => kind === ANSWERABLE;

/** Fits the confidence: a logistic regression in which the kinds of each conversation weigh the same, and the answerable half. */
export function fittedConfidence(all: readonly Judged[]): ConfidenceWeights {
  // Small talk never comes to the estimate.
  const used = all.filter(({ signals, confidence }) => confidence > 0 && signals.some((one) => one !== 0));
  const counts = new Map<string, number>();
  const group = ({ corpus, kind }: Judged) => `${corpus} ${kind}`;
  for (const one of used) counts.set(group(one), (counts.get(group(one)) ?? 0) + 1);
  const positives = used
    .filter(isAnswerable)
    .reduce((sum, one) => sum + 1 / (counts.get(group(one)) ?? 1), 0);
  const negatives = used
    .filter((one) => !isAnswerable(one))
    .reduce((sum, one) => sum + 1 / (counts.get(group(one)) ?? 1), 0);
  const weightOf = (one: Judged) =>
    1 / ((counts.get(group(one)) ?? 1) * 2 * (isAnswerable(one) ? positives : negatives));
  const size = signalNames.length;
  const weights = new Float64Array(size + 1);
  const [mean, square] = [new Float64Array(size + 1), new Float64Array(size + 1)];
  for (let step = 1; step <= STEPS; step++) {
    const slope = new Float64Array(size + 1);
    for (const one of used) {
      const error = weightOf(one) * (probability(one.signals, weights) - Number(isAnswerable(one)));
      for (let i = 0; i <= size; i++) slope[i] = (slope[i] ?? 0) + error * (one.signals[i] ?? 1);
    }
    for (let i = 0; i <= size; i++) {
      mean[i] = 0.9 * (mean[i] ?? 0) + 0.1 * (slope[i] ?? 0);
      square[i] = 0.999 * (square[i] ?? 0) + 0.001 * (slope[i] ?? 0) ** 2;
      const scale = RATE / (Math.sqrt((square[i] ?? 0) / (1 - 0.999 ** step)) + 1e-3);
      const moved = (weights[i] ?? 0) - (scale * (mean[i] ?? 0)) / (1 - 0.9 ** step);
      weights[i] = i === size ? moved : Math.sign(moved) * Math.max(0, Math.abs(moved) - scale * L1);
    }
  }
  const rounded = (i: number) => Math.round((weights[i] ?? 0) * 100) / 100;
  return {
    bias: rounded(size),
    ...Object.fromEntries(signalNames.map((name, i) => [name, rounded(i)]).filter(([, one]) => one !== 0)),
  };
}

function probability(signals: readonly number[], weights: Float64Array): number {
  let sum = weights[signals.length] ?? 0;
  for (const [i, signal] of signals.entries()) sum += (weights[i] ?? 0) * signal;
  return 1 / (1 + Math.exp(-sum));
}

/** The same judgements with the confidence of weights that were fitted on the other conversations. */
export function crossValidatedConfidence(all: readonly Judged[]): Judged[] {
  const weightsFor = new Map(
    Array.from(new Set(all.map(({ corpus }) => corpus)), (name) => {
      const { bias, ...weights } = fittedConfidence(all.filter(({ corpus }) => corpus !== name));
      return [name, Float64Array.from([...signalNames.map((one) => weights[one] ?? 0), bias])];
    }),
  );
  return all.map((one) => ({
    ...one,
    confidence:
      one.confidence === 0 ? 0 : probability(one.signals, weightsFor.get(one.corpus) ?? new Float64Array()),
  }));
}

/** The confidence below which so large a share of the answerable questions is. */
export function thresholdOf(all: readonly Judged[], share: number): number {
  const sorted = all
    .filter(isAnswerable)
    .map(({ confidence }) => confidence)
    .toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

const percent = (share: number): string => (100 * share).toFixed(0);
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Prints how well the confidence tells each kind from the answerable, and the shares that reach a threshold. */
export function printAbstention(title: string, all: readonly Judged[]): void {
  const kinds = [...new Set(all.map(({ kind }) => kind))].filter((kind) => kind !== ANSWERABLE);
  const of = (kind: string) => all.filter((one) => one.kind === kind);
  const scores = (some: readonly Judged[]) => some.map(({ confidence }) => confidence);
  const unanswerable = all.filter((one) => !isAnswerable(one));
  console.log(`\n${title}: ${all.length} queries\n`);
  console.log(row(["", "all", ...kinds]));
  console.log(row(Array.from({ length: kinds.length + 2 }, () => "---")));
  const auc = (some: readonly Judged[]) => areaUnderCurve(scores(of(ANSWERABLE)), scores(some)).toFixed(2);
  console.log(row(["queries", String(unanswerable.length), ...kinds.map((kind) => String(of(kind).length))]));
  console.log(row(["AUC", auc(unanswerable), ...kinds.map((kind) => auc(of(kind)))]));
  for (const lost of [0.01, 0.03, 0.05, 0.1]) {
    const threshold = thresholdOf(all, lost);
    const reach = (some: readonly Judged[]) =>
      percent(some.filter(({ confidence }) => confidence >= threshold).length / some.length);
    console.log(
      row([
        `% with hits at ${threshold.toFixed(2)} (${percent(lost)} % of the answerable lost)`,
        reach(unanswerable),
        ...kinds.map((kind) => reach(of(kind))),
      ]),
    );
  }
  const answered = (some: readonly Judged[]) =>
    percent(some.filter((one) => !one.abstained).length / some.length);
  console.log(
    row([
      `% with hits by \`answerable: auto\` (${answered(of(ANSWERABLE))} of the answerable)`,
      answered(unanswerable),
      ...kinds.map((kind) => answered(of(kind))),
    ]),
  );
}
