import { normalise } from "../../memory/normalise.ts";
import { mentions } from "../../ranking/question.ts";
import type { FactProposal, SourceMessage } from "../proposal.ts";

type Spoken = Pick<SourceMessage, "role" | "speaker" | "isOwner">;
/** A fact, and messages that may state it. */
type Voiced<T> = { fact: FactProposal; messages: T[] };

/** The owner of the memory as the subject of a fact, and who is theirs: "user", "user's sister". */
const USER = /^(?:the )?user(?:$|['’]s\b)/iu;
const OF = /['’]s?\s+/gu;

/**
 * The fact in the words of each writer who may state it, with their messages: of a fact about Bob, that is the fact about the user in
 * Bob's messages, whose "I" is Bob. A user who is not the owner of the memory states what is of themselves or theirs, and nothing
 * about the owner or anybody else. Empty if none of the messages may state it.
 */
export function voicesOf<T extends Spoken>(fact: FactProposal, messages: readonly T[]): Voiced<T>[] {
  const voices = new Map<string, Voiced<T>>();
  for (const message of messages) {
    const subject = message.role === "user" ? subjectIn(fact.subject.trim(), message) : null;
    if (subject === null) continue;
    const voice = voices.get(subject);
    if (voice === undefined) voices.set(subject, { fact: withSubject(fact, subject), messages: [message] });
    else voice.messages.push(message);
  }
  return [...voices.values()];
}

/** True if an episode or a procedure may tell what a message says. An episode has to name who else said it; a procedure is the owner's. */
export function mayTell(
  kind: "episode" | "procedure",
  text: string,
  { role, speaker, isOwner }: Spoken,
): boolean {
  if (role !== "user") return role === "assistant";
  return isOwner || (kind === "episode" && speaker !== null && mentions(text, speaker));
}

/** What a user says, with the name of one who is not the owner before it: their "I" is another. Null for one without a name. */
export const withSpeaker = (text: string, { speaker, isOwner }: Omit<Spoken, "role">): string | null =>
  isOwner ? text : speaker && `${speaker}: ${text}`;

/** The fact with "user" for each name of the owner's: "Ana lives in Porto" is about the same person as "I live in Porto". */
export function ofOwner(fact: FactProposal, names: readonly string[]): FactProposal {
  const subject = names.map((name) => ofUser(fact.subject, name)).find((own) => own !== null);
  return subject == null ? fact : withSubject(fact, subject);
}

/** "Bob's sister" as "user's sister", if the name is Bob; null if the subject is not of that name. */
export function ofUser(subject: string, name: string): string | null {
  const key = normalise(name);
  if (normalise(subject) === key) return "user";
  for (const { index, 0: mark } of subject.matchAll(OF))
    if (normalise(subject.slice(0, index)) === key) return `user's ${subject.slice(index + mark.length)}`;
  return null;
}

/** The subject as the writer of a message names it; null if they may not speak of it. */
function subjectIn(subject: string, { speaker, isOwner }: Spoken): string | null {
  // Somebody may call themselves "user".
  if (USER.test(subject)) return isOwner ? subject : null;
  const own = speaker === null ? null : ofUser(subject, speaker);
  return own ?? (isOwner ? subject : null);
}

function withSubject(fact: FactProposal, subject: string): FactProposal {
  const { subject: before, text } = fact;
  if (subject === before || text === undefined) return { ...fact, subject };
  const isFirst = text.startsWith(before.trim());
  return { ...fact, subject, text: isFirst ? subject + text.slice(before.trim().length) : text };
}
