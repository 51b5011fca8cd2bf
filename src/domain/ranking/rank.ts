import { asksNothing } from "./courtesy.ts";
import { confidenceOf, type Signals, signalsOf } from "./confidence.ts";
import {
  type Feature,
  features,
  featuresOf,
  type FeatureTable,
  type Matches,
  type PassageMatch,
  passageMatches,
  type Question,
  type WordStatistics,
} from "./features.ts";
import { goingOn } from "./goes-on.ts";
import { isLong, type Passage } from "./passages.ts";
import type { CandidateKind, PooledCandidate } from "./pool.ts";
import type { Judgement } from "./judgement.ts";
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
  pool: readonly PooledCandidate[],
  { words, model, weights = {}, explain = false }: RankOptions,
): { ranked: Ranked[]; confidence: number; signals: Signals } {
  const { table, matches } = featuresOf(question, pool, words);
  const weightOf = commonScale(weighed(model.weights, weights), pool, table);
  const first = pool.map(({ kind }, i) =>
    features.reduce((sum, name) => sum + weightOf(kind, name) * (table[name][i] ?? 0), 0),
  );
  const rematch = rematching(first, { pool, table, matches, weightOf });
  for (const [i, match] of goingOn(pool, matches.pieces)) rematch(i, match, 1);
  const passages = words === null ? NO_PASSAGES : passagesOfBest(question.text, first, { pool, words });
  for (const [i, match] of passages) rematch(i, match, TRUSTED);
  const factor = weights.statements ?? 1;
  const { until, isPast = false } = question;
  const stage = { pool, sums: first, words, until, isPast, weights: model.statements };
  const judged = factor === 0 ? [] : secondStage(question.text, stage);
  const sums = first.map((sum, i) => sum + factor * (judged[i]?.added ?? 0));
  // An instruction says how to answer, and is no answer: the scores of the others do not depend on it.
  const answering = sums.map(
    (sum, i) => sum - weightOf(pool[i]?.kind ?? "memory", "applies") * (table.applies[i] ?? 0),
  );
  const most = Math.max(...answering);
  const signals = signalsOf(question.text, {
    pool,
    matches,
    table,
    best: answering.indexOf(most),
    judged,
    isStatic: model.isStatic,
    words,
  });
  // A question that names a key is answered by it.
  const estimate = asksNothing(question.text) ? 0 : confidenceOf(signals, model.confidence);
  const confidence = table.key.reduce((greatest, key) => Math.max(greatest, key), estimate);
  const ranked = pool
    .map((one, i) => {
      const sum = sums[i] ?? 0;
      const score = confidence * Math.min(1, 2 ** ((sum - most) / HALVED_BY));
      const judgement = judged[i];
      const replacedBy = judgement?.replacedBy;
      const replacedAt = replacedBy === undefined ? undefined : pool[replacedBy]?.createdAt;
      const passage = passages.get(i)?.passage;
      return {
        n: one.n,
        sum,
        score,
        ...(replacedAt !== undefined && { replacedAt }),
        ...(passage !== undefined && { passage }),
        ...(explain && {
          explanation: explanationOf(table, i, { kind: one.kind, weightOf, factor, judgement, replacedAt }),
        }),
      };
    })
    .toSorted((a, b) => b.sum - a.sum || b.n - a.n)
    .map(({ sum: _sum, ...one }) => one);
  return { ranked, confidence, signals };
}

const NO_PASSAGES: ReadonlyMap<number, PassageMatch> = new Map();
/** The best candidates of which the long ones are looked at by passages. */
const CUT = 20;
/** The share of the difference that counts: what stands around a passage says something too. */
const TRUSTED = 0.5;

