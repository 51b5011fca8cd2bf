import { isOfTime } from "./answer-type.ts";
import { rarityOf, type WordStatistics } from "./features.ts";
import type { Judgement, Reading, StatementWeights } from "./judgement.ts";
import { cosineOf, sumOfRows } from "./lexicon.ts";
import type { PooledCandidate } from "./pool.ts";
import { namesIn } from "./question.ts";
import { relativeIn } from "./relatives.ts";
import type { StatementReader } from "./statements.ts";
import { isOfAnother } from "./whose.ts";

/** Characters of one statement. A longer text says several things. */
const STATEMENT = 200;
/** Two statements are about the same matter from this closeness on; with a word of change, and if they share less than the question. */
const [CLOSE, CLOSE_WITH_CHANGE, CLOSE_IN_PART] = [0.45, 0.2, 0.3];
/** The most documents that hold a rare word, and the rare words beside those of the question that a change has in common. */
const [RARE, IN_COMMON] = [4, 1];
/** Words of change in a statement. English. */
const CHANGES =
  /\b(?:moved?|moves|moving|meant|rais(?:ed|es)|lower(?:ed|s)|increas(?:ed|es)|reduc(?:ed|es)|bought a|instead|now|cancel(?:led|ed|s)?|left|no longer|any ?more|chang(?:ed?|es|ing)|switch(?:ed|es)?|swap(?:ped|s)?|stopped|stops|quit|from (?:today|now|next|tomorrow)|these days|replac(?:ed?|es)|became|become|after all|postponed?|rescheduled|brought forward|pushed|put off|renamed|sold|gave up|given up|updated?|correction|corrected|actually|ended|split up|divorced|retired|resigned|revers(?:ed|es)|turned out|over to|has gone|since then|(?:the|our|my|his|her) new|not .{1,30} but)\b/i;

/** A correction, which need not repeat the matter. */
const CORRECTS = /\b(?:meant|correction|corrected|sorry|my mistake|scratch that|mixed up|typo)\b/i;
/**
 * A supposition: "If they say no, we'd sell it"; or still open: "They haven't paid". An instruction ("if it rains, close
 * it") is neither. English.
 */
const SUPPOSES =
  /^(?:(?:and|but|so|well|maybe|perhaps),? )?(?:if|unless|suppos(?:e|ing)|imagine|assuming|in case)\b.{3,120}?(?:\bwould|\bcould|\bmight|['’]d)\b|\b(?:would|could|might|['’]d)\b.{3,120}?\b(?:if|unless)\b|\bstill ha(?:s|ve)(?:n['’]t| not)\b|\bha(?:s|ve)(?:n['’]t| not)\b.{1,80}\byet\b|\bnot yet\b|\bstill (?:waiting|open)\b/i;

/** What may have ended: "Do I still drink coffee?". A change need not say it again. */
const STILL = /\bstill\s+(\p{L}+)/iu;
/** The most words of a correction besides those of the question. */
const CORRECTION = 2;

/** A word of statements: its pieces, and how rare it is. */
type Word = { pieces: readonly number[]; rarity: number; isRare: boolean };
/** A statement among others: its stems, each with its word. */
type Statement = {
  i: number;
  one: PooledCandidate;
  text: string;
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
  named: readonly string[];
  lacksType: boolean;
};

/** What a question asks: its telling stems, the names among them, and what may still be so. */
type Query = { stems: ReadonlySet<string>; names: ReadonlySet<string>; still: ReadonlySet<string> };

function statementOf(
  { i, one, text, words: wordsByStem, lacksType }: Reading,
  { query, words, read }: { query: Query; words: WordStatistics; read: (word: string) => Word },
): Statement {
  const stems = new Map(Array.from(wordsByStem, ([stem, word]) => [stem, read(word)]));
  let vector: Float32Array | null | undefined;
  return {
    i,
    one,
    text,
    stems,
    weight: weightOf(stems),
    vector: () =>
      (vector ??= sumOfRows(
        [...stems.values()].flatMap(({ pieces }) => pieces),
        words.lexicon,
      )),
    changes: CHANGES.test(text),
    corrects: CORRECTS.test(text),
    supposes: SUPPOSES.test(text),
    kin: relativeIn(text),
    named: [...wordsByStem.keys()].filter((stem) => query.stems.has(stem)),
    lacksType,
  };
}

/** Reads words, each once: statements on one matter have many in common. */
function wordReader(words: WordStatistics): (word: string) => Word {
  const { lexicon, frequencies } = words;
  const known = new Map<string, Word>();
  return (word) => {
    const same = known.get(word);
    if (same !== undefined) return same;
    const pieces = lexicon.pieces(word);
    const read = {
      pieces,
      rarity: pieces.reduce((sum, piece) => sum + rarityOf(piece, words), 0),
      isRare: !isOfTime(word) && Math.min(...pieces.map(frequencies.holding)) <= RARE,
    };
    known.set(word, read);
    return read;
  };
}

type Order = {
  question: string;
  questionStems: ReadonlySet<string>;
  readings: readonly Reading[];
  sums: readonly number[];
  words: WordStatistics;
  isPast: boolean;
  until: number;
  reader: StatementReader;
  weights: StatementWeights;
};

