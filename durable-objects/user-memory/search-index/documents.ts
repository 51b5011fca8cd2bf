import type { Validity } from "../../../src/domain/ranking/named-time.ts";
import type { Instructions } from "../../../src/domain/context/instructions.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import { isMessage } from "../core/position.ts";
import type { SqlPart } from "../../storage/sql.ts";

/** The fields of a message's document besides its text. */
export type MessageRecord = {
  role: string;
  name?: string;
  /** The text is only the beginning of what was said. */
  cut?: true;
};

/** A memory's version or a message, as recall searches and shows it. */
export type Document = {
  n: number;
  kind: RecallKind;
  /** The text that is embedded. */
  text: string;
  /** A query without words gets the documents that changed last. */
  createdAt: number;
  /** 0 to 1; null if the caller of a memory gave none. */
  importance: number | null;
  /** The fields of a message. */
  message?: MessageRecord;
  /** The passages with instructions or preferences of the user. */
  standing?: Instructions["passages"];
  /** Of a fact of which one version is true at a time, and of a memory that ends. */
  validity?: Validity | undefined;
};

export type DocumentOfMessage = Document & { message: MessageRecord };

/** The message's own text: the index puts the speaker's name before it. */
export const withoutSpeaker = (text: string, { name }: Pick<MessageRecord, "name"> = {}): string =>
  name !== undefined && text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;

export const isOfMessage = (document: Document): document is DocumentOfMessage =>
  document.message !== undefined;

/** Where the texts are stored: the index refers to them, and keeps none. */
export type DocumentSource = {
  /** Returns the documents that exist, in no order. */
  documents(numbers: readonly number[]): Document[];
  /** Returns the newest documents from `from` up to, not including, `to`. */
  inTime(time: { from: number; to: number }, limit: number): number[];
  /** The documents that meet a condition over the columns of the source, the newest first. */
  newest(condition: SqlPart, limit: number, offset: number): Document[];
};
/** A condition on the documents of each source. */
export type DocumentConditions = { memories: SqlPart; messages: SqlPart };

/** Documents that are read at once, where all of them are needed. */
const SLICE = 100;

/** Reads the documents of a user: the versions of memories, and messages. */
export class Documents {
  readonly #memories: DocumentSource;
  readonly #messages: DocumentSource;

  constructor({ memories, messages }: { memories: DocumentSource; messages: DocumentSource }) {
    this.#memories = memories;
    this.#messages = messages;
  }

  /** Returns the documents that exist, in no order. */
  read(numbers: readonly number[]): Document[] {
    const [messages, memories] = [numbers.filter(isMessage), numbers.filter((n) => !isMessage(n))];
    return [
      ...(memories.length === 0 ? [] : this.#memories.documents(memories)),
      ...(messages.length === 0 ? [] : this.#messages.documents(messages)),
    ];
  }

  /** Reads texts in order, until their sum reaches `characters`. Includes the text that reaches it. */
  texts(numbers: readonly number[], characters: number): { n: number; text: string }[] {
    const texts: { n: number; text: string }[] = [];
    let left = characters;
    for (let start = 0; start < numbers.length && left > 0; start += SLICE)
      for (const { n, text } of this.read(numbers.slice(start, start + SLICE)).toSorted(
        (a, b) => a.n - b.n,
      )) {
        if (left <= 0) break;
        left -= text.length;
        texts.push({ n, text });
      }
    return texts;
  }

  /** Returns the newest documents from `from` up to, not including, `to`: up to `limit` of each source. */
  inTime(time: { from: number; to: number }, limit: number): number[] {
    return [...this.#memories.inTime(time, limit), ...this.#messages.inTime(time, limit)];
  }

  /** The documents that meet a condition, the newest first, read `slice` at a time. */
  *newest({ memories, messages }: DocumentConditions, slice: number): Generator<Document> {
    const sources = [pages(this.#memories, memories, slice), pages(this.#messages, messages, slice)];
    const next = sources.map((source) => source.next().value);
    for (;;) {
      const [first] = next.filter((one) => one !== undefined).toSorted(newerFirst);
      if (first === undefined) return;
      yield first;
      const from = next.indexOf(first);
      next[from] = sources[from]?.next().value;
    }
  }
}

function* pages(source: DocumentSource, condition: SqlPart, slice: number): Generator<Document, undefined> {
  for (let offset = 0; ; offset += slice) {
    const page = source.newest(condition, slice, offset);
    yield* page;
    if (page.length < slice) return;
  }
}

const newerFirst = (a: Document, b: Document): number => b.createdAt - a.createdAt || b.n - a.n;
