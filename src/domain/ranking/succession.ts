import { isOfTime } from "./answer-type.ts";
import { rarityOf, type WordStatistics } from "./features.ts";
import type { Judgement, Reading, StatementWeights } from "./judgement.ts";
import { cosineOf, sumOfRows } from "./lexicon.ts";
import type { PooledCandidate } from "./pool.ts";
import { namesIn } from "./question.ts";
import type { StatementReader } from "./statements.ts";
import { isOfAnother, relativeIn } from "./whose.ts";

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
/** What is only supposed: "If they say no, we'd sell it". An instruction ("if it rains, close it") is none. English. */
const SUPPOSES =
  /^(?:(?:and|but|so|well|maybe|perhaps),? )?(?:if|unless|suppos(?:e|ing)|imagine|assuming|in case)\b.{3,120}?(?:\bwould|\bcould|\bmight|['’]d)\b|\b(?:would|could|might|['’]d)\b.{3,120}?\b(?:if|unless)\b/i;

/** What may have ended: "Do I still drink coffee?". A change need not say it again. */
const STILL = /\bstill\s+(\p{L}+)/iu;
/** The most words of a correction besides those of the question. */
const CORRECTION = 2;

/** A statement among others: its stems each with its rarity, and the sum of their vectors. */
type Statement = {
  i: number;
  one: PooledCandidate;
  text: string;
  stems: ReadonlyMap<string, { rarity: number; isRare: boolean }>;
  vector: Float32Array | null;
  changes: boolean;
  corrects: boolean;
  supposes: boolean;
  kin: string | null;
  /** The question's stems that it has. */
  named: readonly string[];
  lacksType: boolean;
};

/** What a question asks: its telling stems, the names among them, and what may still be so. */
type Asked = { stems: ReadonlySet<string>; names: ReadonlySet<string>; still: ReadonlySet<string> };

function statementOf(
  { i, one, text, words: said, lacksType }: Reading,
  { asked, words }: { asked: Asked; words: WordStatistics },
): Statement {
  const { lexicon, frequencies } = words;
  const stems = new Map<string, { rarity: number; isRare: boolean }>();
  const all: number[] = [];
  for (const [stem, word] of said) {
    const pieces = lexicon.pieces(word);
    stems.set(stem, {
      rarity: pieces.reduce((sum, piece) => sum + rarityOf(piece, words), 0),
      isRare: !isOfTime(word) && Math.min(...pieces.map(frequencies.holding)) <= RARE,
    });
    all.push(...pieces);
  }
  return {
    i,
    one,
    text,
    stems,
    vector: sumOfRows(all, lexicon),
    changes: CHANGES.test(text),
    corrects: CORRECTS.test(text),
    supposes: SUPPOSES.test(text),
    kin: relativeIn(text),
    named: [...said.keys()].filter((stem) => asked.stems.has(stem)),
    lacksType,
  };
}

/** Raises the later of two statements on one matter; the earlier one if the question is about the past. */
export function orderByTime(
  judged: readonly Judgement[],
  {
    question,
    asked: stems,
    readings,
    sums,
    words,
    isPast,
    until,
    reader,
    weights,
  }: {
    question: string;
    asked: ReadonlySet<string>;
    readings: readonly Reading[];
    sums: readonly number[];
    words: WordStatistics;
    isPast: boolean;
    until: number;
    reader: StatementReader;
    weights: StatementWeights;
  },
): void {
  const names = new Set(reader.tellingWords(namesIn(question).join(" ")).keys());
  const still = new Set(reader.tellingWords(STILL.exec(question)?.[1] ?? "").keys());
  const asked: Asked = { stems, names, still };
  const byTime = readings
    .filter(
      ({ i, onlyAsks, one, text }) =>
        !onlyAsks &&
        one.role !== "assistant" &&
        one.kind !== "people" &&
        text.length <= STATEMENT &&
        judged[i]?.isOfOther !== true,
    )
    .map((reading) => statementOf(reading, { asked, words }))
    .toSorted((a, b) => a.one.createdAt - b.one.createdAt || a.one.n - b.one.n);
  const gains = new Map<number, number>();
  const most = Math.max(...byTime.map(({ i }) => sums[i] ?? 0));
  for (const [k, later] of byTime.entries())
    for (const earlier of byTime.slice(0, k)) {
      // A memory of a sentence has the time of its message.
      const areMessages = earlier.one.isMessage && later.one.isMessage;
      if (earlier.one.createdAt === later.one.createdAt && !areMessages) continue;
      const isBest = (sums[earlier.i] ?? 0) >= most;
      const succession = successionOf(earlier, later, { asked, isPast, isBest });
      if (succession === null) continue;
      const { closeness, holds, changes } = succession;
      const [winner, loser] =
        isPast || later.one.createdAt >= until ? [earlier.i, later.i] : [later.i, earlier.i];
      const gap = Math.max(0, (sums[loser] ?? 0) - (sums[winner] ?? 0));
      const gain = weights.later * closeness + (holds ? weights.change + weights.gap * gap : 0);
      gains.set(winner, Math.max(gains.get(winner) ?? 0, gain));
      const won = judged[winner];
      if (holds && won !== undefined) won.reason = winner === later.i ? "later" : "earlier";
      const replaced = judged[earlier.i];
      if (changes && closeness >= CLOSE && replaced !== undefined) replaced.replacedBy ??= later.i;
    }
  for (const [i, gain] of gains) {
    const judgement = judged[i];
    if (judgement !== undefined) judgement.added += gain;
  }
}

