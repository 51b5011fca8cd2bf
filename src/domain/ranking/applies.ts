import { matterOf } from "../context/instructions.ts";
import { asksForValue } from "./answer-type.ts";
import { cosineOf, type Lexicon, sumOfRows } from "./lexicon.ts";
import type { PoolMember } from "./pool.ts";
import { asksForPast, contentWords } from "./question.ts";

/** True for a question that an instruction may say something about: not for one that asks for a value or about the past. */
export const mayApply = (question: string): boolean => !asksForPast(question) && !asksForValue(question);

/** The instructions that count, with their repetitions: of many, most are for something else. */
const MOST = 4;

/**
 * How near a question is to the matter of a standing instruction or preference, 0 to 1: "Always name the version when I ask about
 * libraries" shares no word with "What do I install for charts?".
 */
export function applies(
  question: string,
  pool: readonly Pick<PoolMember, "standing">[],
  lexicon: Lexicon | null,
): Float32Array {
  const values = new Float32Array(pool.length);
  if (lexicon === null || !pool.some(({ standing }) => standing !== undefined)) return values;
  if (!mayApply(question)) return values;
  const vectorOf = (text: string) =>
    sumOfRows(new Set(contentWords(text).flatMap((word) => lexicon.pieces(word))), lexicon);
  const ofQuestion = vectorOf(question);
  for (const [i, { standing = [] }] of pool.entries())
    values[i] = Math.max(0, ...standing.map((passage) => cosineOf(vectorOf(matterOf(passage)), ofQuestion)));
  const least = [...new Set(values)].toSorted((a, b) => b - a)[MOST] ?? 0;
  return values.map((value) => (value > least ? value : 0));
}
