import { isOfTime, typeTest } from "./answer-type.ts";
import { asksForQuestions } from "./asks.ts";
import { rarityOf, type WordStatistics } from "./features.ts";
import { cosineOf, sumOfRows } from "./lexicon.ts";
import type { PooledCandidate } from "./pool.ts";
import { namesIn } from "./question.ts";
import { opensQuestion, StatementReader } from "./statements.ts";

/**
 * The weights of what candidates are to the question and to each other. `echo`: asks, and adds at most one word to the question.
 * `asks`: asks, and adds two or three. `repeats`: an assistant's message that states what the question says, and no more. `other`: is
 * about a relative of the speaker, who asks about themselves. `reply`: the share of an echo's sum that its reply has at least.
 * `later`: of a later statement on the same matter, by how close the two are. `change`: if it names a change; `gap`: and the share
 * of what it lacks to the earlier one.
 */
export const statementWeights = [
  "echo",
  "asks",
  "repeats",
  "other",
  "reply",
  "later",
  "change",
  "gap",
] as const;
export type StatementWeights = Record<(typeof statementWeights)[number], number>;

/** The findings of the second stage about a candidate, and the number that it adds to its sum. */
export type Judgement = {
  added: number;
  /** It asks what the question asks, or says no more than it. */
  isEcho: boolean;
  /** The reason for which its sum changes. */
  reason?: "echo" | "request" | "reply" | "later" | "earlier";
  /** The place in the pool of a statement that replaces this one. */
  replacedBy?: number;
};

/** Candidates that are compared with the question and with each other: the best ones so far. */
const COMPARED = 20;
/** Characters of a text that can be an echo, and of one statement among others. A longer text says several things. */
const [ECHO, STATEMENT] = [400, 200];
/** A text says what the question says if it has more than this share of its words. */
const HALF = 0.5;
/** Telling words that an echo, and a request, may have beside those of the question. */
const [OF_ECHO, OF_REQUEST] = [1, 3];
/** Two statements are about the same matter from this closeness on; with a word of change, and if they share less than the question. */
const [CLOSE, CLOSE_WITH_CHANGE, CLOSE_IN_PART] = [0.45, 0.2, 0.3];
/** The most documents that hold a rare word, and the rare words beside those of the question that a change has in common. */
const [RARE, IN_COMMON] = [4, 1];

/** Words of change in a statement, and of the past in a question. English. */
const CHANGES =
  /\b(?:moved?|moves|moving|meant|rais(?:ed|es)|lower(?:ed|s)|increas(?:ed|es)|reduc(?:ed|es)|bought a|instead|now|cancel(?:led|ed|s)?|left|no longer|any ?more|chang(?:ed?|es|ing)|switch(?:ed|es)?|swap(?:ped|s)?|stopped|stops|quit|from (?:today|now|next|tomorrow)|these days|replac(?:ed?|es)|became|become|after all|postponed?|rescheduled|brought forward|pushed|put off|renamed|sold|gave up|given up|updated?|correction|corrected|actually|ended|split up|divorced|retired|resigned|revers(?:ed|es)|turned out|over to|has gone|since then|(?:the|our|my|his|her) new|not .{1,30} but)\b/i;
const PAST =
  /\b(?:used to|former(?:ly)?|previous(?:ly)?|at first|original(?:ly)?|did .{1,30} first|back then|initial(?:ly)?|in the past|last time)\b|\b(?:did|was|were|had)\b.{0,80}\b(?:before|first|earlier|old|until|once|away from)\b|\b(?:before|first|earlier|until)\b.{0,80}\b(?:did|was|were|had)\b/i;
/** A person by what they are to the speaker: a fact about one says nothing about another. */
const RELATIVES = String.raw`mothers?|mum|mom|fathers?|dad|parents?|sisters?|brothers?|siblings?|aunts?|uncles?|cousins?|nieces?|nephews?|sons?|daughters?|kids?|child(?:ren)?|wife|husband|partner|girlfriend|boyfriend|gran(?:dma|dpa|ny|dad|dmother|dfather)?|grand(?:son|daughter)|neighbou?rs?|friends?|boss|colleagues?|flatmate|roommate|landlord|tenant`;
const RELATIVE = new RegExp(String.raw`\b(?:${RELATIVES})\b`, "i");
const KIN = new RegExp(String.raw`^(?:my|our|his|her|their)\s+(?:\w+\s+)?(${RELATIVES})\b`, "i");
/** A question about the speaker. */
const OWN = /\b(?:i|me|my)\b/i;
const YES_OR_NO = /^(?:is|are|am|was|were|do|does|did|can|could|would|will|should|have|has|had)\b/i;

