import { contentStems, needsOf } from "../../memory/content-stems.ts";
import type { FactProposal, SourceMessage } from "../proposal.ts";
import type { Conversation, CheckedMessage, Sentence } from "./conversation.ts";
import { nameIn, questionBefore } from "./subject.ts";

/** A sentence of a message, and where the object of a fact begins in it. */
export type SentencePlace = { message: CheckedMessage; sentence: Sentence; i: number; from: number };
/**
 * What states a fact. `text`: its sentence as the message has it, with what others wrote in it, and from the sentence on that names the
 * subject. `question`: the assistant's, if the sentence does not say all itself.
 */
export type Stated = { message: SourceMessage; text: string; question: string | null };

export function statedAt(fact: FactProposal, place: SentencePlace, conversation: Conversation): Stated {
  const { message, sentence, i } = place;
  const name = nameIn(fact.subject);
  const from =
    name === null ? i : message.sentences().findLastIndex((one, at) => at <= i && one.says(needsOf(name)));
  const isSpeaker = sentence.has("self") || sentence.has("whose");
  const words = new Set(contentStems(sentence.text));
  const isWhole =
    (name === null ? isSpeaker : from >= 0) && contentStems(fact.predicate).every((word) => words.has(word));
  return {
    message: message.source,
    text: verbatim(message, from < 0 ? i : from, i),
    question: isWhole ? null : (questionBefore(message, conversation)?.text ?? null),
  };
}

/** The sentences from one to another, as the message has them: its own words keep their places. */
function verbatim({ ownText, sentences, source }: CheckedMessage, from: number, to: number): string {
  let [start, end] = [0, 0];
  for (const [i, { text }] of sentences()
    .slice(0, to + 1)
    .entries()) {
    const at = ownText().indexOf(text, end);
    if (i <= from) start = at;
    end = at + text.length;
  }
  return source.text.slice(start, end);
}
