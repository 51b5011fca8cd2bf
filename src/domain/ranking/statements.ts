import { stem, wordsOf } from "../memory/content-stems.ts";
import { isAboutTalk, isFillerWord } from "./courtesy.ts";
import { folded } from "./fold.ts";
import { isTelling } from "./question.ts";
import { sentencesOf } from "./sentences.ts";

const QUESTION_MARK = /[?？؟]["'”’)\]]*$/;
/** Words that open a question, or a request that is put as one. English. */
const OPENS =
  /^(?:(?:and|so|but|or|ok|okay|also|hey|hi|hello|well|now|then|please|sorry|actually|again|by the way|quick question)[,: ]+)*(?:what(?:'s|s)?|where(?:'s|s)?|when (?:is|are|was|were|do|does|did|can|could|will|would|should|has|have)|who(?:'s|s|m|se)?|which|why|how|(?:is|are|am|was|were|do|does|did|can|could|would|will|should|shall|have|has|had|may|might) (?:i|you|he|she|it|we|they|there|this|that|these|those|the|an?|my|your|our|his|her|their|any\w*|some\w*)|any|remind me|tell me|show me|give me|let me|need|(?:still )?looking|one moment|i(?:'ll| will) (?:check|look)|i (?:was |am |still )?(?:need|looking|wonder|forg[eo]t|want to know|(?:can't|cannot|can never|don't|never) (?:decide|find|know|recall|remember)))\b/i;
/** A text of a few words asks with one of these at its end or behind a pause: "gala - what to wear", "gate code pls". */
const ASKING =
  /\b(?:what|where|when|who|whose|which|why|how|please|pls|anyone|again)\P{L}*$|(?:[,:–—]| -)\s*(?:what|where|when|who|whose|which|why|how)\b/iu;
/** The most words of such a text. */
const FEW = 10;
/** An assistant says that it knows nothing: "I have no information about …", "there is no … in what you told me". */
const DENIES =
  /\b(?:no|not|never|cannot|unable|nothing|any)\b|\b(?:don|can|couldn|didn|haven|isn|doesn)['’]t\b/i;
/** Words about knowing and telling: a denial with one, between the two, is about the conversation. */
const KNOWING =
  /\b(?:know|information|details?|find|found|see|sure|idea|told|tell|mention\w*|record|say|said|have|asked)\b/i;
const BETWEEN_THEM = /\b(?:i|you|there)\b/i;
/** The part of a question that states something: "…, since she can't have nuts", "My sister is coeliac, what …?". */
const REASON =
  /(?<=.{8})(?<=[\s,;(–—-])(?:since|because|given that|now that|considering|she's|he's|they're)\b.*$/i;
/** The part of one that says why the speaker asks: "…, I'm standing outside". */
const EXCUSE = /[,;–—-]\s*(?:i'm|i am|i've|i have|we're|we are|we've|we have)\b.*$/i;
const GROUND =
  /^.{4,}?\b(?:am|is|are|was|were|has|have|had|can't|cannot|needs?|wants?|likes?|lives?|works?)\b.*?(?=[,;]\s*(?:so |and |but )?(?:what|which|where|who|when|how|why|can|could|should|do|does|is|are)\b)/i;

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

/** The stem of a word, and the word as it is compared, if it tells something; else the word of chatter that it is, or null. */
type Read = { stem: string; plain: string } | { chatter: string } | null;
/** The telling words of a text by their stems, and its words of chatter. */
type Words = { telling: Map<string, string>; chatter: ReadonlySet<string> };
const NO_CHATTER: ReadonlySet<string> = new Set();

/** Reads texts that have many words in common: stems each word once. */
export class StatementReader {
  readonly #known = new Map<string, Read>();

  /**
   * The words of a text that tell something, each by its stem. Those about the conversation ("remind me, please") are left out.
   */
  tellingWords(text: string): Map<string, string> {
    return this.#wordsIn(text).telling;
  }

  /** Reads the statements of a text that may answer a question with these stems. */
  statementsOf(text: string, role: string | null, questionStems: ReadonlySet<string>): Statements {
    const sentences = sentencesOf(text)
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
      .map((sentence) => ({ sentence, words: this.#wordsIn(sentence), stated: statedIn(sentence, role) }));
    const words = new Map<string, string>();
    for (const one of sentences) for (const [key, word] of one.words.telling) words.set(key, word);
    const stated = sentences.flatMap(({ sentence, words: all, stated: part }) =>
      part === null ? [] : part === sentence.trim() ? [all] : [this.#wordsIn(part)],
    );
    const stems = new Set(stated.flatMap(({ telling }) => [...telling.keys()]));
    const asking = sentences.flatMap(({ sentence, words: all, stated: part }) =>
      part !== null ? [] : EXCUSE.test(sentence) ? [this.#wordsIn(sentence.replace(EXCUSE, ""))] : [all],
    );
    const asks = new Set(asking.flatMap(({ telling }) => [...telling.keys()]));
    const inAsking = matching(asks, questionStems);
    // An assistant that denies to know the thing says nothing else with it.
    const denies = role === "assistant" && inAsking > 0 && inAsking >= matching(stems, questionStems);
    const asksTheSame = inAsking >= SAME * Math.max(1, questionStems.size);
    return stems.size === 0 || denies || (asksTheSame && matching(stems, questionStems) === 0)
      ? { onlyAsks: true, stems: denies ? new Set() : asks, chatter: 0, words }
      : {
          onlyAsks: false,
          stems,
          chatter: new Set(stated.flatMap(({ chatter }) => [...chatter])).size,
          words,
        };
  }

  #wordsIn(text: string): Words {
    const telling = new Map<string, string>();
    let chatter: Set<string> | undefined;
    for (const word of wordsOf(text)) {
      const read = this.#read(word);
      if (read === null) continue;
      if ("stem" in read) telling.set(read.stem, read.plain);
      else (chatter ??= new Set()).add(read.chatter);
    }
    return { telling, chatter: chatter ?? NO_CHATTER };
  }

  #read(word: string): Read {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const whole = folded(word);
    const plain = whole.replace(/['’].*$/u, "");
    const read =
      isTelling(plain) && !isAboutTalk(plain)
        ? { stem: stem(plain), plain }
        : isTelling(whole) && isFillerWord(whole)
          ? { chatter: whole }
          : null;
    this.#known.set(word, read);
    return read;
  }
}

const matching = (stems: ReadonlySet<string>, questionStems: ReadonlySet<string>): number =>
  [...questionStems].filter((one) => stems.has(one)).length;

/** The part of a sentence that states something, or null. */
function statedIn(sentence: string, role: string | null): string | null {
  const plain = sentence.trim();
  const asks =
    QUESTION_MARK.test(plain) || OPENS.test(plain) || (ASKING.test(plain) && wordsOf(plain).length <= FEW);
  if (!asks) return role === "assistant" && deniesKnowledge(plain) ? null : plain;
  return (REASON.exec(plain) ?? (OPENS.test(plain) ? null : GROUND.exec(plain)))?.[0] ?? null;
}

const deniesKnowledge = (sentence: string): boolean =>
  DENIES.test(sentence) && KNOWING.test(sentence) && BETWEEN_THEM.test(sentence);
