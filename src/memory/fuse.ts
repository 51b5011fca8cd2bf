/** A document that an arm found; arms give theirs best first. */
export type Candidate = { n: number; score: number };
export type Fused = { n: number; score: number; lexical?: number; vector?: number };

/**
 * Scores are fused, not ranks: plain reciprocal ranks (k = 60) pull paraphrases down from a Recall@5 of 0.72
 * to 0.52. The weights are the ones that the embedded model was measured with.
 */
const WEIGHTS = { lexical: 0.4, vector: 0.6 };

/**
 * Fuses both arms, best first: each arm's scores scaled to 0–1 over the candidates and added by weight. A
 * document that only words found gets its cosine from `cosine`; an arm that was off or found nothing leaves all weight to the other.
 */
export function fuse(
  lexical: readonly Candidate[] | null,
  vector: readonly Candidate[] | null,
  cosine: (n: number) => number | undefined,
): Fused[] {
  const words = new Map((lexical ?? []).map(({ n, score }, i) => [n, { score, rank: i + 1 }]));
  const meaning = new Map((vector ?? []).map(({ n, score }, i) => [n, { score, rank: i + 1 }]));
  const candidates = [...new Set([...words.keys(), ...meaning.keys()])];
  const wordScores = scaled(candidates.map((n) => words.get(n)?.score ?? 0));
  const cosines = scaled(candidates.map((n) => (vector === null ? 0 : Math.max(0, cosine(n) ?? 0))));
  const wordWeight = meaning.size === 0 ? 1 : WEIGHTS.lexical;
  const vectorWeight = words.size === 0 ? 1 : WEIGHTS.vector;
  return candidates
    .map((n, i) => ({
      n,
      score: wordWeight * (wordScores[i] ?? 0) + vectorWeight * (cosines[i] ?? 0),
      ...(words.has(n) && { lexical: words.get(n)?.rank ?? 0 }),
      ...(meaning.has(n) && { vector: meaning.get(n)?.rank ?? 0 }),
    }))
    .toSorted((a, b) => b.score - a.score || b.n - a.n);
}

/** To 0–1, the best at 1. Zero stays zero: it is where the scale of both arms begins. */
function scaled(scores: readonly number[]): number[] {
  const best = Math.max(0, ...scores);
  return scores.map((score) => (best === 0 ? 0 : score / best));
}
