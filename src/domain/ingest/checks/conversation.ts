import {
  type Cue,
  has,
  isRead,
  placesOf,
  read,
  readPart,
  type LanguageReading,
} from "../../language/cues.ts";
import { isIn } from "../../language/forms.ts";
import {
  contentStems,
  type Needed,
  type PlacedWord,
  placedWords,
  type Said,
  saidIn,
  says,
} from "../../memory/content-stems.ts";
import { GAP, ownWords, READ, sentencesOf } from "../own-words.ts";
import type { SourceMessage } from "../proposal.ts";
import { hidesSomething } from "./characters.ts";
import { withSpeaker } from "./check-speaker.ts";

/** Kinds of words that name nothing. */
const SMALL: readonly Cue[] = ["common", "self", "whose", "you", "others"];
/** Words between "that is" and a name. */
const POINTING = 2;
/** It is read backwards from the end alone: forwards, its work would grow with the square of a row of marks. */
const ASKING_END = /$(?<=[?？؟][!?！？…]*["'”’)\]]*)/u;

type Languages = LanguageReading["languages"];

/** A sentence of a message. Each of its parts is worked out once, however many proposals cite it. */
export class Sentence {
  readonly text: string;
  readonly #around: Languages;
  readonly #cues = new Map<Cue, boolean>();
  #isQuestion: boolean | undefined;
  #undoes: boolean | undefined;
  #reading: LanguageReading | undefined;
  #said: Said | undefined;
  #words: readonly PlacedWord[] | undefined;

  constructor(text: string, around: Languages) {
    this.text = text;
    this.#around = around;
  }

  get reading(): LanguageReading {
    return (this.#reading ??= read(this.text, this.#around));
  }

  says(needs: readonly Needed[]): boolean {
    return says((this.#said ??= saidIn(this.text)), needs);
  }

  get words(): readonly PlacedWord[] {
    return (this.#words ??= placedWords(this.text));
  }

  /** True if it has a word that says something in its language, and nothing in another: "MIT". */
  hasName(word: string): boolean {
    const name = readPart(word, this.reading);
    return name.said !== " " && this.reading.said.includes(name.said) && !SMALL.some((cue) => has(name, cue));
  }

  has(cue: Cue): boolean {
    const known = this.#cues.get(cue) ?? has(this.reading, cue);
    this.#cues.set(cue, known);
    return known;
  }

  get isQuestion(): boolean {
    return (this.#isQuestion ??=
      ASKING_END.test(this.text) || (this.text.endsWith(";") && isIn(["el"], this.reading)));
  }

  /** True if it takes back what stands before it, or says that this is a text, or about a name. */
  get undoes(): boolean {
    return (this.#undoes ??= this.#takesBack());
  }

  #takesBack(): boolean {
    // "Translate the following:" is about what follows.
    if (this.text.includes(GAP) || /[:：]$/u.test(this.text)) return false;
    if (this.has("undoes")) return true;
    const { said, names } = this.reading;
    const points = placesOf(this.reading, "points");
    // "That's our competitor's page."
    if (placesOf(this.reading, "texts").some((text) => points.some((place) => place < text))) return true;
    return (
      !this.isQuestion &&
      points.some((place) =>
        names.some((name) => name > place && said.slice(place, name).split(" ").length <= POINTING + 1),
      )
    );
  }
}

/** A message of the conversation that proposals cite. */
export class CheckedMessage {
  readonly source: SourceMessage;
  readonly at: number;
  readonly #before: CheckedMessage | undefined;
  #own: string | undefined;
  #reading: LanguageReading | undefined;
  #sentences: readonly Sentence[] | undefined;
  readonly #places = new Map<Cue, readonly number[]>();
  #undoing: readonly number[] | undefined;
  #hides: boolean | undefined;
  #stems: readonly string[] | undefined;
  #said: Said | undefined;

  /** `at`: its place in the window. */
  constructor(source: SourceMessage, at: number, before: CheckedMessage | undefined) {
    this.source = source;
    this.at = at;
    this.#before = before;
  }

  /** True if its characters read otherwise than they look. */
  get hides(): boolean {
    return (this.#hides ??= hidesSomething(this.source.text));
  }

  /** The text of an assistant, and the own words of a user. */
  get told(): string {
    const { role, text } = this.source;
    if (role === "user") return (this.#own ??= ownWords(text));
    return text.length <= 2 * READ ? text : `${text.slice(0, READ)}\n${text.slice(-READ)}`;
  }

  /** Its words. Without a word of a language, it is in that of the message before. */
  get reading(): LanguageReading {
    return (this.#reading ??= read(this.told, this.#around));
  }

  /** The languages that decide if its own words do not: those of the text that it hands over, or else of the message before. */
  get #around(): Languages {
    const before = this.#before?.reading.languages ?? [];
    if (!isRead(this.told)) return isRead(this.source.text) ? read(this.source.text).languages : before;
    return read(this.told).languages.some((one) => before.includes(one)) ? before : [];
  }

  get sentences(): readonly Sentence[] {
    return (this.#sentences ??= sentencesOf(this.told).map(
      (text) => new Sentence(text, this.reading.languages),
    ));
  }

  /** The places of the sentences that have a word of a kind. */
  placesOf(cue: Cue): readonly number[] {
    const known = this.#places.get(cue) ?? this.#thoseThat((one) => one.has(cue));
    this.#places.set(cue, known);
    return known;
  }

  /** The places of the sentences that take back what stands before them. */
  get undoing(): readonly number[] {
    return (this.#undoing ??= this.#thoseThat(({ undoes }) => undoes));
  }

  #thoseThat(isOne: (sentence: Sentence) => boolean): number[] {
    return this.sentences.flatMap((one, i) => (isOne(one) ? [i] : []));
  }

  /** The text as an episode tells it: with the name of a user who is not the owner. */
  get #voiced(): string {
    const { role, speaker, isOwner } = this.source;
    return (role === "user" ? withSpeaker(this.told, { speaker, isOwner }) : null) ?? this.told;
  }

  get stems(): readonly string[] {
    return (this.#stems ??= contentStems(this.#voiced));
  }

  get said(): Said {
    return (this.#said ??= saidIn(this.#voiced));
  }
}

/** The messages of a window. */
export class Conversation {
  readonly messages: readonly CheckedMessage[];

  constructor(window: readonly SourceMessage[]) {
    const messages: CheckedMessage[] = [];
    for (const [at, source] of window.entries())
      messages.push(new CheckedMessage(source, at, messages.at(-1)));
    this.messages = messages;
  }

  /** The messages with these seqs, in the order of the window. */
  of(seqs: readonly number[]): CheckedMessage[] {
    const asked = new Set(seqs);
    return this.messages.filter(({ source }) => asked.has(source.seq));
  }
}
