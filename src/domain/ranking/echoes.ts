import { asksForQuestions } from "./asks.ts";
import { type Judgement, MOST_COMPARED, type Reading, type StatementWeights } from "./judgement.ts";
import type { PooledCandidate } from "./pool.ts";
import { opensQuestion, type StatementReader } from "./statements.ts";
import { ownText } from "./whose.ts";

/** A text says what the question says if it has more than this share of its words. */
const HALF = 0.5;
/** Telling words that an echo, and a request, may have beside those of the question. */
const [OF_ECHO, OF_REQUEST] = [1, 3];
const YES_OR_NO = /^(?:is|are|am|was|were|do|does|did|can|could|would|will|should|have|has|had)\b/i;

type Echoes = {
  question: string;
  asked: ReadonlySet<string>;
  readings: readonly Reading[];
  pool: readonly PooledCandidate[];
  sums: readonly number[];
  reader: StatementReader;
  weights: StatementWeights;
};

/** Sinks what says no more than the question, and lifts the replies to it. */
export function judgeEchoes(judged: readonly Judgement[], echoes: Echoes): void {
  const { question, asked, readings, weights } = echoes;
  // A search by one word looks for whatever has it.
  if (asksForQuestions(question) || (asked.size < 2 && !opensQuestion(question))) return;
  const states = YES_OR_NO.test(question);
  for (const { i, one, onlyAsks, news, words } of readings) {
    const judgement = judged[i];
    // A memory was stored to be found, also by its own words.
    if (judgement === undefined || !one.isMessage) continue;
    const covered = [...asked].filter((stem) => words.has(stem)).length;
    const repeats = news === 0 && !states && covered > HALF * asked.size;
    judgement.isEcho = (onlyAsks && news <= OF_ECHO) || (repeats && one.role !== "assistant");
    if (judgement.isEcho) {
      judgement.reason = "echo";
      judgement.added += weights.echo;
    } else if (onlyAsks && news <= OF_REQUEST) {
      judgement.reason = "request";
      judgement.added += weights.asks;
    } else if (repeats) judgement.added += weights.asks;
  }
  liftReplies(judged, echoes);
}

/** The reply to an echo is its answer, whatever its words: a short statement of somebody else, right after it. */
function liftReplies(judged: readonly Judgement[], { pool, sums, reader, asked, weights }: Echoes): void {
  for (const [i, one] of pool.entries()) {
    const { before, role, speaker } = one;
    const reply = judged[i];
    if (before === undefined || reply === undefined || judged[before]?.isEcho !== true) continue;
    if (reply.isOfOther === true) continue;
    const echo = pool[before];
    if (one.text.length > MOST_COMPARED || (role === echo?.role && speaker === echo.speaker)) continue;
    const { onlyAsks, stems } = reader.statementsOf(ownText(one), { role, asked });
    if (onlyAsks || [...stems].filter((stem) => !asked.has(stem)).length <= OF_ECHO) continue;
    const lifted = weights.reply * (sums[before] ?? 0) - (sums[i] ?? 0);
    if (lifted <= reply.added) continue;
    reply.added = lifted;
    reply.reason = "reply";
  }
}
