import { anyOf, fieldsOf } from "../language/fields.ts";
import { ownWords, sentencesOf } from "./own-words.ts";
import type { FactProposal, SourceMessage } from "./proposal.ts";

/** Characters of a message that are looked through: the patterns stand in what people type, not in long texts. */
const READ = 4_000;
const STATEMENTS = fieldsOf("statements");
const END = String.raw`(?=\s+${anyOf(STATEMENTS.map(({ endsOfValue }) => endsOfValue))}\b|[,.!;:()…]|$)`;
const SMALL = anyOf(STATEMENTS.map(({ inPlaces }) => inPlaces));
/** What stands in a pattern for a name, a place and another value. */
const OBJECTS = {
  name: String.raw`(\p{Lu}[\p{L}'’-]*(?:\s\p{Lu}[\p{L}'’-]*){0,2})`,
  place: String.raw`(\p{Lu}[\p{L}.'’-]*(?:\s${SMALL}?\s?\p{Lu}[\p{L}.'’-]*){0,3})`,
  value: String.raw`([\p{L}\p{N}][^,.!;:()…]{0,60}?)${END}`,
};

const PATTERNS = STATEMENTS.flatMap(({ patterns }) => patterns).map(({ says, ...rest }) => ({
  ...rest,
  says: new RegExp(
    Object.entries(OBJECTS).reduce(
      (source, [name, part]) => source.replaceAll(`<${name}>`, () => part),
      says,
    ),
    "u",
  ),
}));

/**
 * Facts that owners state in a few patterns ("I live in …", "my sister …"). They are candidates for the checks: a pattern does not
 * understand what it matches.
 */
export function candidatesIn(messages: readonly SourceMessage[]): FactProposal[] {
  return messages.flatMap(({ seq, role, speaker, isOwner, text }) => {
    // Nobody knows who "I" is in the message of another user without a name.
    const subject = isOwner ? "user" : speaker;
    if (role !== "user" || subject === null) return [];
    const facts = sentencesOf(ownWords(text.slice(0, READ))).flatMap((sentence) => {
      const claim = claimIn(sentence);
      return claim === null ? [] : [{ subject, ...claim, sources: [seq] }];
    });
    return [...new Map(facts.map((fact) => [`${fact.predicate}\n${fact.object}`, fact])).values()];
  });
}

/** The claim of the first pattern that matches: the most exact one. */
function claimIn(sentence: string): Omit<FactProposal, "subject" | "sources"> | null {
  for (const { says, predicate, ...doubt } of PATTERNS) {
    const match = says.exec(sentence);
    const object = match
      ?.at(-1)
      ?.trim()
      .replace(/[\s.,'’-]+$/u, "");
    if (match === null || object === undefined || object === "") continue;
    return {
      predicate: predicate.replace("<noun>", () => match[1]?.toLowerCase() ?? ""),
      object,
      ...doubt,
    };
  }
  return null;
}
