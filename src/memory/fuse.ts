/** A document that an arm found; arms give theirs best first. */
export type Candidate = { n: number; score: number };
export type Fused = { n: number; score: number; lexical?: number; vector?: number };

/**
 * Scores are fused, not ranks: plain reciprocal ranks (k = 60) pull paraphrases down from a Recall@5 of 0.72
 * to 0.52. The weights are the ones that the embedded model was measured with.
 */
const WEIGHTS = { lexical: 0.4, vector: 0.6 };

/**
 * Fuses both arms, best first: each arm's scores scaled to 0–1 over the candidates and added by weight. A document
 * that only words found gets its cosine from `cosine`; one that has no vector (yet) is judged by its words alone, or
 * what was said a moment ago would lose against anything older. An arm that found nothing leaves all weight to the
 * other.
 */
export function fuse(
  lexical: readonly Candidate[] | null,
  vector: readonly Candidate[] | null,
  cosine: (n: number) => number | undefined,
): Fused[] {
  const words = new Map((lexical ?? []).map(({ n, score }, i) => [n, { score, rank: i + 1 }]));
  const meaning = new Map((vector ?? []).map(({ n, score }, i) => [n, { score, rank: i + 1 }]));
  const candidates = [...new Set([...words.keys(), ...meaning.keys()])];
  const cosines = candidates.map((n) => (vector === null ? undefined : cosine(n)));
  const byWords = scaled(candidates.map((n) => words.get(n)?.score ?? 0));
  const byMeaning = scaled(cosines.map((one) => Math.max(0, one ?? 0)));
  const vectorWeight = words.size === 0 ? 1 : WEIGHTS.vector;
  return candidates
    .map((n, i) => ({
      n,
      score: mixed(byWords[i] ?? 0, byMeaning[i] ?? 0, cosines[i] === undefined ? 0 : vectorWeight),
      ...(words.has(n) && { lexical: words.get(n)?.rank ?? 0 }),
      ...(meaning.has(n) && { vector: meaning.get(n)?.rank ?? 0 }),
    }))
    .toSorted((a, b) => b.score - a.score || b.n - a.n);
}

const mixed = (words: number, meaning: number, vectorWeight: number): number =>
  (1 - vectorWeight) * words + vectorWeight * meaning;

/** To 0–1, the best at 1. Zero stays zero: it is where the scale of both arms begins. */
function scaled(scores: readonly number[]): number[] {
  const best = Math.max(0, ...scores);
  return scores.map((score) => (best === 0 ? 0 : score / best));
}
