import { memoized } from "../memoized.ts";
import { partOf, wholeWords } from "../language/recall-words.ts";
import { isOfTime } from "./answer-type.ts";
import type { Question } from "./features.ts";
import type { Reading, StatementWeights } from "./judgement.ts";
import { cosineOf, rarityOfAll, sumOfRows, type WordStatistics } from "./lexicon.ts";
import { relativeIn } from "./owners.ts";
import { namesIn } from "./question.ts";
import type { StatementReader } from "./statements.ts";
import { isOfAnother } from "./whose.ts";

/** Characters of one statement. A longer text says several things. */
const STATEMENT = 200;
/** Two statements are about the same matter from this closeness on; with a word of change, and if they share less than the question. */
const [CLOSE, CLOSE_WITH_CHANGE, CLOSE_IN_PART] = [0.45, 0.2, 0.3];
/** The most documents that hold a rare word. */
const RARE = 4;
const [CHANGES, CORRECTS] = [wholeWords("changes"), wholeWords("corrects")];
const SUPPOSES = new RegExp(partOf("supposes"), "iu");
/** What may have ended: "Do I still drink coffee?". A change need not say it again. */
const STILL = new RegExp(String.raw`\b${partOf("still")}\s+(\p{L}+)`, "iu");
/** The most words of a correction besides those of the question. */
const CORRECTION = 2;

/** A word of statements: its pieces, and how rare it is. */
type Word = { pieces: readonly number[]; rarity: number; isRare: boolean };
/** A statement among others: its stems, each with its word. */
type Statement = {
  reading: Reading;
  stems: ReadonlyMap<string, Word>;
  /** The sum of their rarities. */
  weight: number;
  /** The sum of the vectors of its words, made when it is first asked for. */
  vector: () => Float32Array | null;
  changes: boolean;
  corrects: boolean;
  supposes: boolean;
  kin: string | null;
  /** The question's stems that it has. */
  shared: readonly string[];
};

/** What a question asks: its telling stems, the names among them, and what may still be so. */
type Query = { stems: ReadonlySet<string>; names: ReadonlySet<string>; still: ReadonlySet<string> };
type Stage = {
  question: Question;
  stems: ReadonlySet<string>;
  words: WordStatistics;
  reader: StatementReader;
  weights: StatementWeights;
};

/** Raises the later of two statements on one matter; the earlier one if the question is about the past. */
export function orderByTime(readings: readonly Reading[], stage: Stage): void {
  const { weights, stems } = stage;
  const { isPast = false, until = Infinity } = stage.question;
  const query = queryOf(stage);
  const byTime = statementsOf(readings, stage.words, stems);
  const gains = new Map<Reading, number>();
  const most = Math.max(...byTime.map(sumOf));
  for (const [earlier, later] of pairsOf(byTime)) {
    const succession = successionOf(earlier, later, { query, isPast, isBest: sumOf(earlier) >= most });
    if (succession === null) continue;
    const { closeness, holds, changes } = succession;
    const isEarlier = isPast || later.reading.one.createdAt >= until;
    const [winner, loser] = isEarlier ? [earlier, later] : [later, earlier];
    const gap = Math.max(0, sumOf(loser) - sumOf(winner));
    const gain = weights.later * closeness + (holds ? weights.change + weights.gap * gap : 0);
    gains.set(winner.reading, Math.max(gains.get(winner.reading) ?? 0, gain));
    if (holds) winner.reading.reason = isEarlier ? "earlier" : "later";
    if (changes && closeness >= CLOSE) earlier.reading.replacedAt ??= later.reading.one.createdAt;
  }
  for (const [reading, gain] of gains) reading.added += gain;
}

function queryOf({ question: { text }, stems, reader }: Stage): Query {
  const telling = (words: string) => new Set(reader.tellingWords(words).keys());
  return { stems, names: telling(namesIn(text).join(" ")), still: telling(STILL.exec(text)?.[1] ?? "") };
}

