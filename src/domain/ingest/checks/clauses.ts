import { contentStems, stem } from "../../memory/content-stems.ts";
import { sentencesOf } from "../own-words.ts";
import { deniesSomething, plain } from "../statement.ts";

/** A part of a sentence with a verb of its own. `tokens`: folded words, contractions expanded, with "," between phrases. */
export type Clause = {
  tokens: readonly string[];
  isNegated: boolean;
  /** True if somebody else says or denies it: "nobody knows that …", "it is a lie that …". */
  isEmbedded: boolean;
};

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/u));

/** Words that begin a clause wherever they stand. */
const CONJUNCTIONS =
  setOf(`but because although though whereas unless except instead which what who whom whose where when while if than
  aber weil denn dass sondern obwohl waehrend mais car parce pero porque sino aunque perche maar omdat terwijl men eftersom ale bo но потому`);
/** Words that begin a clause with a subject of its own, or about another noun. */
const RELATIVES = setOf(
  `who whom whose which what where when that than if unless die der das que qui wie dass`,
);
/** Words after which a clause with "that" is not what the user states. */
const DOUBTING =
  /^(?:they|people|he|she|you|it|lie|lies|false|doubt|deny|denied|wrong|rumou?rs?|joke|myth|claims?|story|says?|thinks?|believes?)$/u;
/** Words that begin a clause if a verb or a subject follows. */
const LINKS = setOf(`, and or so since then und oder et ou y e o och eller и`);
/** Words after which "that" begins a clause. */
const THINKING = setOf(
  `know knows think thinks believe sure glad happy fact say says hope hear heard learned learnt notice noticed see feel found mean means told`,
);
const SUBJECTS =
  setOf(`i we you he she it they my our your his her their this there everyone somebody someone nobody
  ich wir er sie es mein meine unser je j nous il elle mon ma mes nuestro mi yo eu meu minha io mio ik wij hij mijn jag jeg min я мы он она мой моя ben benim`);
export const AUXILIARIES =
  setOf(`am is are was were have has had do does did can could will would should may might must not never no cannot
  nicht kein keine ne pas nie niet inte не`);
const VERBS =
  /^(?:love|like|hate|prefer|dislike|enjoy|live|work|use|play|drink|eat|speak|own|drive|study|teach|run|need|want|buy|go|make|take|call|move|collect|wear|detest|loathe|avoid|say|think|know|cook|sell|visit|plan|learn|read|write|watch|start|stop|finish|plant|pay|meet|help|get|give|find|keep|leave|travel|talk|ask)(?:s|es|d|ed)?$/u;
const PASTS =
  /^(?:moved|bought|got|went|studies|stole|met|quit|quits|paid|sold|told|said|wrote|ran|took|made|gave|found|kept|left|lost|broke|saw|began|came|won|built|sent|spoke|taught|repaired|signed|booked|decided|discussed|mentioned|shot|hit|drank|ate)$/u;
export const ADVERBS = setOf(
  `now then also still currently really just even sometimes often usually always only too definitely`,
);