/** Raises the later of two statements on one matter; the earlier one if the question is about the past. */
export function orderByTime(judged: readonly Judgement[], order: Order): void {
  const { sums, isPast, until, weights } = order;
  const query = queryOf(order);
  const byTime = statementsOf(judged, order, query);
  const gains = new Map<number, number>();
  const sumOf = ({ i }: Statement): number => sums[i] ?? 0;
  const most = Math.max(...byTime.map(sumOf));
  for (const [earlier, later] of pairsOf(byTime)) {
    const succession = successionOf(earlier, later, { query, isPast, isBest: sumOf(earlier) >= most });
    if (succession === null) continue;
    const { closeness, holds, changes } = succession;
    const [winner, loser] = isPast || later.one.createdAt >= until ? [earlier, later] : [later, earlier];
    const gap = Math.max(0, sumOf(loser) - sumOf(winner));
    const gain = weights.later * closeness + (holds ? weights.change + weights.gap * gap : 0);
    gains.set(winner.i, Math.max(gains.get(winner.i) ?? 0, gain));
    const won = judged[winner.i];
    if (holds && won !== undefined) won.reason = winner === later ? "later" : "earlier";
    const replaced = judged[earlier.i];
    if (changes && closeness >= CLOSE && replaced !== undefined) replaced.replacedBy ??= later.i;
  }
  for (const [i, gain] of gains) {
    const judgement = judged[i];
    if (judgement !== undefined) judgement.added += gain;
  }
}

function queryOf({ question, questionStems: stems, reader }: Order): Query {
  const names = new Set(reader.tellingWords(namesIn(question).join(" ")).keys());
  const still = new Set(reader.tellingWords(STILL.exec(question)?.[1] ?? "").keys());
  return { stems, names, still };
}

/** The short statements of people about themselves, the earliest first. */
function statementsOf(judged: readonly Judgement[], { readings, words }: Order, query: Query): Statement[] {
  const read = wordReader(words);
  return readings
    .filter(
      ({ i, onlyAsks, one, text }) =>
        !onlyAsks &&
        one.role !== "assistant" &&
        one.kind !== "people" &&
        text.length <= STATEMENT &&
        judged[i]?.isOfOther !== true,
    )
    .map((reading) => statementOf(reading, { query, words, read }))
    .toSorted((a, b) => a.one.createdAt - b.one.createdAt || a.one.n - b.one.n);
}

/** Each statement with each one before it. A memory of a sentence has the time of its message, and follows none of that time. */
function* pairsOf(byTime: readonly Statement[]): Generator<[earlier: Statement, later: Statement], void> {
  for (const [k, later] of byTime.entries())
    for (const earlier of byTime.slice(0, k)) {
      const areMessages = earlier.one.isMessage && later.one.isMessage;
      if (earlier.one.createdAt !== later.one.createdAt || areMessages) yield [earlier, later];
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
  common: readonly (readonly [stem: string, Word])[];
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
  const lacking = earlier.named.filter((stem) => !later.stems.has(stem));
  const common = [...earlier.stems].filter(([stem]) => later.stems.has(stem));
  if (lacking.some((stem) => /\d/.test(stem))) return null;
  const pair = { earlier, later, lacking, common };
  const isWhole = takesUpWhole(pair, query);
  if (!isWhole && !hasItsValue(pair, query, isBest) && !takesUpHalf(pair, query) && !settles(pair))
    return null;
  const holds = later.changes || settles(pair) || isFactOfMessage(pair);
  // A name alone may be of another matter.
  const isSame = later.changes || (holds && namesMost(earlier, query));
  const least = isWhole ? (isSame ? CLOSE_WITH_CHANGE : CLOSE) : CLOSE_IN_PART;
  const closeness = closenessOf(pair, least);
  return closeness < least ? null : { closeness, holds, changes: later.changes };
}

const areVersions = (earlier: Statement, later: Statement): boolean =>
  later.one.fact !== undefined && later.one.fact === earlier.one.fact;

/** True for a fact of which one version is true at a time: it says what holds now. */
const isFactOfMessage = ({ earlier, later }: Pair): boolean =>
  later.one.fact !== undefined && earlier.one.isMessage;

/** True if the later one cannot be about what the earlier one says. */
const areApart = (earlier: Statement, later: Statement): boolean =>
  (later.kin !== null && later.kin !== earlier.kin) ||
  isOfAnother(later.text, earlier.text) ||
  // "From now on …" orders something, and changes nothing that is so.
  (later.one.standing !== undefined && earlier.one.standing === undefined) ||
  // A text without an answer of the asked type replaces none.
  (later.lacksType && !earlier.lacksType);

const sharedOf = ({ earlier, lacking }: Pair): number => earlier.named.length - lacking.length;

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
function hasItsValue({ earlier, later, common }: Pair, { stems }: Query, isBest: boolean): boolean {
  const inCommon = common.filter(([stem, { isRare }]) => isRare && !stems.has(stem)).length;
  return later.changes && inCommon >= IN_COMMON && (earlier.named.length > 0 || isBest);
}

/**
 * True if a change names the matter, and leaves out what follows it: "The vet moved it" is about the vet appointment. A word before
 * the matter tells it from another: the office password.
 */
function takesUpHalf({ earlier, later, lacking }: Pair, { stems, names }: Query): boolean {
  const nameless = earlier.named.filter((stem) => !names.has(stem));
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
function namesMost({ named }: Statement, { stems, names }: Query): boolean {
  const nameless = named.filter((stem) => !names.has(stem)).length;
  return nameless > 0 && nameless >= [...stems].filter((stem) => !names.has(stem)).length / 2;
}

/** The closeness of two statements, 0 to 1; 0 if it cannot be `least`. */
function closenessOf({ earlier, later, common }: Pair, least: number): number {
  const lighter = Math.min(earlier.weight, later.weight);
  const overlap = lighter === 0 ? 0 : weightOf(common) / lighter;
  // Most pairs need no cosine: the largest would not do.
  if ((1 + overlap) / 2 < least) return 0;
  return (cosineOf(earlier.vector(), later.vector()) + overlap) / 2;
}

function weightOf(stems: Iterable<readonly [string, { rarity: number }]>): number {
  let sum = 0;
  for (const [, { rarity }] of stems) sum += rarity;
  return sum;
}
