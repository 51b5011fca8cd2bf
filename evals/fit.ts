// Fits the weights of features to questions whose answers are known, and shows what weights give that were fitted on the other
// conversations. A deployment can fit its own: the features come from `explain` of the public API.
import type { RecallAnswer } from "../client/src/index.ts";
import { type Feature, features } from "../src/domain/ranking/features.ts";
import { type CandidateKind, candidateKinds } from "../src/domain/ranking/pool.ts";
import type { RankingWeights } from "../src/domain/ranking/weights.ts";

/** The hits of a question with their features, best first. */
export type Explained = {
  corpus: string;
  relevant: ReadonlySet<string>;
  hits: { ids: readonly string[]; kind: CandidateKind; features: Partial<Record<Feature, number>> }[];
};

/** The features that can only count against a candidate. The others can only count for it. */
const against: ReadonlySet<Feature> = new Set(["length", "asks", "echo"]);
/** A feature that differs in fewer questions than this is left as it is. */
const LEAST_QUESTIONS = 20;
const [STEPS, RATE, L1] = [400, 0.05, 0.003];

export function explainedHits(
  corpus: string,
  relevant: ReadonlySet<string>,
  { answer, namesOf }: { answer: RecallAnswer; namesOf: (id: string) => readonly string[] },
): Explained {
  const hits = answer.hits.map(({ id, why }) => ({
    ids: namesOf(id),
    kind: why.kind ?? "memory",
    features: (why.features ?? {}) as Partial<Record<Feature, number>>,
  }));
  return { corpus, relevant, hits };
}

/** One row a weight, one column a hit. */
type Example = { columns: Float64Array[]; relevant: number[]; size: number };
type Parameter = { kind: CandidateKind; feature: Feature };

function exampleOf({ hits, relevant }: Explained, parameters: readonly Parameter[]): Example | null {
  const found = hits.flatMap(({ ids }, i) => (ids.some((id) => relevant.has(id)) ? [i] : []));
  if (found.length === 0) return null;
  const columns = parameters.map(({ kind, feature }) =>
    Float64Array.from(hits, (hit) => (hit.kind === kind ? (hit.features[feature] ?? 0) : 0)),
  );
  return { columns, relevant: found, size: hits.length };
}

/** The weights that the questions say something about. */
function parametersOf(all: readonly Explained[]): Parameter[] {
  const differs = ({ hits }: Explained, { kind, feature }: Parameter): boolean =>
    new Set(hits.filter((hit) => hit.kind === kind).map((hit) => hit.features[feature] ?? 0)).size > 1;
  return candidateKinds
    .flatMap((kind) => features.map((feature) => ({ kind, feature })))
    .filter((one) => all.filter((question) => differs(question, one)).length >= LEAST_QUESTIONS);
}

/**
 * Minimises the mean negative log of the probability of a relevant hit, by a softmax over the hits of each question, with
 * Adam and a penalty on the sum of the absolute weights. The weights of features that differ nowhere stay as they are.
 */
export function fitted(all: readonly Explained[], before: RankingWeights): RankingWeights {
  const parameters = parametersOf(all);
  const examples = all.flatMap((one) => exampleOf(one, parameters) ?? []);
  const weights = new Float64Array(parameters.length);
  const [mean, square] = [new Float64Array(weights.length), new Float64Array(weights.length)];
  for (let step = 1; step <= STEPS; step++) {
    const gradient = new Float64Array(weights.length);
    for (const example of examples) addGradient(gradient, example, weights);
    for (const [i, { feature }] of parameters.entries()) {
      const slope = (gradient[i] ?? 0) / examples.length;
      mean[i] = 0.9 * (mean[i] ?? 0) + 0.1 * slope;
      square[i] = 0.999 * (square[i] ?? 0) + 0.001 * slope * slope;
      const scale = RATE / (Math.sqrt((square[i] ?? 0) / (1 - 0.999 ** step)) + 1e-3);
      const moved = (weights[i] ?? 0) - (scale * (mean[i] ?? 0)) / (1 - 0.9 ** step);
      const sign = against.has(feature) ? -1 : 1;
      weights[i] = sign * Math.max(0, sign * moved - scale * L1);
    }
  }
  const after: RankingWeights = {
    memory: { ...before.memory },
    people: { ...before.people },
    assistant: { ...before.assistant },
  };
  for (const [i, { kind, feature }] of parameters.entries())
    after[kind][feature] = Math.round((weights[i] ?? 0) * 10) / 10;
  return after;
}

function addGradient(
  gradient: Float64Array,
  { columns, relevant, size }: Example,
  weights: Float64Array,
): void {
  const share = new Float64Array(size);
  for (const [k, column] of columns.entries())
    for (let i = 0; i < size; i++) share[i] = (share[i] ?? 0) + (weights[k] ?? 0) * (column[i] ?? 0);
  const most = share.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let i = 0; i < size; i++) total += share[i] = Math.exp((share[i] ?? 0) - most);
  for (const [k, column] of columns.entries()) {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += ((share[i] ?? 0) / total) * (column[i] ?? 0);
    for (const i of relevant) sum -= (column[i] ?? 0) / relevant.length;
    gradient[k] = (gradient[k] ?? 0) + sum;
  }
}

/** The names of the hits in the order of other weights. */
export function reranked({ hits }: Explained, weights: RankingWeights): string[] {
  const scored = hits.map(({ ids, kind, features: own }) => {
    const weightsOfKind = Object.entries(weights[kind]) as [Feature, number][];
    return { ids, sum: weightsOfKind.reduce((sum, [name, weight]) => sum + weight * (own[name] ?? 0), 0) };
  });
  return scored.toSorted((a, b) => b.sum - a.sum).flatMap(({ ids }) => ids);
}

/** For each question, the order by weights that were fitted without its corpus. */
export function crossValidated(all: readonly Explained[], before: RankingWeights): string[][] {
  const corpora = [...new Set(all.map(({ corpus }) => corpus))];
  const weightsFor = new Map(
    corpora.map((name) => [
      name,
      fitted(
        all.filter(({ corpus }) => corpus !== name),
        before,
      ),
    ]),
  );
  return all.map((one) => reranked(one, weightsFor.get(one.corpus) ?? before));
}

/** The same weights without one feature. */
export function withoutFeature(weights: RankingWeights, feature: Feature): RankingWeights {
  const { memory, people, assistant } = weights;
  return {
    memory: { ...memory, [feature]: 0 },
    people: { ...people, [feature]: 0 },
    assistant: { ...assistant, [feature]: 0 },
  };
}