const sumOf = ({ reading }: Statement): number => reading.sum + reading.added;

/** The short statements of people about themselves, the earliest first. */
function statementsOf(
  readings: readonly Reading[],
  words: WordStatistics,
  questionStems: ReadonlySet<string>,
): Statement[] {
  const { lexicon, frequencies } = words;
  // Each word is read once: statements on one matter have many in common.
  const wordOf = memoized((word: string): Word => {
    const pieces = lexicon.pieces(word);
    const isRare = !isOfTime(word) && Math.min(...pieces.map(frequencies.holding)) <= RARE;
    return { pieces, rarity: rarityOfAll(pieces, words), isRare };
  });
  return readings
    .filter(
      ({ onlyAsks, isOfOther, one, text }) =>
        !onlyAsks &&
        !isOfOther &&
        one.role !== "assistant" &&
        one.kind !== "people" &&
        text.length <= STATEMENT,
    )
    .map((reading) => {
      const { text } = reading;
      const stems = new Map(Array.from(reading.words, ([stem, word]) => [stem, wordOf(word)]));
      const pieces = () => [...stems.values()].flatMap((word) => word.pieces);
      return {
        reading,
        stems,
        weight: weightOf(stems),
        vector: memoized<void, Float32Array | null>(() => sumOfRows(pieces(), lexicon)),
        changes: CHANGES.test(text),
        corrects: CORRECTS.test(text),
        supposes: SUPPOSES.test(text),
        kin: relativeIn(text),
        shared: [...stems.keys()].filter((stem) => questionStems.has(stem)),
      };
    })
    .toSorted(({ reading: { one: a } }, { reading: { one: b } }) => a.createdAt - b.createdAt || a.n - b.n);
}

/** Each statement with each one before it. A memory of a sentence has the time of its message, and follows none of that time. */
function* pairsOf(byTime: readonly Statement[]): Generator<[earlier: Statement, later: Statement], void> {
  for (const [k, later] of byTime.entries())
    for (const earlier of byTime.slice(0, k)) {
      const [a, b] = [earlier.reading.one, later.reading.one];
      if (a.createdAt !== b.createdAt || (a.isMessage && b.isMessage)) yield [earlier, later];
    }
}

/** The closeness of two statements, 0 to 1. `holds`: the later one tells what is so now; `changes`: by a word of change. */
type Succession = { closeness: number; holds: boolean; changes: boolean };
/** The succession of two versions of one fact. */
const SAME_FACT: Succession = { closeness: 1, holds: true, changes: true };

/** A later statement beside an earlier one: its stems that the later one lacks, of those of the question, and what both have. */
type Pair = {
  earlier: Statement;
  later: Statement;
  lacking: readonly string[];
  common: ReadonlyMap<string, Word>;
};

/** The succession of two statements; null if they are about different things. `isBest`: the earlier one is what the query finds first. */
function successionOf(
  earlier: Statement,
  later: Statement,
  { query, isPast, isBest }: { query: Query; isPast: boolean; isBest: boolean },
): Succession | null {
  // The date of a version tells if it was true at a time that is named.
  if (areVersions(earlier, later)) return isPast ? SAME_FACT : null;
  if (areApart(earlier, later)) return null;
  const lacking = earlier.shared.filter((stem) => !later.stems.has(stem));
  if (lacking.some((stem) => /\d/.test(stem))) return null;
  const common = new Map([...earlier.stems].filter(([stem]) => later.stems.has(stem)));
  const pair = { earlier, later, lacking, common };
  const isWhole = takesUpWhole(pair, query);
  if (!isWhole && !hasItsValue(pair, query, isBest) && !takesUpHalf(pair, query) && !settles(pair))
    return null;
  const holds = later.changes || settles(pair) || isFactOfMessage(pair);
  // A name alone may be of another matter.
  const isSame = later.changes || (holds && sharesMost(earlier, query));
  const least = isWhole ? (isSame ? CLOSE_WITH_CHANGE : CLOSE) : CLOSE_IN_PART;
  const closeness = closenessOf(pair, least);
  return closeness < least ? null : { closeness, holds, changes: later.changes };
}