/** The passages of the long texts among the best candidates, by their places in the pool: a long text has some word of every question. */
function passagesOfBest(
  question: string,
  sums: readonly number[],
  { pool, words }: { pool: readonly PooledCandidate[]; words: WordStatistics },
): ReadonlyMap<number, PassageMatch> {
  const long = bestOf(sums, CUT).filter((i) => isLong(pool[i]?.text ?? ""));
  if (long.length === 0) return NO_PASSAGES;
  const texts = long.map((i) => pool[i]?.text ?? "");
  return new Map(passageMatches(question, texts, words).map((one, k) => [long[k] ?? 0, one]));
}

/** Changes sums: lets the match of another text count in the place of a candidate's own, by a share of the difference. */
function rematching(
  sums: number[],
  {
    pool,
    table,
    matches,
    weightOf,
  }: {
    pool: readonly PooledCandidate[];
    table: FeatureTable;
    matches: Matches;
    weightOf: WeightOf;
  },
): (i: number, match: { soft: number; exact: number }, share: number) => void {
  const greatest = matches.soft.reduce((most, one) => Math.max(most, one), 0) || 1;
  return (i, { soft, exact }, share) => {
    const kind = pool[i]?.kind ?? "memory";
    const softly = weightOf(kind, "soft") * (soft / greatest - (table.soft[i] ?? 0));
    const exactly = weightOf(kind, "exact") * (exact - (table.exact[i] ?? 0));
    sums[i] = (sums[i] ?? 0) + share * (softly + exactly);
  };
}

type WeightOf = (kind: CandidateKind, feature: Feature) => number;

function weighed(own: RankingModel["weights"], factors: Weights): WeightOf {
  const factorOf = new Map(
    groupNames.flatMap((name) => groups[name].map((feature) => [feature, factors[name] ?? 1] as const)),
  );
  return (kind, feature) => (own[kind][feature] ?? 0) * (factorOf.get(feature) ?? 1);
}

/** Features that mean the same in each kind, and count alike. */
const SAME_IN_ALL: ReadonlySet<Feature> = new Set(["date", "applies"]);

/**
 * The weights of each kind, so that the best possible candidates of all kinds in the pool have equal sums. A kind whose features
 * are few would else rank below the others.
 */
function commonScale(weightOf: WeightOf, pool: readonly PooledCandidate[], table: FeatureTable): WeightOf {
  const present = new Map<CandidateKind, Set<Feature>>();
  for (const [i, { kind }] of pool.entries())
    for (const name of features)
      if ((table[name][i] ?? 0) > 0) present.set(kind, (present.get(kind) ?? new Set()).add(name));
  const reach = new Map(
    Array.from(present, ([kind, names]) => [
      kind,
      [...names].reduce(
        (sum, name) => sum + (SAME_IN_ALL.has(name) ? 0 : Math.max(0, weightOf(kind, name))),
        0,
      ),
    ]),
  );
  const most = Math.max(0, ...reach.values());
  return (kind, name) =>
    weightOf(kind, name) * (SAME_IN_ALL.has(name) ? 1 : most / (reach.get(kind) || most || 1));
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;

function explanationOf(
  table: FeatureTable,
  i: number,
  {
    kind,
    weightOf,
    factor,
    judgement,
    replacedAt,
  }: {
    kind: CandidateKind;
    weightOf: WeightOf;
    factor: number;
    judgement: Judgement | undefined;
    replacedAt: number | undefined;
  },
): Explanation {
  const statements = factor * (judgement?.added ?? 0);
  const parts: ScoreParts = statements === 0 ? {} : { statements: rounded(statements) };
  for (const name of groupNames) {
    const group: readonly Feature[] = groups[name];
    const part = group.reduce((sum, one) => sum + weightOf(kind, one) * (table[one][i] ?? 0), 0);
    if (part !== 0) parts[name] = rounded(part);
  }
  const present = features.flatMap((name) => {
    const value = table[name][i] ?? 0;
    return value === 0 ? [] : [[name, rounded(value)] as const];
  });
  const sentence = reasonOf(table, i, { judgement, replacedAt });
  return { sentence, parts, features: Object.fromEntries(present), kind };
}