/** True if a question is about what was so before. */
export const asksForPast = (question: string): boolean => PAST.test(question);

/** The places of the greatest sums. */
export const bestOf = (sums: readonly number[], most: number): number[] =>
  sums
    .map((sum, i) => ({ sum, i }))
    .toSorted((a, b) => b.sum - a.sum)
    .slice(0, most)
    .map(({ i }) => i);

/**
 * The message without the speaker's name, which the index puts before it; a memory without "The user", which is what "I" is in
 * a message.
 */
const ownText = ({ speaker, text, isMessage }: PooledCandidate): string =>
  speaker !== null && text.startsWith(`${speaker}: `)
    ? text.slice(speaker.length + 2)
    : isMessage
      ? text
      : text.replace(/^The user\b(?:['’]s)?\s*/u, "");

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
  const best = bestOf(sums, COMPARED);
  const reader = new StatementReader();
  const asked = new Set(reader.tellingWords(question).keys());
  const readings = best.flatMap((i) => {
    const one = pool[i];
    if (one === undefined || one.text.length > ECHO) return [];
    const read = reader.statementsOf(ownText(one), { role: one.role, asked });
    const { onlyAsks, stems, chatter, words: said } = read;
    const news = chatter + [...stems].filter((stem) => !asked.has(stem)).length;
    const covered = [...asked].filter((stem) => said.has(stem)).length;
    return [{ i, one, onlyAsks, news, covered, said }];
  });
  // A question of the speaker about themselves is not about their relatives.
  if (OWN.test(question) && !RELATIVE.test(question))
    for (const { i, one } of readings) {
      const judgement = judged[i];
      if (judgement !== undefined && KIN.test(ownText(one))) judgement.added += weights.other;
    }
  // A search by one word looks for whatever has it.
  if (!asksForQuestions(question) && (asked.size > 1 || opensQuestion(question))) {
    const states = YES_OR_NO.test(question);
    for (const { i, one, onlyAsks, news, covered } of readings) {
      const judgement = judged[i];
      // A memory was stored to be found, also by its own words.
      if (judgement === undefined || !one.isMessage) continue;
      const repeats = news === 0 && !states && covered > HALF * asked.size;
      judgement.isEcho = (onlyAsks && news <= OF_ECHO) || (repeats && one.role !== "assistant");
      if (judgement.isEcho) {
        judgement.reason = "echo";
        judgement.added += weights.echo;
      } else if (onlyAsks && news <= OF_REQUEST) {
        judgement.reason = "request";
        judgement.added += weights.asks;
      } else if (repeats) judgement.added += weights.repeats;
    }
    liftReplies(judged, { pool, sums, reader, asked, share: weights.reply });
  }
  if (words !== null) {
    const names = new Set(reader.tellingWords(namesIn(question).join(" ")).keys());
    const about = { stems: asked, names, lacksType: typeTest(question) };
    const statements = readings.flatMap(({ i, one, onlyAsks, said }) =>
      onlyAsks || one.role === "assistant" || one.kind === "people" || one.text.length > STATEMENT
        ? []
        : [{ i, one, ...statementOf(ownText(one), said, { asked: about, words }) }],
    );
    const after = sums.map((sum, i) => sum + (judged[i]?.added ?? 0));
    orderByTime(judged, {
      statements,
      sums: after,
      asked: about,
      isPast,
      until,
      weights,
    });
  }
  return judged;
}

/** The reply to an echo is its answer, whatever its words: a short statement of somebody else, right after it. */
function liftReplies(
  judged: readonly Judgement[],
  {
    pool,
    sums,
    reader,
    asked,
    share,
  }: {
    pool: readonly PooledCandidate[];
    sums: readonly number[];
    reader: StatementReader;
    asked: ReadonlySet<string>;
    share: number;
  },
): void {
  for (const [i, one] of pool.entries()) {
    const { before, role, speaker } = one;
    const reply = judged[i];
    if (before === undefined || reply === undefined || judged[before]?.isEcho !== true) continue;
    const echo = pool[before];
    if (one.text.length > ECHO || (role === echo?.role && speaker === echo.speaker)) continue;
    const { onlyAsks, stems } = reader.statementsOf(ownText(one), { role, asked });
    if (onlyAsks || [...stems].filter((stem) => !asked.has(stem)).length <= OF_ECHO) continue;
    const own = sums[i] ?? 0;
    const lifted = share * (sums[before] ?? 0) - own;
    if (lifted <= reply.added) continue;
    reply.added = lifted;
    reply.reason = "reply";
  }
}

/** A statement among others: its stems each with its rarity, and the sum of their vectors. */
type Statement = {
  i: number;
  one: PooledCandidate;
  stems: ReadonlyMap<string, { rarity: number; isRare: boolean }>;
  vector: Float32Array | null;
  changes: boolean;
  kin: string | null;
  /** The question's stems that it has. */
  named: readonly string[];
  /** It has no answer of the type that the question asks for. */
  lacksType: boolean;
};

/** What a question asks: its telling stems, the names among them, and the test of an answer's type. */
type Asked = {
  stems: ReadonlySet<string>;
  names: ReadonlySet<string>;
  lacksType: (text: string) => boolean;
};

function statementOf(
  text: string,
  said: ReadonlyMap<string, string>,
  { asked, words }: { asked: Asked; words: WordStatistics },
): Omit<Statement, "i" | "one"> {
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
    stems,
    vector: sumOfRows(all, lexicon),
    changes: CHANGES.test(text),
    kin: KIN.exec(text)?.[1]?.toLowerCase() ?? null,
    named: [...said.keys()].filter((stem) => asked.stems.has(stem)),
    lacksType: asked.lacksType(text),
  };
}

/** Raises the later of two statements on one matter; the earlier one if the question is about the past. */
function orderByTime(
  judged: readonly Judgement[],
  {
    statements,
    sums,
    asked,
    isPast,
    until,
    weights,
  }: {
    statements: readonly Statement[];
    sums: readonly number[];
    asked: Asked;
    isPast: boolean;
    until: number;
    weights: StatementWeights;
  },
): void {
  const byTime = statements.toSorted((a, b) => a.one.createdAt - b.one.createdAt || a.one.n - b.one.n);
  const gains = new Map<number, number>();
  for (const [k, later] of byTime.entries())
    for (const earlier of byTime.slice(0, k)) {
      if (earlier.one.createdAt === later.one.createdAt && !later.one.isMessage) continue;
      const succession = successionOf(earlier, later, { asked, isPast });
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

/** The succession of two statements; null if they are about different things. */
function successionOf(
  earlier: Statement,
  later: Statement,
  { asked, isPast }: { asked: Asked; isPast: boolean },
): Succession | null {
  // The date of a version tells if it was true at a time that is named.
  if (later.one.fact !== undefined && later.one.fact === earlier.one.fact) return isPast ? SAME_FACT : null;
  if (later.kin !== null && later.kin !== earlier.kin) return null;
  // A text without an answer of the asked type replaces none.
  if (later.lacksType && !earlier.lacksType) return null;
  const lacking = earlier.named.filter((stem) => !later.stems.has(stem));
  const common = [...earlier.stems].filter(([stem]) => later.stems.has(stem));
  if (lacking.some((stem) => /\d/.test(stem))) return null;
  // Words of the question are the matter, and not the old value. Any two matters may have a day in common.
  const inCommon = common.filter(([stem, { isRare }]) => isRare && !asked.stems.has(stem)).length;
  const sameValue = later.changes && inCommon >= IN_COMMON;
  const covers = earlier.named.length > 0 && lacking.length === 0;
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
  if (!sameValue && !covers && !half) return null;
  const least = Math.min(weightOf(earlier.stems), weightOf(later.stems));
  const overlap = least === 0 ? 0 : weightOf(common) / least;
  const closeness = (cosineOf(earlier.vector, later.vector) + overlap) / 2;
  // A fact of which one version is true at a time says what holds now. A name alone may be of another matter.
  const holds = later.changes || (later.one.fact !== undefined && earlier.one.isMessage);
  const isSame =
    later.changes || (holds && told.length > 0 && told.length >= [...asked.stems].filter(isTold).length / 2);
  if (closeness < (!covers ? CLOSE_IN_PART : isSame ? CLOSE_WITH_CHANGE : CLOSE)) return null;
  return { closeness, holds, changes: later.changes };
}

function weightOf(stems: Iterable<readonly [string, { rarity: number }]>): number {
  let sum = 0;
  for (const [, { rarity }] of stems) sum += rarity;
  return sum;
}
