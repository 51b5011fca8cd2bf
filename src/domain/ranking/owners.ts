import { stem, wordsOf } from "../memory/content-stems.ts";
import { isOfTime } from "./answer-type.ts";
import { folded } from "./fold.ts";
import type { PooledCandidate } from "./pool.ts";
import { isTelling, mentions } from "./question.ts";
import { mayBeSame } from "./relatives.ts";

/** Words before a thing that say whose it is, and the next two words. English. */
const OWNED =
  /(?<![\p{L}'’])(my|our|his|her|their|your|its|\p{L}+['’]s|\p{L}+s['’])(?=\s+(\p{L}[\p{L}-]*)(?:\s+(\p{L}[\p{L}-]*))?)/giu;
/** "What's", "it's": the verb. */
const VERB = /^(?:what|who|where|when|how|it|that|there|here|he|she|let)['’]s$/iu;
/** The owner may be named before it. */
const PRONOUN = /^(?:his|her|their|its)$/;

/**
 * A thing as it is owned: "my dog's name", "Ann's new phone". `owner`: null for the speaker; `isName`: it has a capital. `things`:
 * stems, the nearest first.
 */
type Owned = { owner: string | null; isName: boolean; things: readonly string[] };

const ownedIn = (text: string): Owned[] =>
  [...text.matchAll(OWNED)].flatMap(([, word = "", ...after]) => {
    const owner = folded(word).replace(/['’]s$|(?<=s)['’]$/u, "");
    if (VERB.test(word) || isOfTime(owner)) return [];
    // The second word is undefined at the end of a sentence.
    const things = after.filter((one) => one !== undefined && isTelling(folded(one)));
    return [
      {
        owner: owner === "my" || owner === "our" ? null : owner,
        isName: /^\p{Lu}/u.test(word),
        things: things.map((one) => stem(folded(one))),
      },
    ];
  });

/** The owners in a text by their things. */
function byThing(text: string): ReadonlyMap<string, readonly Owned[]> {
  const owners = new Map<string, Owned[]>();
  for (const owned of ownedIn(text))
    for (const thing of new Set(owned.things)) {
      const all = owners.get(thing);
      if (all === undefined) owners.set(thing, [owned]);
      else all.push(owned);
    }
  return owners;
}

/**
 * Tells of a text if it says something of a thing in question, and only of somebody else's: "his dog" is not "my dog". The question is
 * read once. "Our" in a question may mean a company's or a family's, and is no owner there.
 */
export function ownerTest(question: string): (one: PooledCandidate, text: string) => boolean {
  const owned = ownedIn(question.replaceAll(/\bour\b/giu, "the")).filter(
    ({ owner }) => owner === null || !PRONOUN.test(owner),
  );
  // A long question may say one thing many times.
  const things = [...new Map(owned.map((one) => [`${one.owner} ${one.things.join(" ")}`, one])).values()];
  if (things.length === 0) return () => false;
  return (one, text) => {
    const ownersByThing = byThing(text.replaceAll(/\bthe user['’]s\b/giu, "my"));
    if (ownersByThing.size === 0) return false;
    let stems: string[] | undefined;
    return things.some((mine) => {
      const thing = mine.things.find((word) => ownersByThing.has(word));
      if (thing === undefined || (mine.owner !== null && isNamed(one, mine.owner))) return false;
      const owners = ownersByThing.get(thing) ?? [];
      if (!owners.every((other) => isAnother(other, mine, one))) return false;
      // A thing without an owner may be anybody's.
      stems ??= wordsOf(text).map((word) => stem(folded(word)));
      return stems.filter((word) => word === thing).length <= owners.length;
    });
  };
}

const isNamed = ({ text, speaker }: PooledCandidate, owner: string): boolean =>
  mentions(text, owner) || (speaker !== null && mentions(speaker, owner));

/** True for the owner of a thing in a text who is not the one in question. */
function isAnother(other: Owned, mine: Owned, one: PooledCandidate): boolean {
  const isPronoun = other.owner !== null && PRONOUN.test(other.owner);
  if (mine.owner === null)
    return (
      other.owner !== null &&
      one.kind !== "people" &&
      !(other.owner === "your" && one.role === "assistant") &&
      // "The user keeps their passport …".
      !(isPronoun && /\bthe user\b/i.test(one.text))
    );
  if (other.owner === null) return true;
  // A dog's vet may be told of by the dog's name.
  return !(isPronoun || mayBeSame(other.owner, mine.owner) || (other.isName && !mine.isName));
}
