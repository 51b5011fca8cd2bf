import { contentStems, needsOf, type Said, saidIn, says, wordsOf } from "../memory/content-stems.ts";
import { voicesOf } from "./checks/check-speaker.ts";
import { ownWords, sentencesOf } from "./own-words.ts";
import type { FactProposal, SourceMessage } from "./proposal.ts";

/** The sentence that states a fact. `saidBy`: who wrote it. `question`: what the assistant asked, if the sentence answers it. */
export type SourceSentence = { text: string; saidBy: string; question?: string };

/** Characters at the end of a message that may be a question, and words of an answer that says nothing by itself. */
const [QUESTION, ANSWER_WORDS] = [300, 12];

/**
 * Finds the sentence of the cited messages that a fact comes from, which passed the checks: that with its object and the most words of
 * its predicate; null if none has the object. Each message of the window is read once.
 */
export function sentencesOfFacts(
  window: readonly SourceMessage[],
): (fact: FactProposal) => SourceSentence | null {
  const read = new Map<SourceMessage, { text: string; said: Said }[]>();
  const sentencesIn = (message: SourceMessage) => {
    const known = read.get(message);
    if (known !== undefined) return known;
    const sentences = sentencesOf(ownWords(message.text)).map((text) => ({ text, said: saidIn(text) }));
    read.set(message, sentences);
    return sentences;
  };
  return (fact) => {
    const cited = window.filter(({ seq }) => fact.sources.includes(seq));
    const named = needsOf(fact.object);
    const words = contentStems(fact.predicate);
    const found = voicesOf(fact, cited)
      .flatMap(({ messages }) => messages)
      .flatMap((message) => sentencesIn(message).map((sentence) => ({ message, ...sentence })))
      .filter(({ said }) => says(said, named))
      .map((one) => ({ ...one, words: words.filter((word) => one.said.stems.has(word)).length }));
    const [best] = found.toSorted((a, b) => b.words - a.words);
    if (best === undefined) return null;
    const { message, text } = best;
    const before = best.words < words.length ? window[window.indexOf(message) - 1] : undefined;
    const question = questionIn(before, text);
    return { text, saidBy: nameOf(message), ...(question !== null && { question }) };
  };
}

/** The assistant's question that a short sentence may answer; null without one. */
function questionIn(before: SourceMessage | undefined, answer: string): string | null {
  if (before?.role !== "assistant" || wordsOf(answer).length > ANSWER_WORDS) return null;
  const last = sentencesOf(before.text.slice(-QUESTION)).at(-1) ?? "";
  return /[?？]$/u.test(last) ? last : null;
}

const nameOf = ({ speaker, isOwner }: SourceMessage): string =>
  isOwner ? (speaker === null ? "the user" : `the user (${speaker})`) : (speaker ?? "somebody else");
