import { typeTest } from "./answer-type.ts";
import { partOf } from "../language/recall-words.ts";
import type { Featured, Question } from "./features.ts";
import { leadingTo } from "./goes-on.ts";
import type { Reading, StatementWeights } from "./judgement.ts";
import { asksForQuestions } from "./question.ts";
import { opensQuestion, StatementReader } from "./statements.ts";
import { orderByTime } from "./succession.ts";
import { asksForSpeaker, judgeWhose, ownText } from "./whose.ts";

/** Candidates that are compared with the question and with each other: the best ones so far. */
const COMPARED = 20;
/** Characters of a text that is compared. A longer one says several things. */
const MOST_CHARACTERS = 400;

/** The places of the greatest sums. */
export const bestOf = (sums: readonly number[], most: number): number[] =>
  Array.from(sums.keys())
    .toSorted((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0))
    .slice(0, most);

/**
 * Judges the best candidates by what they add to the question, and orders statements on the same matter by time. `sums`: of the
 * first stage.
 */
export function secondStage(
  question: Question,
  { pool, words }: Featured,
  sums: readonly number[],
  weights: StatementWeights,
): Reading[] {
  const { text: query } = question;
  const reader = new StatementReader();
  const stems = new Set(reader.tellingWords(query).keys());
  const lacksType = typeTest(query, { weak: true });
  const readings = bestOf(sums, COMPARED).flatMap((i): Reading[] => {
    const one = pool[i];
    if (one === undefined || one.text.length > MOST_CHARACTERS) return [];
    const text = ownText(one);
    const statements = reader.statementsOf(text, one.role, stems);
    const additions = statements.chatter + statements.stems.difference(stems).size;
    const news = additions + (one.speaker !== null && asksForSpeaker(query, text) ? 1 : 0);
    const findings = { added: 0, isEcho: false, isOfOther: false };
    return [
      { ...statements, i, one, text, news, lacksType: lacksType(one.text), sum: sums[i] ?? 0, ...findings },
    ];
  });
  judgeWhose(readings, query, pool, weights.whose);
  for (const reading of readings) if (reading.lacksType && !reading.onlyAsks) reading.added += weights.lacks;
  liftAnswers(readings, pool);
  judgeEchoes(readings, query, stems, weights);
  if (words !== null) orderByTime(readings, { question, stems, words, reader, weights });
  return readings;
}

/** A message with an answer of the asked type has the rank of the one that it goes on from, if that one lacks it. */
function liftAnswers(readings: readonly Reading[], pool: Featured["pool"]): void {
  const lacking = new Map(readings.flatMap((one) => (one.lacksType ? [[one.i, one.sum]] : [])));
  for (const reading of readings) {
    if (reading.lacksType || reading.onlyAsks || reading.isOfOther) continue;
    const before = leadingTo(reading.one, pool).find((at) => lacking.has(at));
    if (before === undefined) continue;
    reading.added = Math.max(reading.added, (lacking.get(before) ?? 0) - reading.sum);
  }
}

/** A text says what the question says if it has more than this share of its words. */
const HALF = 0.5;
/** Telling words that an echo, and a request, may have beside those of the question. */
const [OF_ECHO, OF_REQUEST] = [1, 3];
/** A statement answers a question for yes or no, though it adds nothing. */
const YES_OR_NO = new RegExp(String.raw`^${partOf("yesOrNo")}\b`, "iu");

/** Sinks what says no more than the question. */
function judgeEchoes(
  readings: readonly Reading[],
  query: string,
  stems: ReadonlySet<string>,
  weights: StatementWeights,
): void {
  // A search by one word looks for whatever has it.
  if (asksForQuestions(query) || (stems.size < 2 && !opensQuestion(query))) return;
  const states = YES_OR_NO.test(query);
  for (const reading of readings) {
    const { one, onlyAsks, news, words } = reading;
    // A memory was stored to be found, also by its own words.
    if (!one.isMessage) continue;
    const common = [...stems].filter((stem) => words.has(stem)).length;
    const repeats = news === 0 && !states && common > HALF * stems.size && one.role !== "assistant";
    reading.isEcho = (onlyAsks && news <= OF_ECHO) || repeats;
    if (reading.isEcho) {
      reading.reason = "echo";
      reading.added += weights.echo;
    } else if (onlyAsks && news <= OF_REQUEST) {
      reading.reason = "request";
      reading.added += weights.asks;
    }
  }
}
