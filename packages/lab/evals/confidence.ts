// Fits the confidence that a question has an answer: which weights its signals get, and which threshold they need.
import {
  confidenceOf,
  type ConfidenceWeights,
  type Signals,
  signalNames,
} from "#domain/ranking/confidence.ts";
import { minimise } from "./descent.ts";

export const ANSWERABLE = "answerable";
/** A question about a subject that is known, and of which the store lacks what is asked. It is hardest to tell, and weighs more. */
export const NEAR_UNKNOWN = "near-unknown";
const OF_NEAR_UNKNOWN = 3;
/** A query, and how sure Cairn was. `kind`: `answerable`, or a word for why it has no answer. */
export type Asked = {
  set: string;
  corpus: string;
  kind: string;
  /** Only to report by, or only to fit to; both unless set. */
  only?: "fit" | "report";
  confidence: number;
  signals: Signals;
  abstained: boolean;
};
/** The confidence by other weights. Small talk has none by any. */
export const confidenceBy = ({ confidence, signals }: Asked, weights: ConfidenceWeights): number =>
  confidence === 0 ? 0 : confidenceOf(signals, weights);

type Labelled = Pick<Asked, "set" | "kind" | "signals">;

/**
 * The weight of each: that of its set and kind together grows with the root of their number, so that no set dominates. The
 * answerable and all others weigh alike.
 */
export function balanced(all: readonly Pick<Asked, "set" | "kind">[]): number[] {
  const groupOf = ({ set, kind }: Pick<Asked, "set" | "kind">) => `${set} ${kind}`;
  const sizes = new Map<string, number>();
  for (const one of all) sizes.set(groupOf(one), (sizes.get(groupOf(one)) ?? 0) + 1);
  const weights = all.map(
    (one) => (one.kind === NEAR_UNKNOWN ? OF_NEAR_UNKNOWN : 1) / Math.sqrt(sizes.get(groupOf(one)) ?? 1),
  );
  const total = (answerable: boolean) =>
    all.reduce((sum, { kind }, i) => sum + ((kind === ANSWERABLE) === answerable ? (weights[i] ?? 0) : 0), 0);
  const [positive, negative] = [total(true), total(false)];
  return all.map(({ kind }, i) => (weights[i] ?? 0) / (2 * (kind === ANSWERABLE ? positive : negative)));
}

/** The signals that can only count against an answer. */
const against: ReadonlySet<string> = new Set(["lacksType", "task"]);

/** A logistic regression with a penalty on the sum of the absolute weights; the bias has none. */
export function fittedConfidence(all: readonly Labelled[], l1: number): ConfidenceWeights {
  const share = balanced(all);
  const rows = all.map(({ signals }) => Float64Array.from([...signalNames.map((name) => signals[name]), 1]));
  const slopesAt = (values: Float64Array): Float64Array => {
    const slopes = new Float64Array(values.length);
    for (const [i, row] of rows.entries()) {
      let sum = 0;
      for (let k = 0; k < row.length; k++) sum += (values[k] ?? 0) * (row[k] ?? 0);
      const error = 1 / (1 + Math.exp(-sum)) - (all[i]?.kind === ANSWERABLE ? 1 : 0);
      for (let k = 0; k < row.length; k++)
        slopes[k] = (slopes[k] ?? 0) + error * (share[i] ?? 0) * (row[k] ?? 0);
    }
    return slopes;
  };
  const values = minimise(
    [
      // A better match is no sign that there is no answer.
      ...signalNames.map((name) => ({ sign: against.has(name) ? (-1 as const) : (1 as const), penalty: l1 })),
      { sign: 0, penalty: 0 },
    ],
    slopesAt,
  );
  return weightsOf(values.map((value) => Math.round(value * 10) / 10));
}

const weightsOf = (values: Float64Array): ConfidenceWeights => {
  const weights: ConfidenceWeights = { bias: values[signalNames.length] ?? 0 };
  for (const [k, name] of signalNames.entries()) if (values[k] !== 0) weights[name] = values[k];
  return weights;
};

/** The mean negative log of the probability of the true class, in natural logarithms, weighed by `balanced`. */
export function logLoss(all: readonly Pick<Asked, "set" | "kind">[], confidences: readonly number[]): number {
  const share = balanced(all);
  return all.reduce((sum, { kind }, i) => {
    const confidence = confidences[i] ?? 0;
    return (
      sum - (share[i] ?? 0) * Math.log(Math.max(1e-9, kind === ANSWERABLE ? confidence : 1 - confidence))
    );
  }, 0);
}

/** The confidence below which this share of the answerable lies. */
export function thresholdAt(
  all: readonly Pick<Asked, "kind">[],
  confidences: readonly number[],
  lost: number,
): number {
  const sorted = confidences.filter((_, i) => all[i]?.kind === ANSWERABLE).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * lost)] ?? 0;
}
