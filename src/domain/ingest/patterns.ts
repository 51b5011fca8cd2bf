import { ownWords, sentencesOf } from "./own-words.ts";
import type { FactProposal, SourceMessage } from "./proposal.ts";

/** Characters of a message that are looked through: the patterns stand in what people type, not in long texts. */
const READ = 4_000;
/** The end of a value. */
const END = String.raw`(?=\s+(?:and|but|because|so|which|who|that|where|when|while|since|with|from|for|in|at|on|near|last|this|next|now|und|aber|et|mais|y|pero|e|mas|ma|en|maar|seit|depuis|desde|da|sinds)\b|[,.!;:()…]|$)`;
const NAME = String.raw`(\p{Lu}[\p{L}'’-]*(?:\s\p{Lu}[\p{L}'’-]*){0,2})`;
const PLACE = String.raw`(\p{Lu}[\p{L}.'’-]*(?:\s(?:de|da|do|of|la|el|am|an der|sur|upon)?\s?\p{Lu}[\p{L}.'’-]*){0,3})`;
const WORDS = String.raw`([\p{L}\p{N}][^,.!;:()…]{0,60}?)${END}`;
const DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
const I = String.raw`\bI(?:['’]ve| have|['’]m| am)?\s+(?:just |recently |currently |now |also |still )?`;

/**
 * `predicate`: of the fact, or of what precedes the value. `isDoubtful`: the words may mean something else, or what they state changes
 * in words that no pattern knows ("we left Ghent"): the sentence is kept, with its date, and no triple.
 */
type Pattern = { says: RegExp; predicate: string | ((matched: string) => string); isDoubtful?: true };
const sure = (says: string, predicate: Pattern["predicate"]): Pattern => ({
  says: new RegExp(says, "u"),
  predicate,
});
const unsure = (says: string, predicate: Pattern["predicate"]): Pattern => ({
  ...sure(says, predicate),
  isDoubtful: true,
});

/** The things that "my … is …" states of the user: anything else may be a thing of the conversation, such as "my app". */
const ATTRIBUTE = String.raw`(favou?rite \p{L}+|home ?town|native language|mother tongue|nationality|occupation|profession|job title|phone number|time ?zone|star sign|blood type|shoe size|pronouns)`;
/** A person or an animal of the user's, before its name. */
const RELATIVE = String.raw`((?:best |older |younger |elder |little |big )?(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|sister|brother|mother|mum|mom|father|dad|son|daughter|grandmother|grandfather|gran|grandma|grandpa|aunt|uncle|cousin|niece|nephew|friend|dog|cat|puppy|kitten|rabbit|horse|boss|manager))`;
/** Words with a capital letter that follow a relative and are no name. */
const NO_NAME = String.raw`(?!(?:I|${DAY}|${MONTH})\b)`;

const PATTERNS: readonly Pattern[] = [
  sure(String.raw`\b[Mm]y (?:full |first |real )?name is ${NAME}`, "name is"),
  unsure(String.raw`\b(?:[Yy]ou can |[Pp]lease |[Jj]ust )?[Cc]all me ${NAME}`, "name is"),
  unsure(String.raw`${I}(?:moved|relocated) to ${PLACE}`, "lives in"),
  unsure(String.raw`${I}liv(?:e|ing) in ${PLACE}`, "lives in"),
  unsure(String.raw`${I}based in ${PLACE}`, "lives in"),
  unsure(String.raw`${I}work(?:ing)? as an? ${WORDS}`, "works as"),
  unsure(String.raw`${I}work(?:ing)? (?:at|for) (?:the )?${PLACE}`, "works at"),
  sure(String.raw`\b[Mm]y e-?mail(?: address)? is ([\w.+-]+@[\w-]+(?:\.[\w-]+)+)`, "email is"),
  sure(
    String.raw`\b[Mm]y birthday is (?:on )?(?:the )?(?=[^,.!;:()…]*(?:\d|${MONTH}))${WORDS}`,
    "birthday is",
  ),
  unsure(String.raw`\bI was born (?:on|in) ${WORDS}`, "born in"),
  sure(String.raw`${I}allergic to ${WORDS}`, "is allergic to"),
  sure(String.raw`${I}(vegan|vegetarian|pescatarian|left-handed|colou?r-?blind)(?![-\p{L}])`, "is"),
  sure(String.raw`${I}speak (?!(?:${DAY}|${MONTH})\b)(\p{Lu}\p{L}+)`, "speaks"),
  unsure(String.raw`\b[Mm]y ${ATTRIBUTE} is ${WORDS}`, (noun) => noun.toLowerCase()),
  unsure(
    String.raw`\b[Mm]y ${RELATIVE}(?:['’]s name)?(?: is)?(?: called| named)?,? ${NO_NAME}(\p{Lu}[\p{L}'’-]+)`,
    (noun) => `has ${noun.toLowerCase()}`,
  ),
  unsure(String.raw`\b[Ii]ch (?:wohne|lebe) in ${PLACE}`, "lives in"),
  sure(String.raw`\b[Ii]ch hei(?:ß|ss)e (?!(?:Sie|Dich|Euch)\b)${NAME}`, "name is"),
  unsure(String.raw`\b[Jj]['’]habite (?:à|en|au) ${PLACE}`, "lives in"),
  sure(String.raw`\b[Jj]e m['’]appelle ${NAME}`, "name is"),
  unsure(String.raw`\b[Vv]ivo en ${PLACE}`, "lives in"),
  sure(String.raw`\b[Mm]e llamo ${NAME}`, "name is"),
  unsure(String.raw`\b[Mm]oro (?:em|no|na) ${PLACE}`, "lives in"),
  unsure(String.raw`\b[Aa]bito a ${PLACE}`, "lives in"),
  sure(String.raw`\b[Mm]i chiamo ${NAME}`, "name is"),
  unsure(String.raw`\b[Ii]k woon in ${PLACE}`, "lives in"),
  sure(String.raw`\b[Ii]k heet ${NAME}`, "name is"),
];

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
      predicate: typeof predicate === "string" ? predicate : predicate(match[1] ?? ""),
      object,
      ...doubt,
    };
  }
  return null;
}
