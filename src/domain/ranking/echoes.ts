import { asksForQuestions } from "./asks.ts";
import type { Judgement, Reading, StatementWeights } from "./judgement.ts";
import { opensQuestion } from "./statements.ts";

/** A text says what the question says if it has more than this share of its words. */
const HALF = 0.5;
/** Telling words that an echo, and a request, may have beside those of the question. */
const [OF_ECHO, OF_REQUEST] = [1, 3];
/** A statement answers a question for yes or no, though it adds nothing. */
const YES_OR_NO = /^(?:is|are|am|was|were|do|does|did|can|could|would|will|should|have|has|had)\b/i;

type Echoes = {
  question: string;
  questionStems: ReadonlySet<string>;
  readings: readonly Reading[];
  weights: StatementWeights;
};

/** Sinks what says no more than the question. */
export function judgeEchoes(
  judged: readonly Judgement[],
  { question, questionStems, readings, weights }: Echoes,
): void {
  // A search by one word looks for whatever has it.
  if (asksForQuestions(question) || (questionStems.size < 2 && !opensQuestion(question))) return;
  const states = YES_OR_NO.test(question);
  for (const { i, one, onlyAsks, news, words } of readings) {
    const judgement = judged[i];
    // A memory was stored to be found, also by its own words.
    if (judgement === undefined || !one.isMessage) continue;
    const covered = [...questionStems].filter((stem) => words.has(stem)).length;
    const repeats = news === 0 && !states && covered > HALF * questionStems.size && one.role !== "assistant";
    judgement.isEcho = (onlyAsks && news <= OF_ECHO) || repeats;
    if (judgement.isEcho) {
      judgement.reason = "echo";
      judgement.added += weights.echo;
    } else if (onlyAsks && news <= OF_REQUEST) {
      judgement.reason = "request";
      judgement.added += weights.asks;
    }
  }
}