/** The closeness of two statements, 0 to 1. `holds`: the later one tells what is so now; `changes`: by a word of change. */
type Succession = { closeness: number; holds: boolean; changes: boolean };
/** The succession of two versions of one fact. */
const SAME_FACT: Succession = { closeness: 1, holds: true, changes: true };

/** The succession of two statements; null if they are about different things. `isBest`: the earlier one is what the query finds first. */
function successionOf(
  earlier: Statement,
  later: Statement,
  { asked, isPast, isBest }: { asked: Asked; isPast: boolean; isBest: boolean },
): Succession | null {
  // The date of a version tells if it was true at a time that is named.
  if (later.one.fact !== undefined && later.one.fact === earlier.one.fact) return isPast ? SAME_FACT : null;
  // A memory of a sentence replaces nothing in the message that it comes from.
  if (earlier.text.includes(later.text)) return null;
  if (later.kin !== null && later.kin !== earlier.kin) return null;
  // "From now on …" orders something, and changes nothing that is so.
  if (later.one.standing !== undefined && earlier.one.standing === undefined) return null;
  if (isOfAnother(later.text, earlier.text)) return null;
  // A text without an answer of the asked type replaces none.
  if (later.lacksType && !earlier.lacksType) return null;
  const lacking = earlier.named.filter((stem) => !later.stems.has(stem));
  const common = [...earlier.stems].filter(([stem]) => later.stems.has(stem));
  if (lacking.some((stem) => /\d/.test(stem))) return null;
  // Words of the question are the matter, and not the old value. Any two matters may have a day in common.
  const inCommon = common.filter(([stem, { isRare }]) => isRare && !asked.stems.has(stem)).length;
  const sameValue = later.changes && inCommon >= IN_COMMON && (earlier.named.length > 0 || isBest);
  const covers = earlier.named.length > 0 && lacking.length === 0;
  const shared = earlier.named.length - lacking.length;
  const ends =
    later.changes && asked.still.size > 0 && shared > 0 && lacking.every((stem) => asked.still.has(stem));
  const corrects =
    later.corrects &&
    shared > 0 &&
    later.stems.size - shared <= CORRECTION &&
    !lacking.some((stem) => asked.names.has(stem));
  const isTold = (stem: string): boolean => !asked.names.has(stem);
  const told = earlier.named.filter(isTold);
  // A change names the matter, and may leave out what follows it: "The vet moved it" is about the vet appointment. A word before the
  // matter tells it from another: the office password.
  const order = [...asked.stems];
  const lastShared = order.findLastIndex((stem) => later.stems.has(stem));
  const half =
    later.changes &&
    told.length > 0 &&
    told.length >= 2 * lacking.length &&
    lacking.every((stem) => isTold(stem) && order.indexOf(stem) > lastShared);
  // What was supposed gives way to what is stated, of which it need not have the words.
  const settles = earlier.supposes && !later.supposes && shared > 0;
  if (!sameValue && !covers && !ends && !corrects && !half && !settles) return null;
  const least = Math.min(weightOf(earlier.stems), weightOf(later.stems));
  const overlap = least === 0 ? 0 : weightOf(common) / least;
  const closeness = (cosineOf(earlier.vector, later.vector) + overlap) / 2;
  // A fact of which one version is true at a time says what holds now. A name alone may be of another matter.
  const holds = later.changes || settles || (later.one.fact !== undefined && earlier.one.isMessage);
  const isSame =
    later.changes || (holds && told.length > 0 && told.length >= [...asked.stems].filter(isTold).length / 2);
  const inPart = !covers && !ends && !corrects;
  if (closeness < (inPart ? CLOSE_IN_PART : isSame ? CLOSE_WITH_CHANGE : CLOSE)) return null;
  return { closeness, holds, changes: later.changes };
}

function weightOf(stems: Iterable<readonly [string, { rarity: number }]>): number {
  let sum = 0;
  for (const [, { rarity }] of stems) sum += rarity;
  return sum;
}
