import { typeTest } from "./answer-type.ts";
import { judgeEchoes } from "./echoes.ts";
import type { WordStatistics } from "./features.ts";
import { leadingTo } from "./goes-on.ts";
import { type Judgement, MOST_COMPARED, type Reading, type StatementWeights } from "./judgement.ts";
import type { PooledCandidate } from "./pool.ts";
import { StatementReader } from "./statements.ts";
import { orderByTime } from "./succession.ts";
import { asksForSpeaker, judgeWhose, ownText } from "./whose.ts";

/** Candidates that are compared with the question and with each other: the best ones so far. */
const COMPARED = 20;

/** The places of the greatest sums. */
export const bestOf = (sums: readonly number[], most: number): number[] =>
  sums
    .map((sum, i) => ({ sum, i }))
    .toSorted((a, b) => b.sum - a.sum)
    .slice(0, most)
    .map(({ i }) => i);

/**
 * Judges the best candidates by what they add to the question, and orders statements on the same matter by time. `sums`: of the
 * first stage.
 */
export function secondStage(
  question: string,
  {
    pool,
    sums,
    words,
    until = Infinity,
    isPast,
    weights,
  }: {
    pool: readonly PooledCandidate[];
    sums: readonly number[];
    words: WordStatistics | null;
    until?: number | undefined;
    isPast: boolean;
    weights: StatementWeights;
  },
): Judgement[] {
  const judged = pool.map((): Judgement => ({ added: 0, isEcho: false }));
  const reader = new StatementReader();
  const questionStems = new Set(reader.tellingWords(question).keys());
  const lacksType = typeTest(question, { weak: true });
  const readings = bestOf(sums, COMPARED).flatMap((i): Reading[] => {
    const one = pool[i];
    if (one === undefined || one.text.length > MOST_COMPARED) return [];
    const text = ownText(one);
    const read = reader.statementsOf(text, one.role, questionStems);
    const additions = read.chatter + [...read.stems].filter((stem) => !questionStems.has(stem)).length;
    const news = additions + (one.speaker !== null && asksForSpeaker(question, text) ? 1 : 0);
    return [{ ...read, i, one, text, news, lacksType: lacksType(one.text) }];
  });
  judgeWhose(judged, { question, readings, pool, whose: weights.whose });
  for (const { i, onlyAsks, lacksType: lacks } of readings) {
    const judgement = judged[i];
    if (judgement !== undefined && lacks && !onlyAsks) judgement.added += weights.lacks;
  }
  liftAnswers(judged, { readings, pool, sums });
  judgeEchoes(judged, { question, questionStems, readings, weights });
  if (words !== null) {
    const after = sums.map((sum, i) => sum + (judged[i]?.added ?? 0));
    orderByTime(judged, {
      question,
      questionStems,
      readings,
      sums: after,
      words,
      isPast,
      until,
      reader,
      weights,
    });
  }
  return judged;
}

/** A message with an answer of the asked type has the rank of the one that it goes on from, if that one lacks it. */
function liftAnswers(
  judged: readonly Judgement[],
  {
    readings,
    pool,
    sums,
  }: { readings: readonly Reading[]; pool: readonly PooledCandidate[]; sums: readonly number[] },
): void {
  const lacking = new Set(readings.flatMap(({ i, lacksType }) => (lacksType ? [i] : [])));
  for (const { i, one, lacksType, onlyAsks } of readings) {
    const judgement = judged[i];
    if (judgement === undefined || lacksType || onlyAsks || judgement.isOfOther === true) continue;
    const before = leadingTo(one, pool).find((at) => lacking.has(at));
    if (before === undefined) continue;
    judgement.added = Math.max(judgement.added, (sums[before] ?? 0) - (sums[i] ?? 0));
  }
}
