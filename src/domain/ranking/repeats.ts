import { contentWords } from "./question.ts";

type Wording = { isMessage: boolean; text: string };

/** Texts of more characters say more than one thing. */
const LONGEST = 400;
/** The share of their words that two statements have in common, from which they say the same. */
const SAME = 0.7;
/** A memory names its user so, who says "I" in a message. */
const SUBJECT = new Set(["user", "users"]);

/**
 * Ranked hits without the messages that say the same as a memory among them. The memory takes the place of the first such
 * message, if that is better than its own.
 */
export function withoutRepeats<Hit>(ranked: readonly Hit[], wordingOf: (hit: Hit) => Wording): Hit[] {
  const all = ranked.map((hit) => ({ hit, ...wordingOf(hit) }));
  const memories = all.filter(({ isMessage, text }) => !isMessage && text.length <= LONGEST);
  if (memories.length === 0) return [...ranked];
  const wordsOf = memories.map(({ text }) => statementWords(text));
  const placed = new Set<Hit>();
  return all.flatMap(({ hit, isMessage, text }) => {
    if (placed.has(hit)) return [];
    placed.add(hit);
    if (!isMessage || text.length > LONGEST) return [hit];
    const words = statementWords(text);
    const same = memories[wordsOf.findIndex((of) => overlap(of, words) >= SAME)]?.hit;
    if (same === undefined) return [hit];
    if (placed.has(same)) return [];
    placed.add(same);
    return [same];
  });
}

const statementWords = (text: string): Set<string> =>
  new Set(contentWords(text).filter((word) => !SUBJECT.has(word)));

/** The share of the words of both that are in both. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length;
  return common === 0 ? 0 : common / (a.size + b.size - common);
}
