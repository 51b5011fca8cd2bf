import { folded } from "../../ranking/fold.ts";
import { deniesSomething } from "../statement.ts";
import {
  ADVERBS,
  AUXILIARIES,
  type Clause,
  clausesOf,
  isEmpty,
  placesOf,
  stemOf,
  tokensOf,
} from "./clauses.ts";
import { DISLIKE, KNOWN, type Known } from "./known-predicates.ts";
import type { Reason } from "./reasons.ts";

/** The statement of a fact, and its subject: `subject` is null for the user, "it" for a pronoun that stands for the subject. */
export type Claim = { predicate: string; object: string; subject: string | null };

/** Persons, animals and groups: a clause about one of the user's says nothing about the user. */
const RELATION =
  /^(?:friend|boss|neighbou?r|colleague|coworker|sister|brother|sibling|mother|father|mum|mom|dad|parent|son|daughter|wife|husband|partner|spouse|girlfriend|boyfriend|fiancee?|uncle|aunt|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa|gran|roommate|flatmate|landlord|landlady|doctor|dentist|teacher|manager|client|customer|dog|cat|puppy|kitten|horse|rabbit|pet|kid|child|children|famil(?:y|ie)|ex|buddy|mate|team|company|office|class|employer)(?:s|'s|s')?$/u;
const OTHERS = new Set([
  "he",
  "she",
  "they",
  "you",
  "it",
  "everyone",
  "everybody",
  "somebody",
  "someone",
  "nobody",
]);
/** Words between a pattern and its object that part the two. */
const PARTING = new Set(
  `than over not no but to for against with without about from i we you he she it they is are was were has have had am do does did will would can could my our your his her their who which that where when if of by because like love hate use say says`.split(
    " ",
  ),
);
const SEPARATORS = new Set(", and or und oder et ou y o e och".split(" "));
/** Plans, wishes and attempts: they are not what they aim at. */
const AIMS =
  /^(?:plan|plans|planning|planned|hope|hopes|hoping|hoped|want|wants|wanted|intend|intended|will|would|gonna|trying|try|tried|dream|dreaming|dreamed|thinking|considering|supposed|almost|nearly|refuse|refused|pretend|pretended|should|might|may|could|must)$/u;
const PLACES = new Set("in at on near inside".split(" "));
const DIRECTIONS = new Set(
  "in at on near inside to into from with without for against about by over under after before of around".split(
    " ",
  ),
);
const PRONOUN = /^(?:he|she|it|they|his|her|its|their)$/u;
/** Words of a predicate that only deny it. */
const DENIALS = / (?:(?:do|does|did) (?:not|never)|not|never|no longer|no) /gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** Tokens before an object that are looked at. */
const REACH = 20;

const spaced = (tokens: readonly string[]): string => ` ${tokens.join(" ")} `;
const withDislike = (text: string): string => text.replaceAll(/ can not (?:stand|bear) /gu, " detest ");
const undenied = (text: string): string => text.replaceAll(DENIALS, " ").replaceAll(DENIALS, " ");

/** Why a sentence does not state a claim; null if one of its clauses does. */
export function refusalOfClaim(claim: Claim, sentence: string): Reason | null {
  if (UNSPACED.test(claim.object)) return refusalUnspaced(claim, sentence);
  const verdicts = clausesOf(sentence).flatMap((clause) =>
    placesOf(clause, claim.object)
      // "Rome's embassy" is not Rome.
      .filter(([, to]) => !/'s?$/u.test(clause.tokens[to - 1] ?? "") || /['’]s?$/u.test(claim.object))
      .map((place) => refusalInClause(claim, { clause, place, sentence })),
  );
  if (verdicts.includes(null)) return null;
  return verdicts[0] ?? "not_in_source";
}

