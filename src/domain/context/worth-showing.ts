/** The share of the best score that a line of a block needs at least, and how much more it is in a small store at most. */
const [SHARE, MORE] = [0.1, 0.3];
/** The least score of a line in a small store. */
const LEAST = 0.06;
/** A store of so many documents is small, and one of so many is not. */
const [SMALL, LARGE] = [50, 300];
/** With less confidence than this, so many lines of a store that is not large are shown. */
const [SURE, UNSURE_MOST] = [0.4, 5];

/**
 * The hits that are worth a line of a block, the best first. Among few documents the tenth hit has nothing to do with the
 * question, and among many it is often a part of the answer. The surer the best hit is, the fewer others are needed.
 */
export function worthShowing<Hit extends { score: number }>(
  hits: readonly Hit[],
  { confidence, documents }: { confidence: number; documents: number },
): Hit[] {
  const smallness = Math.min(1, Math.max(0, (LARGE - documents) / (LARGE - SMALL)));
  const best = hits[0]?.score ?? 0;
  const least = Math.max((SHARE + MORE * confidence * smallness) * best, LEAST * smallness);
  const most = smallness > 0 && confidence < SURE ? UNSURE_MOST : Infinity;
  return hits.filter(({ score }) => score >= least).slice(0, most);
}

/** Lines that are taken first. */
const FIRST = 5;

/**
 * The places of lines in the order in which a budget takes them: the best ones, then those that are worth most for their tokens. A
 * long line takes the room of several short ones, of which one is likelier to answer.
 */
export function inOrderOfWorth(scores: readonly number[], costs: readonly number[]): number[] {
  const places = [...scores.keys()];
  const worth = scores.map((score, i) => score / Math.max(1, costs[i] ?? 1));
  const rest = places.slice(FIRST).toSorted((a, b) => (worth[b] ?? 0) - (worth[a] ?? 0));
  return [...places.slice(0, FIRST), ...rest];
}
