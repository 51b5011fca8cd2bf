import { partOf, rowsOf, wholeWords, wordsOf } from "../language/recall-words.ts";
import { stem, wordsOf as wordsIn } from "../memory/content-stems.ts";
import { isOfTime } from "./answer-type.ts";
import { folded } from "./fold.ts";
import type { PoolMember } from "./pool.ts";
import { isTelling, mentions } from "./question.ts";

/** Words before a thing that say whose it is, and the next two words. */
const OWNED = new RegExp(
  String.raw`(?<![\p{L}'’])(${partOf("owners")})(?=\s+(\p{L}[\p{L}\-]*)(?:\s+(\p{L}[\p{L}\-]*))?)`,
  "giu",
);
const VERB = new RegExp(`^${partOf("notOwners")}$`, "iu");
const [PRONOUNS, OWN] = [wordsOf("ownerPronouns"), wordsOf("ownOwners")];
/** A pronoun refers to somebody; "our" in a question may mean a company or a family. */
const NO_OWNERS_IN_QUESTION = PRONOUNS.union(wordsOf("sharedOwners"));
const NOBODY: ReadonlySet<string> = new Set();
const [THE_USER, THE_USERS] = [wholeWords("theUser"), new RegExp(wholeWords("theUsers"), "giu")];
const [MY = ""] = wordsOf("my");

const RELATIVES = rowsOf("relatives");
const RELATIVE = String.raw`\b(${[...wordsOf("relatives")].join("|")})${partOf("relativeEnds")}?\b`;
const EACH_RELATIVE = new RegExp(RELATIVE, "giu");
const BEGINS_WITH_RELATIVE = new RegExp(
  String.raw`^${partOf("ownOfRelative")}\s+(?:\w+\s+)?${RELATIVE}`,
  "iu",
);

/** The relatives that a question names, in lower case. */
export const relativesIn = (question: string): string[] =>
  Array.from(question.matchAll(EACH_RELATIVE), ([, word = ""]) => word.toLowerCase());

/** The relative of the speaker whom a statement is about; null if it does not begin with one. */
export const relativeIn = (text: string): string | null =>
  BEGINS_WITH_RELATIVE.exec(text)?.[1]?.toLowerCase() ?? null;

export const mayBeSame = (a: string, b: string): boolean =>
  RELATIVES.some((words) => words.includes(a) && words.includes(b));

/**
 * A thing as it is owned: "my dog's name", "Ann's new phone". `owner`: null for the speaker; `isName`: it has a capital. `things`:
 * stems, the nearest first.
 */
type Owned = { owner: string | null; isName: boolean; things: readonly string[] };

/** The owned things of a text; none of an owner among `but`. */
const ownedIn = (text: string, but: ReadonlySet<string> = NOBODY): Owned[] =>
  [...text.matchAll(OWNED)].flatMap(([, word = "", ...after]) => {
    const owner = folded(word).replace(/['’]s$|(?<=s)['’]$/u, "");
    if (VERB.test(word) || isOfTime(owner) || but.has(owner)) return [];
    // The second word is undefined at the end of a sentence.
    const things = after.filter((one) => one !== undefined && isTelling(folded(one)));
    return [
      {
        owner: OWN.has(owner) ? null : owner,
        isName: /^\p{Lu}/u.test(word),
        things: things.map((one) => stem(folded(one))),
      },
    ];
  });

/** The owners in a text by their things. */
function byThing(text: string): ReadonlyMap<string, readonly Owned[]> {
  const entries = ownedIn(text).flatMap((owned) =>
    [...new Set(owned.things)].map((thing) => ({ thing, owned })),
  );
  return new Map(
    Array.from(
      Map.groupBy(entries, ({ thing }) => thing),
      ([thing, some]) => [thing, some.map(({ owned }) => owned)],
    ),
  );
}

/**
 * Tells of a text if it says something of a thing in question, and only of somebody else's: "his dog" is not "my dog". The question is
 * read once.
 */
export function ownerTest(question: string): (one: PoolMember, text: string) => boolean {
  const owned = ownedIn(question, NO_OWNERS_IN_QUESTION);
  // A long question may say one thing many times.
  const things = [...new Map(owned.map((one) => [`${one.owner} ${one.things.join(" ")}`, one])).values()];
  if (things.length === 0) return () => false;
  return (one, text) => {
    const ownersByThing = byThing(text.replaceAll(THE_USERS, MY));
    if (ownersByThing.size === 0) return false;
    let stems: string[] | undefined;
    return things.some((mine) => {
      const thing = mine.things.find((word) => ownersByThing.has(word));
      if (thing === undefined || (mine.owner !== null && isNamed(one, mine.owner))) return false;
      const owners = ownersByThing.get(thing) ?? [];
      if (!owners.every((other) => isAnother(other, mine, one))) return false;
      // A thing without an owner may be anybody's.
      stems ??= wordsIn(text).map((word) => stem(folded(word)));
      return stems.filter((word) => word === thing).length <= owners.length;
    });
  };
}

const isNamed = ({ text, speaker }: PoolMember, owner: string): boolean =>
  mentions(text, owner) || (speaker !== null && mentions(speaker, owner));

/** True for the owner of a thing in a text who is not the one in question. */
function isAnother(other: Owned, mine: Owned, one: PoolMember): boolean {
  const isPronoun = other.owner !== null && PRONOUNS.has(other.owner);
  if (mine.owner === null)
    return (
      other.owner !== null &&
      one.kind !== "people" &&
      !(other.owner === "your" && one.role === "assistant") &&
      // "The user keeps their passport …".
      !(isPronoun && THE_USER.test(one.text))
    );
  if (other.owner === null) return true;
  // A dog's vet may be told of by the dog's name.
  return !(isPronoun || mayBeSame(other.owner, mine.owner) || (other.isName && !mine.isName));
}