/** Scripts without spaces: only exact patterns of known predicates. */
function refusalUnspaced({ predicate, object, subject }: Claim, sentence: string): Reason | null {
  if (deniesSomething(sentence) !== deniesSomething(`${predicate} ${object}`)) return "negated";
  const flat = folded(sentence).replaceAll(/\s+/gu, "");
  const name = folded(object)
    .replaceAll(/\s+/gu, "")
    .replaceAll(/[^\p{L}\p{N}]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
  const base = tokensOf(predicate).join(" ");
  const states = KNOWN.some(
    ({ names, unspaced }) =>
      names.test(base) &&
      unspaced.some((pattern) => new RegExp(folded(pattern).replace("x", name), "u").test(flat)),
  );
  return states && subject === null ? null : "predicate_not_in_source";
}

type Place = { clause: Clause; place: readonly [from: number, to: number]; sentence: string };

function refusalInClause(claim: Claim, at: Place): Reason | null {
  const name = tokensOf(claim.predicate.replaceAll("_", " ")).join(" ");
  if (DISLIKE.names.test(name) || (DISLIKE.names.test(undenied(` ${name} `).trim()) && name.includes("not")))
    return DISLIKE.names.test(name) ? refusalOfDislike(claim, at) : "negated";
  if (at.clause.isEmbedded) return "not_stated";
  if (at.clause.isNegated !== deniesSomething(`${claim.predicate} ${claim.object}`)) return "negated";
  const base = undenied(` ${name} `).trim();
  const known = KNOWN.filter(({ names }) => names.test(base));
  if (known.length > 0)
    return known.some((one) => matches(one, claim, at)) ? null : "predicate_not_in_source";
  return refusalOfWords(base.split(" "), claim, at);
}

/** "hates tea": the user says that they hate it, or denies that they like it. */
function refusalOfDislike(claim: Claim, at: Place): Reason | null {
  const said = withDislike(spaced(at.clause.tokens));
  const isDenied = / (?:not|never|no|nicht|pas|no longer|niet|nao|non|не) /u.test(said);
  if (!isDenied || said !== spaced(at.clause.tokens))
    return !isDenied && matches(DISLIKE, claim, at) ? null : "predicate_not_in_source";
  if (/ (?:hate|dislike|detest|loathe)[sd]? /u.test(said)) return "negated";
  const likes = KNOWN.filter(({ names }) => names.test("likes"));
  return likes.some((one) => matches(one, claim, at)) ? null : "predicate_not_in_source";
}

/** True if the words before and after an object are those of a known predicate. */
function matches(known: Known, { object, subject }: Claim, { clause, place, sentence }: Place): boolean {
  const [from, to] = place;
  if (known.isName && !(/\p{Lu}/u.test(object) && sentence.includes(object))) return false;
  const after = clause.tokens.slice(to, to + 4);
  // "a thief catcher": the object is only the first part of a word.
  const next = after[0];
  if (
    known.isClosed &&
    !(
      next === undefined ||
      SEPARATORS.has(next) ||
      DIRECTIONS.has(next) ||
      ADVERBS.has(next) ||
      isEmpty(next)
    )
  )
    return false;
  const starts = subject === null ? [0] : subjectEnds(clause, subject, from);
  return starts.some((start) => {
    const isPossessive = start > 0 && (clause.tokens[start - 1] ?? "").endsWith("'s");
    const first = subject === null ? Math.max(0, from - REACH) : start;
    const before = [...(isPossessive ? ["'s"] : []), ...clause.tokens.slice(first, from)];
    const isTyped = known.kind?.test(spaced(tokensOf(object))) === true;
    const patterns = subject === null ? [...known.me, ...(isTyped ? known.typed : [])] : known.they;
    return cuts(before, known, after).some((tokens) => {
      const text = undenied(withDislike(spaced([...tokens, "X", ...after])));
      return patterns.some((pattern) => pattern.test(text));
    });
  });
}

/** The words before an object, and those before the items of a list or the few words that it follows. */
function cuts(before: readonly string[], { isList, between }: Known, after: readonly string[]): string[][] {
  const found = [[...before]];
  for (let less = 1; less <= between && less < before.length; less++) {
    const word = before.at(-less) ?? "";
    if (PARTING.has(word) || word.endsWith("ing") || before.at(-less - 1) === "to") break;
    found.push(before.slice(0, -less));
  }
  const next = after[0];
  const ends = next === undefined || SEPARATORS.has(next) || DIRECTIONS.has(next);
  if (isList === false || !ends) return found;
  const separates = (word: string) => SEPARATORS.has(word) && (isList === true || word !== ",");
  let ways = [[...before]];
  for (let items = 0; items < 4; items++) {
    ways = ways.flatMap((way) => {
      const rest = [...way];
      while (rest.length > 0 && /^(?:the|a|an|my|our|to)$/u.test(rest.at(-1) ?? "")) rest.pop();
      if (!separates(rest.at(-1) ?? "")) return [];
      while (separates(rest.at(-1) ?? "")) rest.pop();
      return [1, 2, 3].flatMap((words) => {
        const item = rest.slice(-words);
        return rest.length > words && item.every((word) => !PARTING.has(word) && !SEPARATORS.has(word))
          ? [rest.slice(0, -words)]
          : [];
      });
    });
    found.push(...ways);
  }
  return found;
}

/** The places behind the words of a subject that stands before the object. */
function subjectEnds(clause: Clause, subject: string, from: number): number[] {
  if (subject === "it") {
    const start = clause.tokens.findIndex((token) => !isEmpty(token) || PRONOUN.test(token));
    return PRONOUN.test(clause.tokens[start] ?? "") ? [start + 1] : [];
  }
  return placesOf(clause, subject)
    .map(([, to]) => to)
    .filter(
      (to) => to <= from && !clause.tokens.slice(0, to).some((token) => token === "i" || token === "we"),
    );
}

/** Why a clause does not hold all words of a predicate that no pattern knows, about the right subject. */
function refusalOfWords(
  base: readonly string[],
  { subject }: Claim,
  { clause, place }: Place,
): Reason | null {
  const [from, to] = place;
  const { tokens } = clause;
  const words = base.filter((word) => !isEmpty(word));
  const wanted = words.map(stemOf);
  const stems = tokens.map(stemOf);
  const isOutside = (at: number) => at < from || at >= to;
  const found = wanted.map((word) => stems.findIndex((stem, at) => stem === word && isOutside(at)));
  if (found.includes(-1)) return "predicate_not_in_source";
  if (words.length === 0 && !isPhraseBefore(base, tokens.slice(0, from))) return "predicate_not_in_source";
  if (!leadsTo(base, tokens.slice(0, from))) return "predicate_not_in_source";
  const isOther = (token: string) =>
    OTHERS.has(token) || (RELATION.test(token) && !wanted.includes(stemOf(token)));
  const isFree = (start: number, end: number) => !tokens.slice(start, end).some(isOther);
  const isAfter = (start: number) => found.every((at) => at >= start);
  if (subject === null) {
    const speaks = tokens.findLastIndex((token, at) => at < from && (token === "i" || token === "we"));
    const isMine = tokens.some(
      (token, at) =>
        (token === "my" || token === "our") &&
        !isThird(words, found, tokens) &&
        found.some((word) => word > at && word <= at + 4 && isFree(at, word)) &&
        isFree(at, Math.max(at, from)),
    );
    const isSaid =
      speaks !== -1 &&
      isAfter(speaks) &&
      isFree(speaks, from) &&
      !isThird(words, found, tokens) &&
      isMainVerb(tokens.slice(speaks + 1, Math.min(from, found[0] ?? from)), wanted) &&
      !tokens
        .slice(Math.max(-1, ...found.filter((at) => at < from)) + 1, from)
        .some((token) => token.endsWith("ing"));
    if (!isMine && !isSaid) return "not_first_person";
  } else {
    const own = new Set(tokensOf(subject).map(stemOf));
    const isClear = subjectEnds(clause, subject, from).some(
      (end) =>
        tokens.slice(end, from).every((token) => !isOther(token) || own.has(stemOf(token))) &&
        !tokens.slice(end, from).some((token) => token === "i" || token === "we") &&
        (!(tokens[end - 1] ?? "").endsWith("'s") || wanted.includes(stems[end] ?? "")),
    );
    if (!isClear) return "not_about_user";
  }
  const isPast = words.some((word, i) => word.endsWith("s") && (tokens[found[i] ?? -1] ?? "").endsWith("ed"));
  const aims = tokens.slice(0, from).some((token, at) => {
    if (!AIMS.test(token) && !(token === "going" && tokens[at + 1] === "to")) return false;
    return !base.some((word) => stemOf(word) === stemOf(token));
  });
  return isPast || aims ? "not_stated" : null;
}

/** True if nothing but auxiliaries and adverbs stands between "I" and the verb: not "I asked Bob to sell". */
const isMainVerb = (between: readonly string[], wanted: readonly string[]): boolean =>
  between.every(
    (token) =>
      isEmpty(token) ||
      AUXILIARIES.has(token) ||
      ADVERBS.has(token) ||
      token.endsWith("ly") ||
      /^(?:got|get|just|been|used|to)$/u.test(token) ||
      wanted.includes(stemOf(token)),
  );

/** "lives" is not what people say of themselves. */
const isThird = (words: readonly string[], found: readonly number[], tokens: readonly string[]): boolean =>
  /[^s]s$/u.test(words[0] ?? "") && tokens[found[0] ?? -1] === words[0];

const thirdOf = (word: string): string => word.replace(/^(?:am|are)$/u, "is").replace(/^have$/u, "has");

/** "is in": all of such a predicate stands directly before the object. */
function isPhraseBefore(base: readonly string[], before: readonly string[]): boolean {
  const said = [...before];
  while (/^(?:the|a|an|my|our)$/u.test(said.at(-1) ?? "")) said.pop();
  return base.toReversed().every((word, i) => thirdOf(word) === thirdOf(said.at(-1 - i) ?? ""));
}

/** False if another preposition stands before the object than the one that ends the predicate: "from Cairo", "to". */
function leadsTo(base: readonly string[], before: readonly string[]): boolean {
  const last = base.at(-1) ?? "";
  if (!DIRECTIONS.has(last)) {
    const said = before.filter((token) => !/^(?:the|an?|my|our)$/u.test(token)).at(-1) ?? "";
    return !DIRECTIONS.has(said) || PLACES.has(said) || base.includes(said);
  }
  const near = before.slice(-3).findLast((token) => DIRECTIONS.has(token));
  return near === undefined || near === last || (PLACES.has(near) && PLACES.has(last));
}

const YOU = new Set(
  `you your yours du dein deine deinen sie ihr ihre tu te ton ta tes vous votre vos usted tus su voce seu sua tuo tua jij je jouw u uw dig din ты вы твой ваш`.split(
    " ",
  ),
);

/** True if a question asks the user for what a claim states. */
export function asksFor({ predicate, subject }: Claim, question: string): boolean {
  const tokens = tokensOf(question);
  const text = spaced(tokens);
  const base = undenied(spaced(tokensOf(predicate.replaceAll("_", " ")))).trim();
  if (!tokens.some((token) => YOU.has(token)) && !/^ (?:are there )?any (?:\S+ )?allergies /u.test(text))
    return false;
  const own = new Set(tokensOf(`${subject ?? ""} ${base}`).map(stemOf));
  const isAim = / (?:would|want|wants|wish|hope|dream|plan|will|might|if|not|never|someone|anyone) /u.test(
    text,
  );
  if (isAim && !/^(?:plan|want|will|hope|wish)/u.test(base)) return false;
  if (/ (?:did|before|formerly|ago) /u.test(text) && !/ed\b|\b(?:was|born|grew|went|from)\b/u.test(base))
    return false;
  // "your friend", "your dog's name": the question is about somebody else.
  if (tokens.some((token) => RELATION.test(token) && !own.has(stemOf(token.replace(/'s$/u, "")))))
    return false;
  if (
    subject !== null &&
    !tokensOf(subject).every((word) => isEmpty(word) || tokens.map(stemOf).includes(stemOf(word)))
  )
    return false;
  const known = KNOWN.filter(({ names, asks }) => names.test(base) && asks !== null);
  if (known.length > 0) return known.some(({ asks }) => asks?.test(text) === true);
  const stems = new Set(tokens.map(stemOf));
  const words = base.split(" ").filter((word) => !isEmpty(word));
  return words.length > 0 && words.every((word) => stems.has(stemOf(word)));
}

/** True if a text is nothing but an answer that names something: no other subject, and no verb of another statement. */
export function isPlainAnswer(answer: string, object: string): boolean {
  const whole: Clause = { tokens: tokensOf(answer), isNegated: false, isEmbedded: false };
  return placesOf(whole, object).some(([from, to]) => {
    const rest = [...whole.tokens.slice(0, from), ...whole.tokens.slice(to)];
    const said = rest.filter((token) => !isEmpty(token) && !SEPARATORS.has(token));
    return (
      said.length <= 4 &&
      !rest.some(
        (token) =>
          OTHERS.has(token) || RELATION.test(token) || /^(?:not|no|never|was|were|had)$/u.test(token),
      )
    );
  });
}
