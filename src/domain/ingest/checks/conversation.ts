import {
  type Cue,
  has,
  isRead,
  placesOf,
  read,
  readPart,
  type LanguageReading,
} from "../../language/cues.ts";
import { hasForm } from "../../language/forms.ts";
import { memoized } from "../../memoized.ts";
import { contentStems, type Need, placedWords, says, sourceWords } from "../../memory/content-stems.ts";
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

/** Works something out at the first call. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** A sentence of a message. Each of its parts is worked out once, however many proposals cite it. */
export class Sentence {
  readonly text: string;
  readonly reading: () => LanguageReading;
  readonly words = once(() => placedWords(this.text));
  /** True if it takes back what stands before it, or says that this is a text, or about a name. */
  readonly undoes = once(() => this.#undoes());
  readonly isQuestion = once(
    () =>
      ASKING_END.test(this.text) || (this.text.endsWith(";") && hasForm("asksWithSemicolon", this.reading())),
  );
  /** True if it has a word of a kind. */
  readonly has = memoized((cue: Cue) => has(this.reading(), cue));
  readonly #sourceWords = once(() => sourceWords(this.text));

  /** `around`: the languages of the text around it. */
  constructor(text: string, around: Languages) {
    this.text = text;
    this.reading = once(() => read(text, around));
  }

  says(needs: readonly Need[]): boolean {
    return says(this.#sourceWords(), needs);
  }

  /** True if it has a word that says something in its language, and nothing in another: "MIT". */
  hasName(word: string): boolean {
    const reading = this.reading();
    const name = readPart(word, reading);
    return (
      name.wording !== " " && reading.wording.includes(name.wording) && !SMALL.some((cue) => has(name, cue))
    );
  }

  #undoes(): boolean {
    // "Translate the following:" is about what follows.
    if (this.text.includes(GAP) || /[:：]$/u.test(this.text)) return false;
    if (this.has("undoes")) return true;
    const { wording, names } = this.reading();
    const points = placesOf(this.reading(), "points");
    // "That's our competitor's page."
    if (placesOf(this.reading(), "texts").some((text) => points.some((place) => place < text))) return true;
    return (
      !this.isQuestion() &&
      points.some((place) =>
        names.some((name) => name > place && wording.slice(place, name).split(" ").length <= POINTING + 1),
      )
    );
  }
}

/** A message of the conversation that proposals cite. */
export class CheckedMessage {
  readonly source: SourceMessage;
  /** Its place in the window. */
  readonly at: number;
  /** True if its characters read otherwise than they look. */
  readonly hides = once(() => hidesSomething(this.source.text));
  /** The text of an assistant, and the own words of a user. */
  readonly ownText = once(() => {
    const { role, text } = this.source;
    if (role === "user") return ownWords(text);
    return text.length <= 2 * READ ? text : `${text.slice(0, READ)}\n${text.slice(-READ)}`;
  });
  /** Its words. Without a word of a language, it is in that of the message before. */
  readonly reading: () => LanguageReading;
  readonly sentences: () => readonly Sentence[] = once(() =>
    sentencesOf(this.ownText()).map((text) => new Sentence(text, this.reading().languages)),
  );
  /** The places of the sentences that have a word of a kind. */
  readonly placesOf = memoized((cue: Cue) => this.#thoseThat((one) => one.has(cue)));
  /** The places of the sentences that take back what stands before them. */
  readonly undoing = once(() => this.#thoseThat((one) => one.undoes()));
  readonly stems = once(() => contentStems(this.#voiced()));
  readonly sourceWords = once(() => sourceWords(this.#voiced()));

  constructor(source: SourceMessage, at: number, before: CheckedMessage | undefined) {
    this.source = source;
    this.at = at;
    this.reading = once(() => read(this.ownText(), this.#around(before?.reading().languages ?? [])));
  }

  /** The languages that decide if its own words do not: those of the text that it hands over, or else of the message before. */
  #around(before: Languages): Languages {
    const own = this.ownText();
    if (!isRead(own)) return isRead(this.source.text) ? read(this.source.text).languages : before;
    return read(own).languages.some((one) => before.includes(one)) ? before : [];
  }

  #thoseThat(isOne: (sentence: Sentence) => boolean): readonly number[] {
    return this.sentences().flatMap((one, i) => (isOne(one) ? [i] : []));
  }

  /** The text as an episode tells it: with the name of a user who is not the owner. */
  #voiced(): string {
    const { role, speaker, isOwner } = this.source;
    return (role === "user" ? withSpeaker(this.ownText(), { speaker, isOwner }) : null) ?? this.ownText();
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
    const cited = new Set(seqs);
    return this.messages.filter(({ source }) => cited.has(source.seq));
  }
}
