import { contentStems, type needsOf, type Said, saidIn, says, wordsOf } from "../../memory/content-stems.ts";
import { ownWords, sentencesOf } from "../own-words.ts";
import type { SourceMessage } from "../proposal.ts";
import { classify, type Sentence } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import { type ClauseWords, clauseWordsOf } from "./clauses.ts";

/** Characters at each end of a message that are compared with a proposal. What is between them shows nothing. */
const COMPARED = 12_000;
/** Words of an answer to a question that need no subject: "Porto." */
const ANSWER_WORDS = 12;
/** Characters at the end of a message that may be a question. */
const QUESTION = 2_400;

/** The words of a text that a source has to say. */
export type Needs = ReturnType<typeof needsOf>;

/** A sentence of the user. `question`: what the assistant asked before, if it may be an answer. */
export type Statement = Sentence & {
  seq: number;
  question: string | null;
  before: string;
  says: (needs: Needs) => boolean;
};

/** A message that proposals cite. Each of its parts is worked out once, however many of them do. */
export class CitedMessage {
  readonly seq: number;
  readonly role: string;
  readonly speaker: string | null;
  readonly isOwner: boolean;
  readonly #text: string;
  readonly #before: SourceMessage | undefined;
  #said: Said | undefined;
  #saidItself: Said | undefined;
  #own: string | undefined;
  #stems: readonly string[] | undefined;
  #clauses: readonly ClauseWords[] | undefined;
  #statements: readonly Statement[] | undefined;
  #hides: boolean | undefined;

  constructor(message: SourceMessage, before: SourceMessage | undefined) {
    this.seq = message.seq;
    this.role = message.role;
    this.speaker = message.speaker;
    this.isOwner = message.isOwner;
    this.#text = message.text;
    this.#before = before;
  }

  /** True if its characters read otherwise than they look. */
  get hides(): boolean {
    return (this.#hides ??= hidesSomething(this.#text));
  }

  /** The text that is compared. */
  get text(): string {
    const text = this.#text;
    if (text.length <= 2 * COMPARED) return text;
    return `${text.slice(0, COMPARED)}\n${text.slice(-COMPARED)}`;
  }

  /** The part that its user did not paste or quote. */
  get own(): string {
    return (this.#own ??= ownWords(this.#text));
  }

  /** The text of an assistant, and the own words of a user, behind the user's name: a proposal may name who said it. */
  get told(): string {
    if (this.role !== "user") return this.text;
    return this.speaker === null || this.own === "" ? this.own : `${this.speaker}: ${this.own}`;
  }

  /** The stems of the words told that say something. */
  get stems(): readonly string[] {
    return (this.#stems ??= contentStems(this.told));
  }

  /** The clauses told. */
  get clauses(): readonly ClauseWords[] {
    return (this.#clauses ??= clauseWordsOf(this.told));
  }

  /** All words told. */
  get saidItself(): Said {
    return (this.#saidItself ??= saidIn(this.told));
  }

  says(needs: Needs): boolean {
    return says((this.#said ??= saidIn(this.text)), needs);
  }

  /** The sentences in the user's own words. */
  get statements(): readonly Statement[] {
    return (this.#statements ??= this.#read());
  }

  #read(): Statement[] {
    const sentences = sentencesOf(this.own);
    const question = this.#isAnswer(sentences.length)
      ? (sentencesOf(this.#before?.text.slice(-QUESTION) ?? "").at(-1) ?? null)
      : null;
    return sentences.map((sentence, i) => ({
      ...classify(sentence),
      seq: this.seq,
      question,
      before: sentences[i - 1] ?? "",
      says: saying(sentence),
    }));
  }

  #isAnswer(sentences: number): boolean {
    const before = this.#before;
    return (
      before?.role === "assistant" &&
      /[?？]\s*$/u.test(before.text.slice(-QUESTION).trim()) &&
      this.own.trim() === this.#text.trim() &&
      sentences <= 2 &&
      wordsOf(this.own).length <= ANSWER_WORDS
    );
  }
}

function saying(sentence: string): Statement["says"] {
  let said: Said | undefined;
  return (needs) => says((said ??= saidIn(sentence)), needs);
}

/** The messages of a window as proposals cite them. */
export class CitedMessages {
  readonly #window: readonly SourceMessage[];
  readonly #cited = new Map<number, CitedMessage>();

  constructor(window: readonly SourceMessage[]) {
    this.#window = window;
  }

  /** The messages with these seqs, in the order of the window. */
  of(seqs: readonly number[]): CitedMessage[] {
    const asked = new Set(seqs);
    return this.#window.flatMap((message, i) => {
      if (!asked.has(message.seq)) return [];
      const known = this.#cited.get(message.seq);
      if (known !== undefined) return [known];
      const cited = new CitedMessage(message, this.#window[i - 1]);
      this.#cited.set(message.seq, cited);
      return [cited];
    });
  }
}
