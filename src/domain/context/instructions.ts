import { hidesSomething } from "../ingest/checks/characters.ts";
import { holdsSecret } from "../ingest/checks/secrets.ts";
import { GAP, ownWords, sentencesOf } from "../ingest/own-words.ts";
import { fieldsOf } from "../language/fields.ts";
import { type MessageText, writtenText } from "../memory/message-text.ts";

/** The passages of a message that say how its user wants to be answered from then on. `isOrder`: false for a preference alone. */
export type Instructions = { isOrder: boolean; passages: (readonly [start: number, end: number])[] };

/** Characters of a passage, and passages of a message: more of them are a document. */
const LONGEST = 300;
const MOST = 8;
/** Words of a preference, with those that begin it. */
const FEWEST_WORDS = 3;
/** An order with an address may come from a page that wants something. */
const ADDRESS = /https?:|www\.|[\w.+-]@[\w-]+\.\p{L}/iu;
const QUESTION = /\?\s*$/u;
/** Stands for a quotation in a sentence, which does not end there. A passage has none: it may be somebody else's order. */
const QUOTATION = " \u{fffc} ";
const GAPS = new RegExp(`${GAP}+|(?<= )…(?= )`, "gu");
/** Characters of a message that are looked at, in whole lines. */
const LOOKED_AT = 2_000;

/** The expressions of a language, over a sentence without the frames before it. */
type Rule = Record<"topics" | "cue" | "frames" | "requests" | "clause" | "prefers" | "ends", RegExp> & {
  orders: readonly RegExp[];
};

const END = String.raw`(?![\p{L}\p{N}'])`;
const START = String.raw`(?<![\p{L}\p{N}'])`;
const rule = (source: string, flags = "iu"): RegExp => new RegExp(source, flags);

const RULES: readonly Rule[] = fieldsOf("standing").map((words): Rule => {
  const { frames, requests, therefore, always, onwards, topics, plainly, prefers, ends } = words;
  const frame = String.raw`(?:(?:${frames})${END}[\s,:!–-]*)`;
  const request = String.raw`(?:(?:${requests})${END}\s*)`;
  const orders = [...(words.orders === undefined ? [] : [words.orders]), ...words.verbs.split(/\s+/u)];
  const order = String.raw`(?:${orders.join("|")})${END}`;
  return {
    topics: rule(String.raw`${START}(?:${topics})${END}([^.,;:!?–—]+)`),
    cue: rule(`${START}(?:${always}|${onwards}|${topics}|${plainly}|${prefers})`),
    frames: rule(`^(?:${frame}|${request})+`),
    requests: rule(START + request),
    orders: [
      rule(`^(?:${always}),? ${frame}*${order}`),
      rule(
        `^(?:(?:${onwards})${END}|(?:${topics})${END}.{0,120}?[,:])[ ,:]*${frame}*(?:(?:${always}) )?${order}`,
      ),
      rule(`^${order}.{1,200}?${START}(?:${onwards}|${topics})${END}`),
      // A name is in capitals.
      rule(`^(?:${plainly})`, "u"),
    ],
    clause: rule(String.raw`(?:[,;–—]|\s-)\s*(?:${therefore}),? (?:${always}) ${order}`),
    prefers: rule(`${START}(?:${prefers})`),
    ends: rule(ends),
  };
});

/**
 * Finds the standing instructions ("always …", "from now on …") and preferences ("I prefer …") in a message of the memory's owner,
 * by their wording: only their own words, not what they paste or quote. `text`: what recall searches of the message, in which the
 * passages are.
 */
export function instructionsIn(message: MessageText, text: string): Instructions | null {
  const written = beginningOf(writtenText(message));
  if (!hasCue(written)) return null;
  let isOrder = false;
  const passages: Instructions["passages"] = [];
  const own = ownWords(written).replaceAll(GAPS, QUOTATION);
  for (const sentence of sentencesOf(own)) {
    const passage = passageIn(sentence);
    if (passage === null || !isHarmless(passage.text)) continue;
    const start = text.indexOf(passage.text, passages.at(-1)?.[1] ?? 0);
    if (start < 0) continue;
    isOrder ||= passage.isOrder;
    passages.push([start, start + passage.text.length]);
  }
  return passages.length === 0 || passages.length > MOST ? null : { isOrder, passages };
}

/** The matter that a passage is about: what it names as asked for ("when I ask about recipes"), else all of it. */
export function matterOf(passage: string): string {
  const plain = passage.replaceAll("’", "'");
  for (const { topics } of RULES) {
    const matter = topics.exec(plain)?.[1];
    if (matter !== undefined) return matter;
  }
  return passage;
}

/** Most messages have no such word, and are read no further. */
const hasCue = (text: string): boolean => {
  const plain = text.replaceAll("’", "'");
  return RULES.some(({ cue }) => cue.test(plain));
};

/** The lines that begin a text: the rest of a longer line may end a quotation. */
const beginningOf = (text: string): string =>
  text.length <= LOOKED_AT ? text : text.slice(0, text.lastIndexOf("\n", LOOKED_AT) + 1);

const isHarmless = (passage: string): boolean =>
  passage.length <= LONGEST &&
  !passage.includes(QUOTATION.trim()) &&
  !hidesSomething(passage) &&
  !holdsSecret(passage) &&
  !ADDRESS.test(passage);

/** The part of a sentence that holds from then on. */
function passageIn(sentence: string): { text: string; isOrder: boolean } | null {
  const plain = sentence.replaceAll("’", "'");
  for (const { frames, requests, orders, clause, prefers, ends } of RULES) {
    const order = plain.replace(frames, "");
    const begun = order.charAt(0).toLowerCase() + order.slice(1);
    const isOrder = orders.some((one) => one.test(begun)) || clause.test(plain);
    if (isOrder && (!QUESTION.test(plain) || requests.test(plain))) return { text: sentence, isOrder };
    const start = plain.search(prefers);
    if (start < 0) continue;
    // More would be no passage, and the search takes time that grows with the square of its blanks.
    const end = plain.slice(start, start + LONGEST + 1).search(ends);
    const text = sentence.slice(start, end < 0 ? undefined : start + end).trim();
    if (text.split(/\s+/u).length >= FEWEST_WORDS) return { text, isOrder: false };
  }
  return null;
}