const GREETINGS = setOf(`, hi hello hey hallo good morning evening there everyone all ok okay thanks`);

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(i|we|you|they)'ve\b/gu, "$1 have"],
  [/\bive\b/gu, "i have"],
  [/\bi'm\b|\bim\b/gu, "i am"],
  [/\b(we|you|they)'re\b/gu, "$1 are"],
  [/\b(i|we|you|he|she|they|it)'(?:d)\b/gu, "$1 would"],
  [/\b(i|we|you|he|she|they|it)'ll\b/gu, "$1 will"],
  [/\b(he|she|it|that|name|birthday|number|email|mail|what|who|where|when)'s\b/gu, "$1 is"],
  [/\b(?:can't|cannot|cant)\b/gu, "can not"],
  [/\bwon't\b/gu, "will not"],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n'?t\b/gu, "$1 not"],
];

/** The words of a text for comparison, with "," for each mark that parts phrases. */
export const tokensOf = (text: string): string[] =>
  text
    .split(/[,;()…]+(?!\d)|:\s|\s[–—-]+\s/u)
    .map((part) =>
      CONTRACTIONS.reduce((said, [short, long]) => said.replaceAll(short, long), plain(part)).trim(),
    )
    .join(" , ")
    .split(/\s+/u)
    .filter((token) => token !== "");

/** The stem of a token; "y" and "i" at its end are one. */
export const stemOf = (token: string): string =>
  token === "goes" ? "go" : stem(token.replace(/^\p{L}'/u, "")).replace(/(?<=\p{L})y$/u, "i");

/** True if a token says nothing by itself. */
export const isEmpty = (token: string): boolean => token === "," || contentStems(token).length === 0;

function beginsClause(tokens: readonly string[], at: number): boolean {
  const token = tokens[at] ?? "";
  if (CONJUNCTIONS.has(token)) return true;
  if (token === "that") return THINKING.has(tokens[at - 1] ?? "") || SUBJECTS.has(tokens[at + 1] ?? "");
  if (!LINKS.has(token)) return false;
  let next = at + 1;
  while (next < at + 4 && (LINKS.has(tokens[next] ?? "") || ADVERBS.has(tokens[next] ?? ""))) next++;
  const [first = "", second = "", third = ""] = tokens.slice(next, next + 3);
  const isVerb = (word: string) => AUXILIARIES.has(word) || VERBS.test(word) || PASTS.test(word);
  const verb = isEmpty(first) ? third : second;
  // "tea and Bob hates coffee": another subject with its verb.
  return (
    SUBJECTS.has(first) ||
    isVerb(first) ||
    AUXILIARIES.has(second) ||
    AUXILIARIES.has(verb) ||
    PASTS.test(verb) ||
    (verb.endsWith("s") && VERBS.test(verb))
  );
}

/** The clauses of a sentence. A clause that begins with its verb has the subject of the clause before. */
export function clausesOf(sentence: string): Clause[] {
  const tokens = tokensOf(sentence);
  const parts: string[][] = [[]];
  for (const [at, token] of tokens.entries()) {
    const isGreeting = parts.at(-1)?.every((before) => GREETINGS.has(before)) === true;
    if (!isGreeting && beginsClause(tokens, at)) parts.push([]);
    if (parts.at(-1)?.length !== 0 || !LINKS.has(token)) parts.at(-1)?.push(token);
  }
  let subject: string[] = [];
  return parts.flatMap((part, place) => {
    const start = part.findIndex((token) => !CONJUNCTIONS.has(token) && !ADVERBS.has(token));
    if (start === -1) return [];
    const [first = ""] = part.slice(start);
    const isEmbedded =
      place > 0 &&
      part[0] === "that" &&
      (parts[place - 1] ?? []).some((token) => DOUBTING.test(token) || deniesSomething(token));
    const isOpen =
      !RELATIVES.has(part[0] ?? "") &&
      (AUXILIARIES.has(first) || VERBS.test(first) || PASTS.test(first)) &&
      subject.length > 0;
    const whole = isOpen ? [...subject, ...part.slice(start)] : part;
    // "Bob, whom I love, shot": the subject stays Bob.
    if (!isOpen && !(place > 0 && RELATIVES.has(part[0] ?? ""))) subject = subjectOf(part);
    return [{ tokens: whole, isNegated: deniesSomething(whole.join(" ")), isEmbedded }];
  });
}

/** The words of a clause that say something, and whether it denies them. */
export type ClauseWords = { stems: ReadonlySet<string>; isNegated: boolean };

/** The clauses of a text that have such words. */
export const clauseWordsOf = (text: string): ClauseWords[] =>
  sentencesOf(text)
    .flatMap(clausesOf)
    .map(({ tokens, isNegated }) => ({
      isNegated,
      stems: new Set(tokens.filter((token) => !isEmpty(token) && !deniesSomething(token)).map(stemOf)),
    }))
    .filter(({ stems }) => stems.size > 0);

/** The words before the verb of a clause, if they are few. */
function subjectOf(tokens: readonly string[]): string[] {
  const pronoun =
    tokens.find((token) => token === "i" || token === "we") ??
    tokens.slice(0, 3).find((token) => /^(?:you|he|she|it|they)$/u.test(token));
  if (pronoun !== undefined) return [pronoun];
  const verb = tokens.findIndex((token) => AUXILIARIES.has(token) || VERBS.test(token) || PASTS.test(token));
  return tokens.slice(0, verb > 0 && verb <= 5 ? verb : 3).filter((token) => !deniesSomething(token));
}

/** Where the words of a text stand in a clause, one after another: the first and the place behind the last. */
export function placesOf(clause: Clause, text: string): [from: number, to: number][] {
  const all = tokensOf(text);
  const telling = all.filter((token) => !isEmpty(token));
  // "MIT" is a name, and a German preposition.
  const wanted = (telling.length > 0 ? telling : all).map(stemOf);
  const found: [number, number][] = [];
  if (wanted.length === 0) return found;
  const stems = clause.tokens.map(stemOf);
  const owners = clause.tokens.map((token) => stemOf(/^\p{L}+(?=')/u.exec(token)?.[0] ?? ""));
  const empty = clause.tokens.map(isEmpty);
  const isWord = (at: number, word: string | undefined) => stems[at] === word || owners[at] === word;
  for (const from of stems.keys()) {
    if (!isWord(from, wanted[0])) continue;
    let at = from + 1;
    let next = 1;
    while (next < wanted.length && at < stems.length) {
      if (isWord(at, wanted[next])) next++;
      else if (empty[at] !== true) break;
      at++;
    }
    if (next === wanted.length) found.push([from, at]);
    if (found.length === 20) break;
  }
  return found;
}
