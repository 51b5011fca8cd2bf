/** Why a proposal does not become a live memory: the code, and what it means. */
export const reasons = {
  malformed: "The subject, the predicate or the object is too long, or holds markup.",
  too_long: "It has too many words for the sentences of the messages that it cites.",
  hidden_characters: "The proposal or its source holds invisible characters, or mixes scripts within a word.",
  secret: "It holds a password, a key, or the number of a card or an account.",
  instruction: "It speaks to the memory or to an assistant, and not about the user's life.",
  unread_language: "It is in a language of whose words the checks have no record.",
  not_said_by_user: "No message of the user says it: an assistant, a tool or a system message does.",
  not_in_source: "Words, numbers or names of it do not occur in the messages that it cites.",
  not_own_words: "The user pasted, quoted or reported it, or gave it as a text to work on.",
  not_first_person: "The user does not say it about themselves.",
  not_stated:
    "The user asks it, plans it, doubts it, says it in a scene, as a hypothesis or of the past, or takes it back.",
  negated: "The user denies it, or it denies what the user or the sources say.",
  predicate_not_in_source: "The message has no word for what the predicate says.",
  not_about_user:
    "It is about somebody whom the user does not relate to themselves, or somebody else says it of the user.",
} as const;
export type Reason = keyof typeof reasons;
