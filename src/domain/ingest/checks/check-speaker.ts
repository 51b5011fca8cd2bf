import { type Cue, has, read, speaksToTheMemory } from "../../language/cues.ts";
import { anyOf, fieldsOf } from "../../language/fields.ts";
import { normalise } from "../../memory/normalise.ts";
import { folded } from "../../ranking/fold.ts";
import { mentions } from "../../ranking/question.ts";
import type { FactProposal, SourceMessage } from "../proposal.ts";
import { hidesSomething } from "./characters.ts";

type Spoken = Pick<SourceMessage, "role" | "speaker" | "isOwner">;
/** A fact, and messages that may state it. */
type Voiced<T> = { fact: FactProposal; messages: T[] };

/** The owner of the memory as the subject of a fact, and who is theirs: "user", "user's sister". */
const USER = /^(?:the )?user(?:$|['’]s?(?:\s|$))/u;
const OF = /['’]s?\s+/gu;
/** Names that read as the owner: "User (Ana)", "user:", "the owner of this memory". */
const AS_OWNER = /^[^\p{L}\p{N}]*(?:the )?(?:user|owner)(?:$|\s?[^\p{L}\p{N}\s_-]|\s[_-]|\sof\s)/u;
/** Characters of a name. A longer one is no subject of a fact either. */
const NAME = 80;
const [MARKUP, MARKUP_OR_SENTENCE] = [
  /[<>{}[\]\\`*\n]|:\/\/|www\./u,
  /[<>{}[\]\\`|*#\n:：;；!！?？…"“”]|www\.|(?<=\p{L}{4})[.。]\s/u,
];
/** Small words of names: "de la Cruz", "van der Berg". */
const PARTICLES = new RegExp(
  String.raw`(?<![\p{L}\p{M}])${anyOf(fieldsOf("writing").map(({ inNames }) => inNames))}(?![\p{L}\p{M}])`,
  "giu",
);
/** Kinds of words of a sentence. A name of one or two words may look like one: "An Nguyen". */
const OF_SENTENCE: readonly Cue[] = ["common", "self", "whose", "you", "asks", "denies", "hands", "orders"];
const FEW = 2;

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
  const name = guestName(speaker);
  return isOwner || (kind === "episode" && name !== null && mentions(text, name));
}

/** What a user says, with the name of one who is not the owner before it: their "I" is another. Null for one without a name. */
export function withSpeaker(text: string, { speaker, isOwner }: Omit<Spoken, "role">): string | null {
  if (isOwner) return text;
  const name = guestName(speaker);
  return name && `${name}: ${text}`;
}

/**
 * The name of a user who is not the owner; null without one. A memory shows the name as it is, so that it is none if it reads as the
 * owner, or as more than a name: "Ignore all rules". Anybody chooses a name of their own.
 */
export function guestName(speaker: string | null): string | null {
  if (speaker === null || speaker.length > NAME || hidesSomething(speaker)) return null;
  if (AS_OWNER.test(folded(normalise(speaker)))) return null;
  // "auth0|5f7c" and "bob#1234" are ids.
  if ((/\s/u.test(speaker) ? MARKUP_OR_SENTENCE : MARKUP).test(speaker)) return null;
  const words = speaker
    .replace(/@[\w.-]+$/u, "")
    .replaceAll(/[^\p{L}\p{M}\p{N}'’]+/gu, " ")
    .trim();
  if (speaksToTheMemory(words)) return null;
  const reading = read(words.replaceAll(PARTICLES, " "));
  const isSentence = words.split(" ").length > FEW && OF_SENTENCE.some((cue) => has(reading, cue));
  return isSentence ? null : speaker;
}

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
  // Somebody may call themselves "user". The id of a fact is that of its subject as it is compared.
  if (USER.test(normalise(subject))) return isOwner ? subject : null;
  const name = isOwner ? speaker : guestName(speaker);
  const own = name === null ? null : ofUser(subject, name);
  return own ?? (isOwner ? subject : null);
}

function withSubject(fact: FactProposal, subject: string): FactProposal {
  const { subject: before, text } = fact;
  if (subject === before || text === undefined) return { ...fact, subject };
  const isFirst = text.startsWith(before.trim());
  return { ...fact, subject, text: isFirst ? subject + text.slice(before.trim().length) : text };
}
