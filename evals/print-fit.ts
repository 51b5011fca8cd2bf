// `npm run eval -- --fit`: weights that fit the sets, what they give on conversations that they were not fitted to, and what
// each feature is worth.
import { type Feature, features } from "../src/domain/ranking/features.ts";
import { candidateKinds } from "../src/domain/ranking/pool.ts";
import type { ConfidenceWeights } from "../src/domain/ranking/confidence.ts";
import type { RankingModel, RankingWeights } from "../src/domain/ranking/weights.ts";
import { type Asked, confidenceBy, fittedConfidence, logLoss, thresholdAt } from "./confidence.ts";
import { bold } from "./demo/terminal.ts";
import { crossValidated, type Explained, fitted, reranked, used } from "./fit.ts";
import { mean, type Measure, pairedDifference, scoresOf } from "./metrics.ts";
import { asDifference, percent, printTable } from "./table.ts";
import { printAuc } from "./abstain.ts";

const PENALTIES = [0, 0.003, 0.01, 0.03];
/** The share of answerable questions that the threshold may cost. */
export const LOST = 0.03;
const SHOWN: readonly Measure[] = ["R@1", "R@10"];
const ALL = "all sets";

type Orders = readonly (readonly string[])[];

/** Prints the weights that fit best, by cross-validation over conversations. */
export function printFittedWeights(all: readonly Explained[], before: RankingWeights): RankingWeights {
  const byPenalty = PENALTIES.map((l1) => {
    const ranked = crossValidated(all, (others) => fitted(others, before, { l1 }), reranked);
    return { l1, ranked, mrr: mean(scoresOf("MRR", all, ranked)) };
  });
  const best = byPenalty.reduce((a, b) => (b.mrr > a.mrr ? b : a));
  const weights = fitted(all, before, best);
  const fitting = features.filter((name) => candidateKinds.some((kind) => (weights[kind][name] ?? 0) !== 0));
  const orderBy = (by: RankingWeights): Orders => all.map((one) => reranked(one, by));
  const [now, after] = [orderBy(before), orderBy(weights)];
  const without = fitting.map((feature) => ({
    feature,
    ranked: orderBy(fitted(all, before, { ...best, without: feature })),
  }));

  console.log(`\n${bold("weights")}, the penalty on which chosen by the MRR on other conversations:`);
  printTable(
    ["penalty", "MRR"],
    byPenalty.map(({ l1, mrr }) => [l1 === best.l1 ? `**${l1}**` : String(l1), percent(mrr)]),
  );
  for (const set of setsOf(all)) {
    const at = all.flatMap((one, i) => (set === ALL || one.set === set ? [i] : []));
    const questions = at.flatMap((i) => all[i] ?? []);
    const scores = (measure: Measure, ranked: Orders) =>
      scoresOf(
        measure,
        questions,
        at.map((i) => ranked[i] ?? []),
      );
    const rowOf = (name: string, ranked: Orders, beside: Orders): string[] => [
      name,
      ...SHOWN.flatMap((measure) => [
        percent(mean(scores(measure, ranked))),
        ranked === beside
          ? ""
          : asDifference(pairedDifference(scores(measure, ranked), scores(measure, beside))),
      ]),
    ];
    console.log(`\n${bold(set)}: ${at.length} questions`);
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
  const isWorth = (ranked: Orders) =>
    setsOf(all).some((set) => {
      const questions = all.flatMap((one, i) =>
        set === ALL || one.set === set ? [{ one, ours: after[i] ?? [], theirs: ranked[i] ?? [] }] : [],
      );
      return SHOWN.some((measure) => {
        const of = (orders: Orders) =>
          scoresOf(
            measure,
            questions.map(({ one }) => one),
            orders,
          );
        const ours = of(questions.map((one) => one.ours));
        return pairedDifference(ours, of(questions.map((one) => one.theirs))).interval[0] > 0;
      });
    });
  const worthless = without.filter(({ ranked }) => !isWorth(ranked)).map(({ feature }) => feature);
  const unused: Feature[] = features.filter((feature) => !fitting.includes(feature));
  console.log(`\nWorth nothing on any set: ${[...worthless, ...unused].join(", ") || "none"}`);
  return used(weights);
}

/** Small talk has no confidence by any weights. */
const isToFit = ({ only, confidence }: Asked): boolean => only !== "report" && confidence > 0;

/** Prints the confidence that fits best, by cross-validation over conversations. */
export function printFittedConfidence(
  all: readonly Asked[],
  before: ConfidenceWeights,
): Pick<RankingModel, "confidence" | "threshold"> {
  const reported = all.filter(({ only }) => only !== "fit");
  const byPenalty = PENALTIES.map((l1) => {
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
  printAuc("in use", reported, now);
  printAuc("fitted to other conversations", reported, best.held);
  const threshold = thresholdAt(
    reported,
    reported.map((one) => confidenceBy(one, confidence)),
    LOST,
  );
  return { confidence, threshold: Math.round(threshold * 100) / 100 };
}

const setsOf = (all: readonly { set: string }[]): string[] => {
  const sets = [...new Set(all.map(({ set }) => set))];
  return sets.length === 1 ? sets : [...sets, ALL];
};
