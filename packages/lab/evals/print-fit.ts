// `npm run eval -- --fit`: weights that fit the sets, what they give on conversations that they were not fitted to, and what
// each feature is worth.
import { features } from "#domain/ranking/features.ts";
import type { ConfidenceWeights } from "#domain/ranking/confidence.ts";
import type { RankingModel, RankingWeights } from "#domain/ranking/weights.ts";
import { type Asked, confidenceBy, fittedConfidence, logLoss, thresholdAt } from "./confidence.ts";
import { bold } from "./demo/terminal.ts";
import { crossValidated, type Explained, fitted, parametersOf, reranked, withoutZeros } from "./fit.ts";
import { type Difference, mean, type Measure, pairedDifference, scoresOf } from "./metrics.ts";
import { asDifference, percent, printTable } from "../table.ts";
import { printAuc, printBrought } from "./abstain.ts";

const PENALTIES = [0, 0.003, 0.01, 0.03];
/** The penalties of the confidence, whose loss is smaller. */
const FINER_PENALTIES = [0, 0.0003, 0.001, 0.003];
/** The share of answerable questions that the threshold may cost. */
export const LOST = 0.03;
const SHOWN: readonly Measure[] = ["R@1", "R@10"];
const ALL = "all sets";

type Orders = readonly (readonly string[])[];

/** The measure of each question of a set. */
function scoresOn(
  all: readonly Explained[],
  set: string,
  { measure, ranked }: { measure: Measure; ranked: Orders },
): number[] {
  const isOf = (_: unknown, i: number): boolean => set === ALL || all[i]?.set === set;
  return scoresOf(measure, all.filter(isOf), ranked.filter(isOf));
}

const differenceOn = (
  all: readonly Explained[],
  set: string,
  { measure, ours, theirs }: { measure: Measure; ours: Orders; theirs: Orders },
): Difference =>
  pairedDifference(
    scoresOn(all, set, { measure, ranked: ours }),
    scoresOn(all, set, { measure, ranked: theirs }),
  );

/** Prints the weights that fit best, by cross-validation over conversations. */
export function printFittedWeights(all: readonly Explained[], before: RankingWeights): RankingWeights {
  const byPenalty = PENALTIES.map((l1) => {
    const ranked = crossValidated(all, (others) => fitted(others, before, { l1 }), reranked);
    return { l1, ranked, mrr: mean(scoresOf("MRR", all, ranked)) };
  });
  const best = byPenalty.reduce((a, b) => (b.mrr > a.mrr ? b : a));
  const weights = fitted(all, before, best);
  const fitting = [...new Set(parametersOf(all).map(({ feature }) => feature))];
  const orderBy = (by: RankingWeights): Orders => all.map((one) => reranked(one, by));
  const [now, after] = [orderBy(before), orderBy(weights)];
  const without = fitting.map((feature) => ({
    feature,
    ranked: orderBy(fitted(all, before, { ...best, without: feature })),
  }));

  console.log(`\n${bold("weights")}, the penalty on which chosen by the MRR on other conversations:`);
  printTable(
    ["penalty", "MRR"],
    [
      ["in use", percent(mean(scoresOf("MRR", all, now)))],
      ...byPenalty.map(({ l1, mrr }) => [l1 === best.l1 ? `**${l1}**` : String(l1), percent(mrr)]),
    ],
  );
  for (const set of setsOf(all)) {
    const rowOf = (name: string, ranked: Orders, beside: Orders): string[] => [
      name,
      ...SHOWN.flatMap((measure) => [
        percent(mean(scoresOn(all, set, { measure, ranked }))),
        ranked === beside
          ? ""
          : asDifference(differenceOn(all, set, { measure, ours: ranked, theirs: beside })),
      ]),
    ];
    console.log(`\n${bold(set)}`);
    printTable(
      ["weights", ...SHOWN.flatMap((measure) => [measure, "difference (95 %)"])],
      [
        rowOf("in use", now, now),
        rowOf("fitted to other conversations", best.ranked, now),
        rowOf("fitted to all", after, now),
        ...without.map(({ feature, ranked }) => rowOf(`the same without ${feature}`, ranked, after)),
      ],
    );
  }
  const isWorth = (ranked: Orders): boolean =>
    setsOf(all).some((set) =>
      SHOWN.some(
        (measure) => differenceOn(all, set, { measure, ours: after, theirs: ranked }).interval[0] > 0,
      ),
    );
  const worthless = without.filter(({ ranked }) => !isWorth(ranked)).map(({ feature }) => feature);
  const left = features.filter((feature) => !fitting.includes(feature));
  console.log(`\nOf no worth on any set, each by itself: ${worthless.join(", ") || "none"}.`);
  console.log(`Not fitted, as the sets say nothing about them: ${left.join(", ") || "none"}.`);
  return withoutZeros(weights, before);
}

/** Small talk has no confidence by any weights. */
const isToFit = ({ only, confidence }: Asked): boolean => only !== "report" && confidence > 0;

/** Prints the confidence that fits best, by cross-validation over conversations. */
export function printFittedConfidence(
  all: readonly Asked[],
  before: ConfidenceWeights,
): Pick<RankingModel, "confidence" | "threshold"> {
  const reported = all.filter(({ only }) => only !== "fit");
  const byPenalty = FINER_PENALTIES.map((l1) => {
    const confidences = crossValidated(
      all,
      (others) => fittedConfidence(others.filter(isToFit), l1),
      confidenceBy,
    );
    const held = confidences.filter((_, i) => all[i]?.only !== "fit");
    return { l1, held, loss: logLoss(reported, held) };
  });
  const best = byPenalty.reduce((a, b) => (b.loss < a.loss ? b : a));
  const confidence = fittedConfidence(all.filter(isToFit), best.l1);
  const now = reported.map((one) => confidenceBy(one, before));
  console.log(`\n${bold("confidence")}, the penalty on which chosen by the log loss on other conversations:`);
  printTable(
    ["penalty", "log loss"],
    [
      ["in use", logLoss(reported, now).toFixed(4)],
      ...byPenalty.map(({ l1, loss }) => [l1 === best.l1 ? `**${l1}**` : String(l1), loss.toFixed(4)]),
    ],
  );
  for (const [name, confidences] of [
    ["in use", now],
    ["fitted to other conversations", best.held],
  ] as const) {
    printAuc(name, reported, confidences);
    printBrought(name, reported, { confidences, lost: LOST });
  }
  const threshold = thresholdAt(
    reported,
    reported.map((one) => confidenceBy(one, confidence)),
    LOST,
  );
  // A 0 in the place of a weight in use.
  const zeros = Object.fromEntries(Object.keys(before).map((name) => [name, 0]));
  return { confidence: { ...zeros, ...confidence }, threshold: Math.round(threshold * 100) / 100 };
}

const setsOf = (all: readonly { set: string }[]): string[] => {
  const sets = [...new Set(all.map(({ set }) => set))];
  return sets.length === 1 ? sets : [...sets, ALL];
};
