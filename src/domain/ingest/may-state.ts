import { isSmallTalk } from "../context/small-talk.ts";
import { isBareQuestion } from "./checks/clause.ts";
import { type CheckedMessage, Conversation } from "./checks/conversation.ts";
import { questionBefore } from "./checks/subject.ts";
import { GAP } from "./own-words.ts";
import type { Window } from "./proposal.ts";

/**
 * False if the messages of a window state no fact that the checks would let pass, so that no model is asked for one: nobody but the
 * assistant wrote them, or users only made small talk or asked. An answer to the assistant's question may always state one: "Hope." is a name.
 */
export function mayState({ context, messages }: Window): boolean {
  const conversation = new Conversation([...context, ...messages]);
  return conversation
    .of(messages.map(({ seq }) => seq))
    .some((message) => message.source.role === "user" && saysSomething(message, conversation));
}

function saysSomething(message: CheckedMessage, conversation: Conversation): boolean {
  // A person may approve what is not in the user's own words.
  if (message.ownText().includes(GAP)) return true;
  const statements = message.sentences().filter((sentence) => !isBareQuestion(sentence));
  // "I'm Will." has the words of small talk, and a name.
  if (statements.some((sentence) => sentence.has("self") || sentence.has("whose"))) return true;
  if (statements.length > 0 && questionBefore(message, conversation) !== undefined) return true;
  return !isSmallTalk(message.ownText()) && statements.some(({ text }) => !isSmallTalk(text));
}
