import { asksNothing } from "./courtesy.ts";
import { confidenceOf, type Signals, signalsOf } from "./confidence.ts";
import { type Feature, type Featured, features, featuresOf, type Question } from "./features.ts";
import { goingOn } from "./goes-on.ts";
import type { Reading } from "./judgement.ts";
import type { WordStatistics } from "./lexicon.ts";
import { type Match, type PassageMatch, passageMatches } from "./matches.ts";
import { isLong, type Passage } from "./passages.ts";
import { type CandidateKind, candidateKinds, type PoolMember } from "./pool.ts";
import { reasonOf } from "./reason.ts";
import { bestOf, secondStage } from "./second-stage.ts";
import type { RankingModel } from "./weights.ts";

/** The weights that callers can set, and the features of each. */
const groups = {
  lexical: ["words", "wordsNear", "exact"],
  soft: ["soft", "softNear", "sitting"],
  vector: ["vector", "vectorPair"],
  speaker: ["speaker", "user", "asks", "answers"],
  length: ["length"],
  time: ["time", "date"],
  key: ["key"],
  importance: ["importance"],
  recency: ["recency"],
  instructions: ["applies"],
} satisfies Record<string, Feature[]>;
/** `statements`: the second stage, which has no features. */
export type WeightName = keyof typeof groups | "statements";
const groupNames = Object.keys(groups) as (keyof typeof groups)[];
/** Factors on what is usual: 0 leaves a part out, 1 is as if it was not given. */
export type Weights = { [Name in WeightName]?: number | undefined };

/** The contribution of each group of features, and of the second stage, to the sum that orders the hits. */
type ScoreParts = { [Name in WeightName]?: number };
/** `features`: those of the candidate that are not 0, as an evaluation fits weights to them. `sentence`: why it is where it is. */
type Explanation = {
  sentence: string;
  parts: ScoreParts;
  features: { [Name in Feature]?: number };
  kind: CandidateKind;
};
/** `replacedAt`: the time of a later statement that replaces it. `passage`: of a long text, the one that says most of the question. */
type Ranked = { n: number; score: number; replacedAt?: number; passage?: Passage; explanation?: Explanation };

/** A score falls by half for this much less than the best candidate's sum. */
export const HALVED_BY = 2;

type RankOptions = {
  words: WordStatistics | null;
  model: RankingModel;
  weights?: Weights;
  explain?: boolean;
};

/**
 * Every candidate, best first. A weighted sum of features orders them; the second stage looks at what the best of them state. A
 * score is the confidence that the question has an answer here, less for each candidate the further its sum is below the best
 * one's. So scores of two questions, or users, compare.
 */
export function rank(
  question: Question,
  pool: readonly PoolMember[],
  { words, model, weights = {}, explain = false }: RankOptions,
): { ranked: Ranked[]; confidence: number; signals: Signals } {
  const featured = featuresOf(question, pool, words);
  const { table } = featured;
  const weightOf = weightsOf(model.weights, weights, featured);
  const partOf: PartOf = (i, names) =>
    names.reduce((sum, name) => sum + weightOf(i, name) * (table[name][i] ?? 0), 0);
  const first = pool.map((_, i) => partOf(i, features));
  const passages = rematch(first, question.text, featured, weightOf);
  const factor = weights.statements ?? 1;
  const readings = factor === 0 ? [] : secondStage(question, featured, first, model.statements);
  const readingOf = new Map(readings.map((reading) => [reading.i, reading]));
  const addedTo = (i: number): number => factor * (readingOf.get(i)?.added ?? 0);
  const sums = first.map((sum, i) => sum + addedTo(i));
  // An instruction says how to answer, and is no answer: the scores of the others do not depend on it.
  const answering = sums.map((sum, i) => sum - partOf(i, ["applies"]));
  const most = Math.max(...answering);
  const best = answering.indexOf(most);
  const signals = signalsOf(question.text, featured, { best, readingOf, isStatic: model.isStatic });
  // A question that names a key is answered by it.
  const estimate = asksNothing(question.text) ? 0 : confidenceOf(signals, model.confidence);
  const confidence = Math.max(estimate, ...table.key);
  const ranked = pool.map(({ n }, i) => {
    const sum = sums[i] ?? 0;
    const reading = readingOf.get(i);
    const passage = passages.get(i)?.passage;
    const one: Ranked = {
      n,
      score: confidence * Math.min(1, 2 ** ((sum - most) / HALVED_BY)),
      ...(reading?.replacedAt !== undefined && { replacedAt: reading.replacedAt }),
      ...(passage !== undefined && { passage }),
      ...(explain && { explanation: explanationOf(i, featured, { partOf, reading, added: addedTo(i) }) }),
    };
    return { one, sum };
  });
  const bestFirst = ranked.toSorted((a, b) => b.sum - a.sum || b.one.n - a.one.n).map(({ one }) => one);
  return { ranked: bestFirst, confidence, signals };
}

