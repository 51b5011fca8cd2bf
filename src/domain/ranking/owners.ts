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

/** A thing as it is owned: "my dog's name", "Ann's new phone". `owner`: null for the speaker. `things`: stems, the nearest first. */
type Owned = { owner: string | null; things: readonly string[] };

const ownedIn = (text: string): Owned[] =>
  [...text.matchAll(OWNED)].flatMap(([, word = "", ...after]) => {
    const owner = folded(word).replace(/['’]s$|(?<=s)['’]$/u, "");
    if (VERB.test(word) || isOfTime(owner)) return [];
    // The second word is undefined at the end of a sentence.
    const things = after.filter((one) => one !== undefined && isTelling(folded(one)));
    return [
      {
        owner: owner === "my" || owner === "our" ? null : owner,
        things: things.map((one) => stem(folded(one))),
      },
    ];
  });

/**
 * Tells of a text if it says something of a thing in question, and only of somebody else's: "his dog" is not "my dog". The question is
 * read once. "Our" in a question may mean a company's or a family's, and is no owner there.
 */
export function ownerTest(question: string): (one: PooledCandidate, text: string) => boolean {
  const asked = ownedIn(question.replaceAll(/\bour\b/giu, "the")).filter(
    ({ owner }) => owner === null || !PRONOUN.test(owner),
  );
  if (asked.length === 0) return () => false;
  return (one, text) => {
    const said = ownedIn(text.replaceAll(/\bthe user['’]s\b/giu, "my"));
    return asked.some(({ owner, things }) => {
      const thing = things.find((word) => said.some((other) => other.things.includes(word)));
      if (thing === undefined || (owner !== null && isNamed(one, owner))) return false;
      const owners = said.flatMap((other) => (other.things.includes(thing) ? [other.owner] : []));
      // A thing without an owner may be anybody's.
      const times = wordsOf(text).filter((word) => stem(folded(word)) === thing).length;
      return times <= owners.length && owners.every((other) => isAnother(other, { owner, one }));
    });
  };
}

const isNamed = ({ text, speaker }: PooledCandidate, owner: string): boolean =>
  mentions(text, owner) || (speaker !== null && mentions(speaker, owner));

/** True for the owner of a thing in a text who is not the one in question. */
function isAnother(
  said: string | null,
  { owner, one }: { owner: string | null; one: PooledCandidate },
): boolean {
  if (owner === null)
    return said !== null && one.kind !== "people" && !(said === "your" && one.role === "assistant");
  return said === null || !(PRONOUN.test(said) || mayBeSame(said, owner));
}
