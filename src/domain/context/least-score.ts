/** The share of the best score that a line of a block needs at least, and how much more it is in a small store at most. */
const [SHARE, MORE] = [0.1, 0.3];
/** The least score of a line in a small store. */
const LEAST = 0.06;
/** A store of so many documents is small, and one of so many is not. */
const [SMALL, LARGE] = [50, 300];

/**
 * The least score of a line that a block shows. Among few documents the tenth hit has nothing to do with the question, and among
 * many it is often a part of the answer. The less sure the best hit is, the more others are shown.
 */
export function leastScore({
  best,
  confidence,
  documents,
}: {
  best: number;
  confidence: number;
  documents: number;
}): number {
  const smallness = Math.min(1, Math.max(0, (LARGE - documents) / (LARGE - SMALL)));
  return Math.max((SHARE + MORE * confidence * smallness) * best, LEAST * smallness);
}