/** The best candidates of which the long ones are looked at by passages. */
const CUT = 20;
/** The share of the difference that counts: what stands around a passage says something too. */
const TRUSTED = 0.5;

/**
 * Lets the match of another text count in a sum in the place of a candidate's own: of what a message goes on from, and of a long
 * text's best passage, for a long text has some word of every question. Answers the passages by the places of their texts.
 */
function rematch(
  sums: number[],
  question: string,
  featured: Featured,
  weightOf: WeightOf,
): ReadonlyMap<number, PassageMatch> {
  const { pool, words, table, matches } = featured;
  const greatest = Math.max(0, ...matches.soft) || 1;
  const move = (i: number, { soft, exact }: Match, share: number): void => {
    const softly = weightOf(i, "soft") * (soft / greatest - (table.soft[i] ?? 0));
    const exactly = weightOf(i, "exact") * (exact - (table.exact[i] ?? 0));
    sums[i] = (sums[i] ?? 0) + share * (softly + exactly);
  };
  for (const [i, match] of goingOn(featured)) move(i, match, 1);
  const textOf = (i: number): string => pool[i]?.text ?? "";
  const long = bestOf(sums, CUT).filter((i) => isLong(textOf(i)));
  const best = words === null || long.length === 0 ? [] : passageMatches(question, long.map(textOf), words);
  const passages = new Map(best.map((match, k) => [long[k] ?? 0, match]));
  for (const [i, match] of passages) move(i, match, TRUSTED);
  return passages;
}

/** The weight of a feature for the candidate at a place of the pool. */
type WeightOf = (i: number, feature: Feature) => number;
/** The part of that candidate's sum that some features have. */
type PartOf = (i: number, names: readonly Feature[]) => number;

/** Features that mean the same in each kind, and count alike. */
const SAME_IN_ALL: ReadonlySet<Feature> = new Set(["date", "applies"]);

/**
 * The weights of each kind, so that the best possible candidates of all kinds in the pool have equal sums. A kind whose features
 * are few would else rank below the others.
 */
function weightsOf(own: RankingModel["weights"], factors: Weights, { pool, table }: Featured): WeightOf {
  const factorOf = new Map<Feature, number>(
    groupNames.flatMap((name) => groups[name].map((feature) => [feature, factors[name] ?? 1] as const)),
  );
  const weightOf = (kind: CandidateKind, name: Feature) => (own[kind][name] ?? 0) * (factorOf.get(name) ?? 1);
  const isIn = (kind: CandidateKind, name: Feature) =>
    pool.some((one, i) => one.kind === kind && (table[name][i] ?? 0) > 0);
  const reachOf = (kind: CandidateKind): number =>
    features
      .filter((name) => !SAME_IN_ALL.has(name) && isIn(kind, name))
      .reduce((sum, name) => sum + Math.max(0, weightOf(kind, name)), 0);
  const reach = new Map(candidateKinds.map((kind) => [kind, reachOf(kind)]));
  const most = Math.max(...reach.values());
  return (i, name) => {
    const kind = pool[i]?.kind ?? "memory";
    return weightOf(kind, name) * (SAME_IN_ALL.has(name) ? 1 : most / (reach.get(kind) || most || 1));
  };
}

/** The values that are not 0, rounded. */
const present = (values: readonly (readonly [string, number])[]): Record<string, number> =>
  Object.fromEntries(
    values.flatMap(([name, value]) => (value === 0 ? [] : [[name, Math.round(value * 1e4) / 1e4]])),
  );

function explanationOf(
  i: number,
  { pool, table }: Featured,
  { partOf, reading, added }: { partOf: PartOf; reading: Reading | undefined; added: number },
): Explanation {
  const parts = groupNames.map((name) => [name, partOf(i, groups[name])] as const);
  return {
    sentence: reasonOf(table, i, reading),
    parts: present([["statements", added], ...parts]),
    features: present(features.map((name) => [name, table[name][i] ?? 0])),
    kind: pool[i]?.kind ?? "memory",
  };
}
