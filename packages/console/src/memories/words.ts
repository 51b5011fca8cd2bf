import type { Memory } from "edgecairn";

/** A memory in a line. */
export const lineOf = ({ title, text }: Pick<Memory, "text"> & { title?: string | undefined }): string =>
  title === undefined ? text : `${title}: ${text}`;

/** Memories without a subject are listed under their kind. */
const UNNAMED: Readonly<Record<Memory["kind"], string>> = {
  fact: "Facts without a subject",
  episode: "Episodes",
  procedure: "Procedures",
  reflection: "Reflections",
};
export const EPISODES = UNNAMED.episode;
export const headingOf = ({ kind, subject }: Memory): string => (kind === "fact" && subject) || UNNAMED[kind];

/** Subjects come first, and then what has none, in the order above. */
export const placeOf = (heading: string): number => Object.values(UNNAMED).indexOf(heading);

const TRUSTS: Readonly<Record<Memory["trust"], string>> = {
  user: "the user",
  operator: "the application",
  model: "a model",
  tool: "a tool's result",
  import: "an import",
};

/** Who wrote a memory, in words. */
export function writerOf({ trust, writtenBy = {} }: Pick<Memory, "trust" | "writtenBy">): string {
  const { model, prompt, adapter, tokenId } = writtenBy;
  const by = [
    model !== undefined && `${model}${prompt === undefined ? "" : ` (${prompt})`}`,
    adapter !== undefined && `adapter ${adapter}`,
    tokenId !== undefined && `token ${tokenId}`,
  ].filter((one) => one !== false);
  return [TRUSTS[trust], ...by].join(", ");
}

/** Why a memory is in quarantine, in words (docs/reference/ingest.md#checks). */
const REASONS: Readonly<Record<string, string>> = {
  not_said_by_user: "No message of the user says it.",
  not_in_source: "Words, numbers or names of it are not in the cited messages.",
  not_own_words: "The user pasted, quoted or reported it, or gave it as a text to work on.",
  not_first_person: "The user does not say it about themselves.",
  not_about_user: "It is about somebody whom the user does not relate to themselves.",
  not_stated: "The user asks it, plans it, supposes it, or takes it back.",
  negated: "The user denies it.",
  predicate_not_in_source: "Nothing that the user says fits the predicate.",
  instruction: "It speaks to the memory or to an assistant.",
  secret: "It holds a password, a key, or the number of a card or an account.",
  too_long: "It has too many words for the sentences of the messages that it cites.",
  hidden_characters: "It holds invisible characters, or mixes scripts within a word.",
  malformed: "It is too long, or holds markup or a link.",
  unread_language: "It is in a language that the checks do not know.",
  conflicts_with_higher_trust: "It contradicts a memory that is trusted more.",
};
export const reasonText = (reason: string): string => REASONS[reason] ?? reason;
