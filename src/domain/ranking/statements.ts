import { partOf, wholeWords } from "../language/recall-words.ts";
import { memoized } from "../memoized.ts";
import { stem, wordsOf } from "../memory/content-stems.ts";
import { isAboutTalk, isFillerWord } from "./courtesy.ts";
import { folded } from "./fold.ts";
import { isTelling } from "./question.ts";
import { sentencesOf } from "./marks.ts";

const QUESTION_MARK = /[?？؟]["'”’)\]]*$/;
const OPENS = new RegExp(String.raw`^${partOf("opens")}\b`, "iu");
/** A text of a few words asks with a word at its end or behind a pause: "gala - what to wear", "gate code pls". */
const ASKING = new RegExp(
  String.raw`\b${partOf("asksAtEnd")}\P{L}*$|(?:[,:–—]| -)\s*${partOf("asksBehind")}\b`,
  "iu",
);
/** The most words of such a text. */
const FEW = 10;
const DENIES = new RegExp(partOf("denials"), "iu");
const [KNOWING, BETWEEN_THEM] = [wholeWords("knowing"), wholeWords("betweenThem")];
/** The part of a question that states something: "…, since she can't have nuts", "My sister is coeliac, what …?". */
const REASON = new RegExp(String.raw`(?<=.{8})(?<=[\s,;(–—\-])${partOf("reasons")}\b.*$`, "iu");
const GROUND = new RegExp(
  String.raw`^.{4,}?\b${partOf("states")}\b.*?(?=[,;]\s*${partOf("asksNext")}\b)`,
  "iu",
);
/** The part of one that says why the speaker asks: "…, I'm standing outside". */
const EXCUSE = new RegExp(String.raw`[,;–—\-]\s*${partOf("excuses")}\b.*$`, "iu");

/** The share of a question's stems that another question has which asks the same. What it states beside that is about something else. */
const SAME = 0.7;

export const opensQuestion = (text: string): boolean => OPENS.test(text);

/** The statements of a text, apart from its questions. */
export type Statements = {
  /** Nothing: it only asks, or says that nothing is known. */
  onlyAsks: boolean;
  /** The telling stems of what it states; of all of it if it only asks. */
  stems: ReadonlySet<string>;
  /** The number of words of chatter in what it states, which may be a value: "The safe word is perfect". */
  chatter: number;
  /** All its telling words by their stems. */
  words: ReadonlyMap<string, string>;
};

/** The stem of a word that tells something, and the word as it is compared; or a word of chatter. */
type Word = { stem: string; plain: string } | { chatter: string };
/** The telling words of a text by their stems, and its words of chatter. */
type Words = { telling: Map<string, string>; chatter: Set<string> };

/** Reads texts that have many words in common: stems each word once. */
export class StatementReader {
  readonly #wordOf = memoized(wordOf);

  /**
   * The words of a text that tell something, each by its stem. Those about the conversation ("remind me, please") are left out.
   */
  tellingWords(text: string): Map<string, string> {
    return this.#wordsIn([text]).telling;
  }

  /** Reads the statements of a text that may answer a question with these stems. */
  statementsOf(text: string, role: string | null, questionStems: ReadonlySet<string>): Statements {
    const sentences = sentencesOf(text)
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
      .map((sentence) => ({ sentence, statement: statementIn(sentence, role) }));
    const stating = this.#wordsIn(sentences.flatMap(({ statement }) => statement ?? []));
    const asking = this.#wordsIn(
      sentences.flatMap(({ sentence, statement }) =>
        statement === null ? sentence.replace(EXCUSE, "") : [],
      ),
    );
    const [stems, asks] = [new Set(stating.telling.keys()), new Set(asking.telling.keys())];
    const inAsking = asks.intersection(questionStems).size;
    const inStating = stems.intersection(questionStems).size;
    // An assistant that denies to know the thing says nothing else with it.
    const denies = role === "assistant" && inAsking > 0 && inAsking >= inStating;
    const asksTheSame = inAsking >= SAME * Math.max(1, questionStems.size);
    const words = this.tellingWords(text);
    return stems.size === 0 || denies || (asksTheSame && inStating === 0)
      ? { onlyAsks: true, stems: denies ? new Set() : asks, chatter: 0, words }
      : { onlyAsks: false, stems, chatter: stating.chatter.size, words };
  }

  #wordsIn(texts: readonly string[]): Words {
    const words: Words = { telling: new Map(), chatter: new Set() };
    for (const word of texts.flatMap(wordsOf).map(this.#wordOf)) {
      if (word === null) continue;
      if ("stem" in word) words.telling.set(word.stem, word.plain);
      else words.chatter.add(word.chatter);
    }
    return words;
  }
}

function wordOf(word: string): Word | null {
  const whole = folded(word);
  const plain = whole.replace(/['’].*$/u, "");
  if (isTelling(plain) && !isAboutTalk(plain)) return { stem: stem(plain), plain };
  return isTelling(whole) && isFillerWord(whole) ? { chatter: whole } : null;
}

/** The part of a sentence that states something, or null. */
function statementIn(sentence: string, role: string | null): string | null {
  const plain = sentence.trim();
  const asks =
    QUESTION_MARK.test(plain) || OPENS.test(plain) || (ASKING.test(plain) && wordsOf(plain).length <= FEW);
  if (!asks) return role === "assistant" && deniesKnowledge(plain) ? null : plain;
  return (REASON.exec(plain) ?? (OPENS.test(plain) ? null : GROUND.exec(plain)))?.[0] ?? null;
}

const deniesKnowledge = (sentence: string): boolean =>
  DENIES.test(sentence) && KNOWING.test(sentence) && BETWEEN_THEM.test(sentence);
