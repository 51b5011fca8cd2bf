// Fits the weights of features to questions whose answers are known. A deployment can fit its own: the features come from
// `explain` of the public API.
import type { RecallAnswer } from "#client/index.ts";
import { type Feature, features } from "#domain/ranking/features.ts";
import { type CandidateKind, candidateKinds } from "#domain/ranking/pool.ts";
import type { RankingWeights } from "#domain/ranking/weights.ts";
import type { Question } from "./dataset.ts";
import { minimise } from "./descent.ts";

type ExplainedHit = { id: string; kind: CandidateKind; features: Partial<Record<Feature, number>> };
/** A question, and its hits with their features. */
export type Explained = { set: string; corpus: string; relevant: Question["relevant"]; hits: ExplainedHit[] };

/** The features that can only count against a candidate. The others can only count for it. */
const against: ReadonlySet<Feature> = new Set(["length", "asks"]);
/** A feature that differs in fewer questions than this keeps its weight. */
const LEAST_QUESTIONS = 20;

export const explainedHits = ({ hits }: RecallAnswer, names: ReadonlyMap<string, string>): ExplainedHit[] =>
  hits.map(({ id, why }) => ({
    id: names.get(id) ?? id,
    kind: why.kind ?? "memory",
    features: why.features ?? {},
  }));

const sumOf = ({ kind, features: own }: ExplainedHit, weights: RankingWeights): number =>
  features.reduce((sum, name) => sum + (weights[kind][name] ?? 0) * (own[name] ?? 0), 0);

/** The features that sets of questions say nothing about, and which keep their weights: what callers store, and how long ago. */
const byHand: ReadonlySet<Feature> = new Set(["key", "importance", "recency", "applies"]);
const byHandOfMemories: ReadonlySet<Feature> = new Set(["date", "time", "speaker"]);

type Parameter = { kind: CandidateKind; feature: Feature };
/** The features of the hits of one kind, those of hit i from `starts[i]` to `starts[i + 1]`: few differ from 0. */
type Example = {
  /** The sum of the features that keep their weights. */
  fixed: Float64Array;
  starts: Uint32Array;
  at: Uint8Array;
  values: Float64Array;
  relevant: number[];
};

/** The weights that the questions say something about. */
export function parametersOf(all: readonly Explained[], without?: Feature): Parameter[] {
  const differs = ({ hits }: Explained, { kind, feature }: Parameter): boolean =>
    new Set(hits.filter((hit) => hit.kind === kind).map((hit) => hit.features[feature] ?? 0)).size > 1;
  return candidateKinds
    .flatMap((kind) => features.map((feature) => ({ kind, feature })))
    .filter(({ feature }) => feature !== without && !byHand.has(feature))
    .filter(({ kind, feature }) => kind !== "memory" || !byHandOfMemories.has(feature))
    .filter((one) => all.filter((question) => differs(question, one)).length >= LEAST_QUESTIONS);
}

/** An example of each kind of which a hit is relevant: a recall brings the best of all kinds to equal sums by itself. */
function examplesOf(
  { hits, relevant }: Explained,
  parameters: readonly Parameter[],
  fixed: RankingWeights,
): Example[] {
  return candidateKinds.flatMap((kind) => {
    const ofKind = hits.filter((hit) => hit.kind === kind);
    const found = ofKind.flatMap(({ id }, i) => (relevant.some((part) => part.has(id)) ? [i] : []));
    if (found.length === 0) return [];
    const present = ofKind.map((hit) =>
      parameters.flatMap(({ kind: other, feature }, k) => {
        const value = hit.features[feature] ?? 0;
        return other === kind && value !== 0 ? [{ k, value }] : [];
      }),
    );
    let end = 0;
    return [
      {
        fixed: Float64Array.from(ofKind, (hit) => sumOf(hit, fixed)),
        starts: Uint32Array.from([0, ...present.map(({ length }) => (end += length))]),
        at: Uint8Array.from(present.flat(), ({ k }) => k),
        values: Float64Array.from(present.flat(), ({ value }) => value),
        relevant: found,
      },
    ];
  });
}

type FitOptions = { l1: number; without?: Feature };

/**
 * Minimises the mean negative log of the probability of a relevant hit, by a softmax over the hits of one kind, with a
 * penalty on the sum of the absolute weights. The weights of features that hardly differ stay as they are `before`.
 */
