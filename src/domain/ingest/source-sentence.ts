import { contentStems, wordsOf } from "../memory/content-stems.ts";
import { sentencesOf } from "./own-words.ts";
import type { FactProposal, SourceMessage } from "./proposal.ts";

/** The sentence in which the checks found a fact, its message, and the message before that. */
export type Source = { text: string; message: SourceMessage; before: SourceMessage | null };
/** The same as a model is shown it. `saidBy`: who wrote it. `question`: what the assistant asked, if the sentence may answer it. */
export type SourceSentence = { text: string; saidBy: string; question?: string };

/** Characters at the end of a message that may be a question, and words of an answer that says nothing by itself. */
const [QUESTION, ANSWER_WORDS] = [300, 12];

/** The sentence of a fact, with all that is needed to understand it. */
export function sourceSentence(
  { predicate }: FactProposal,
  { text, message, before }: Source,
): SourceSentence {
  const said = new Set(contentStems(text));
  const question = contentStems(predicate).every((word) => said.has(word)) ? null : questionIn(before, text);
  return { text, saidBy: nameOf(message), ...(question !== null && { question }) };
}

/** The assistant's question that a short sentence may answer; null without one. */
function questionIn(before: SourceMessage | null, answer: string): string | null {
  if (before?.role !== "assistant" || wordsOf(answer).length > ANSWER_WORDS) return null;
  const last = sentencesOf(before.text.slice(-QUESTION)).at(-1) ?? "";
  return /[?？]$/u.test(last) ? last : null;
}

const nameOf = ({ speaker, isOwner }: SourceMessage): string =>
  isOwner ? (speaker === null ? "the user" : `the user (${speaker})`) : (speaker ?? "somebody else");