const areVersions = ({ reading: earlier }: Statement, { reading: later }: Statement): boolean =>
  later.one.fact !== undefined && later.one.fact === earlier.one.fact;

/** True for a fact of which one version is true at a time: it says what holds now. */
const isFactOfMessage = ({ earlier, later }: Pair): boolean =>
  later.reading.one.fact !== undefined && earlier.reading.one.isMessage;

/** True if the later one cannot be about what the earlier one says. */
const areApart = (
  { reading: earlier, kin }: Statement,
  { reading: later, kin: otherKin }: Statement,
): boolean =>
  (otherKin !== null && otherKin !== kin) ||
  isOfAnother(later.text, earlier.text) ||
  // "From now on …" orders something, and changes nothing that is so.
  (later.one.standing !== undefined && earlier.one.standing === undefined) ||
  // A text without an answer of the asked type replaces none.
  (later.lacksType && !earlier.lacksType);

const sharedOf = ({ earlier, lacking }: Pair): number => earlier.shared.length - lacking.length;

/** True if the later one has all that the question names of the earlier one, ends what may still be so, or corrects it. */
function takesUpWhole(pair: Pair, { still, names }: Query): boolean {
  const { later, lacking } = pair;
  const shared = sharedOf(pair);
  if (shared === 0) return false;
  if (lacking.length === 0) return true;
  if (later.changes && still.size > 0 && lacking.every((stem) => still.has(stem))) return true;
  return (
    later.corrects && later.stems.size - shared <= CORRECTION && !lacking.some((stem) => names.has(stem))
  );
}

/** True if a change has the old value: a rare word that is not the question's. Any two matters may have a day in common. */
const hasItsValue = ({ earlier, later, common }: Pair, { stems }: Query, isBest: boolean): boolean =>
  later.changes &&
  (earlier.shared.length > 0 || isBest) &&
  [...common].some(([stem, { isRare }]) => isRare && !stems.has(stem));

/**
 * True if a change names the matter, and leaves out what follows it: "The vet moved it" is about the vet appointment. A word before
 * the matter tells it from another: the office password.
 */
function takesUpHalf({ earlier, later, lacking }: Pair, { stems, names }: Query): boolean {
  const nameless = earlier.shared.filter((stem) => !names.has(stem));
  const order = [...stems];
  const lastShared = order.findLastIndex((stem) => later.stems.has(stem));
  return (
    later.changes &&
    nameless.length > 0 &&
    nameless.length >= 2 * lacking.length &&
    lacking.every((stem) => !names.has(stem) && order.indexOf(stem) > lastShared)
  );
}

/** True if what was supposed gives way to what is stated, of which it need not have the words. */
const settles = (pair: Pair): boolean => pair.earlier.supposes && !pair.later.supposes && sharedOf(pair) > 0;

/** True if a statement has half of the question's words, its names left out. */
function sharesMost({ shared }: Statement, { stems, names }: Query): boolean {
  const nameless = shared.filter((stem) => !names.has(stem)).length;
  return nameless > 0 && nameless >= stems.difference(names).size / 2;
}

/** The closeness of two statements, 0 to 1; 0 if it cannot be `least`. */
function closenessOf({ earlier, later, common }: Pair, least: number): number {
  const lighter = Math.min(earlier.weight, later.weight);
  const overlap = lighter === 0 ? 0 : weightOf(common) / lighter;
  // Most pairs need no cosine: the largest would not do.
  if ((1 + overlap) / 2 < least) return 0;
  return (cosineOf(earlier.vector(), later.vector()) + overlap) / 2;
}

const weightOf = (stems: ReadonlyMap<string, Word>): number =>
  stems.values().reduce((sum, { rarity }) => sum + rarity, 0);
