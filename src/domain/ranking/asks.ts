import { folded } from "./fold.ts";

/** Words that open a question, or a request that is put as one. English. */
const OPENS =
  /^(?:(?:and|so|but|or|ok|okay|also|hey|hi|hello|well|now|then|please|sorry|actually|by the way)[, ]+)*(?:what(?:'s|s)?|where(?:'s|s)?|when|who(?:'s|s|m|se)?|which|why|how|is|are|am|was|were|do|does|did|can|could|would|will|should|shall|have|has|had|may|might|any|remind me|tell me|do you remember)\b/i;
/** A statement inside a question: "can you help me, I'm making a quiche?" */
const STATES = /\b(?:i'm|i am|i've|we're|we've)\b(?! (?:supposed|going) to\b)/i;
const QUOTED_CODE = /```/;
/** A question in a script without Latin letters. */
const ASKS_ELSEWHERE = /^\P{Script=Latin}*[?？؟]\s*$/u;
const SENTENCES = /(?<=[.!?])\s+|(?<=[。！？])|\n+/u;
/** A longer sentence says something by itself, and so does a message of more sentences. */
const [LONGEST, MOST] = [160, 3];

/** True if a message only asks. Its words tell what somebody wanted to know, and not what is so. */
export function onlyAsks(text: string): boolean {
  if (text.length > LONGEST * MOST || QUOTED_CODE.test(text)) return false;
  const sentences = text.split(SENTENCES).filter((sentence) => /\p{L}/u.test(sentence));
  return (
    sentences.length > 0 &&
    sentences.length <= MOST &&
    sentences.every(
      (sentence) =>
        sentence.length <= LONGEST &&
        (OPENS.test(sentence.trim()) || ASKS_ELSEWHERE.test(sentence)) &&
        !STATES.test(sentence),
    )
  );
}

/** A name behind another word, or a number. */
const NAMED = /(?<=\p{Ll}[,;:]?\s)(?!I\b)\p{Lu}[\p{L}\p{N}]+|\p{N}+/gu;

/**
 * True if a message only asks what the query asks. One that names somebody else, or a number, says something: "Can you write
 * a poem for my mother Luísa?" answers "What is the name of my mother?".
 */
export function repeats(text: string, query: string): boolean {
  if (!onlyAsks(text)) return false;
  const asked = folded(query);
  return (text.match(NAMED) ?? []).every((name) => asked.includes(folded(name)));
}

/** True if a query is about what was asked before: then a question is an answer. */
export const asksForQuestions = (query: string): boolean =>
  /\b(?:ask(?:ed|ing)?|questions?|brought up|bring up|mention(?:ed)?|request(?:s|ed)?|wonder(?:ed)?)\b/i.test(
    query,
  );

/** True if a query wants an overview: then a long answer is as good as a short statement. */
export const asksForOverview = (query: string): boolean =>
  /\b(?:summar(?:y|ies|i[sz]e|i[sz]ed)|overview|recap|everything|over time|so far|throughout)\b/i.test(query);

/** True if a query asks what the assistant said: then an answer of the assistant is more likely than what the user said. */
export const asksForAdvice = (query: string): boolean =>
  /\bdid you (?:\w+ly )?(?:advise|answer|call|explain|find|give|list|mean|mention|name|prefer|propose|recommend|say|suggest|tell|warn|write)\b|\byou (?:\w+ly )?(?:advised|answered|explained|gave|listed|mentioned|named|preferred|proposed|recommended|said|suggested|told|warned|wrote)\b|\byour (?:advice|answer|explanation|list|proposal|recommendations?|suggestions?)\b/i.test(
    query,
  );