export function fitted(
  all: readonly Explained[],
  before: RankingWeights,
  { l1, without }: FitOptions,
): RankingWeights {
  const parameters = parametersOf(all, without);
  const fixed = changed(before, [
    ...parameters.map((one) => ({ ...one, weight: 0 })),
    ...(without === undefined ? [] : candidateKinds.map((kind) => ({ kind, feature: without, weight: 0 }))),
  ]);
  const examples = all.flatMap((one) => examplesOf(one, parameters, fixed));
  const slopesAt = (values: Float64Array): Float64Array => {
    const slopes = new Float64Array(values.length);
    for (const example of examples) addSlopes(slopes, example, values);
    return slopes.map((slope) => slope / examples.length);
  };
  const weights = minimise(
    parameters.map(({ feature }) => ({ sign: against.has(feature) ? -1 : 1, penalty: l1 })),
    slopesAt,
  );
  return changed(
    fixed,
    parameters.map((one, i) => ({ ...one, weight: Math.round((weights[i] ?? 0) * 10) / 10 })),
  );
}

/** Other weights for some features. */
function changed(
  { memory, people, assistant }: RankingWeights,
  changes: readonly (Parameter & { weight: number })[],
): RankingWeights {
  const weights: RankingWeights = {
    memory: { ...memory },
    people: { ...people },
    assistant: { ...assistant },
  };
  for (const { kind, feature, weight } of changes) weights[kind][feature] = weight;
  return weights;
}

function addSlopes(
  slopes: Float64Array,
  { fixed, starts, at, values, relevant }: Example,
  weights: Float64Array,
): void {
  const share = fixed.slice();
  for (let i = 0; i < share.length; i++)
    for (let j = starts[i] ?? 0; j < (starts[i + 1] ?? 0); j++)
      share[i] = (share[i] ?? 0) + (weights[at[j] ?? 0] ?? 0) * (values[j] ?? 0);
  const most = share.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let i = 0; i < share.length; i++) total += share[i] = Math.exp((share[i] ?? 0) - most);
  for (let i = 0; i < share.length; i++) share[i] = (share[i] ?? 0) / total;
  for (const i of relevant) share[i] = (share[i] ?? 0) - 1 / relevant.length;
  for (let i = 0; i < share.length; i++)
    for (let j = starts[i] ?? 0; j < (starts[i + 1] ?? 0); j++) {
      const k = at[j] ?? 0;
      slopes[k] = (slopes[k] ?? 0) + (share[i] ?? 0) * (values[j] ?? 0);
    }
}

/** The names of the hits in the order of other weights, as `rank` orders them. */
export function reranked({ hits }: Explained, weights: RankingWeights): string[] {
  const reach = new Map(
    candidateKinds.map((kind) => {
      const ofKind = hits.filter((hit) => hit.kind === kind);
      const present = features.filter((name) => ofKind.some((hit) => (hit.features[name] ?? 0) > 0));
      return [kind, present.reduce((sum, name) => sum + Math.max(0, weights[kind][name] ?? 0), 0)];
    }),
  );
  const most = Math.max(...reach.values());
  return hits
    .map((hit) => ({ id: hit.id, sum: sumOf(hit, weights) * (most / (reach.get(hit.kind) || most || 1)) }))
    .toSorted((a, b) => b.sum - a.sum)
    .map(({ id }) => id);
}

const FOLDS = 5;

/** For each item, what `use` makes of it by what was fitted to other conversations: those of the other four folds. */
export function crossValidated<Item extends { corpus: string }, Fitted, Result>(
  all: readonly Item[],
  fit: (others: Item[]) => Fitted,
  use: (one: Item, by: Fitted) => Result,
): Result[] {
  const corpora = [...new Set(all.map(({ corpus }) => corpus))];
  const foldOf = ({ corpus }: Item): number => corpora.indexOf(corpus) % FOLDS;
  const results: Result[] = [];
  for (let fold = 0; fold < Math.min(FOLDS, corpora.length); fold++) {
    const by = fit(all.filter((one) => foldOf(one) !== fold));
    for (const [i, one] of all.entries()) if (foldOf(one) === fold) results[i] = use(one, by);
  }
  return results;
}

/** The weights to paste: those that are not 0, and each 0 in the place of one in use. */
export function withoutZeros(weights: RankingWeights, before: RankingWeights): RankingWeights {
  const ofKind = (kind: CandidateKind) =>
    Object.fromEntries(
      features
        .map((name) => [name, weights[kind][name] ?? 0] as const)
        .filter(([name, weight]) => weight !== 0 || (before[kind][name] ?? 0) !== 0),
    );
  return { memory: ofKind("memory"), people: ofKind("people"), assistant: ofKind("assistant") };
}
