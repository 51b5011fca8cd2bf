import { hidesSomething } from "./checks/characters.ts";
import { holdsSecret } from "./checks/secrets.ts";
import type { FactProposal, SourceMessage } from "./proposal.ts";
import { ownWords, sentencesOf } from "./own-words.ts";
import { classify } from "./statement.ts";

/** Characters of a message that are looked through: the patterns stand in what people type, not in long texts. */
const READ = 4_000;
/** The end of a value. */
const END = String.raw`(?=\s+(?:and|but|because|so|which|who|that|where|when|while|since|with|from|for|in|at|on|near|last|this|next|now|und|aber|et|mais|y|pero|e|mas|ma|en|maar|seit|depuis|desde|da|sinds)\b|[,.!;:()…]|$)`;
const NAME = String.raw`(\p{Lu}[\p{L}'’-]*(?:\s\p{Lu}[\p{L}'’-]*){0,2})`;
const PLACE = String.raw`(\p{Lu}[\p{L}.'’-]*(?:\s(?:de|da|do|of|la|el|am|an der|sur|upon)?\s?\p{Lu}[\p{L}.'’-]*){0,3})`;
const WORDS = String.raw`([\p{L}\p{N}][^,.!;:()…]{0,60}?)${END}`;
const I = String.raw`\bI(?:['’]ve| have|['’]m| am)?\s+(?:just |recently |currently |now |also |still )?`;

type Pattern = { says: RegExp; predicate: string | ((matched: string) => string); value: number };
const pattern = (says: string, predicate: Pattern["predicate"], value = 1, flags = "u"): Pattern => ({
  says: new RegExp(says, flags),
  predicate,
  value,
});

/** The things that "my … is …" states of the user: anything else may be a thing of the conversation, such as "my app". */
const ATTRIBUTE = String.raw`(favou?rite \p{L}+|home ?town|native language|mother tongue|nationality|occupation|profession|job title|phone number|time ?zone|star sign|blood type|shoe size|pronouns)`;
/** A person or an animal of the user's, before its name. */
const RELATIVE = String.raw`((?:best |older |younger |elder |little |big )?(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|sister|brother|mother|mum|mom|father|dad|son|daughter|grandmother|grandfather|gran|grandma|grandpa|aunt|uncle|cousin|niece|nephew|friend|dog|cat|puppy|kitten|rabbit|horse|boss|manager))`;
/** Words with a capital letter that follow a relative and are no name. */
const NO_NAME = String.raw`(?!(?:I|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December)\b)`;

const PATTERNS: readonly Pattern[] = [
  pattern(String.raw`\b[Mm]y (?:full |first |real )?name is ${NAME}`, "name is"),
  pattern(String.raw`\b(?:[Yy]ou can |[Pp]lease |[Jj]ust )?[Cc]all me ${NAME}`, "name is"),
  pattern(String.raw`${I}(?:moved|relocated) to ${PLACE}`, "lives in"),
  pattern(String.raw`${I}liv(?:e|ing) in ${PLACE}`, "lives in"),
  pattern(String.raw`${I}based in ${PLACE}`, "lives in"),
  pattern(String.raw`${I}work(?:ing)? as an? ${WORDS}`, "works as"),
  pattern(String.raw`${I}work(?:ing)? (?:at|for) (?:the )?${PLACE}`, "works at"),
  pattern(String.raw`${I}an? ${WORDS.replace(END, "")} by (?:trade|profession)`, "works as"),
  pattern(String.raw`\b[Mm]y e-?mail(?: address)? is ([\w.+-]+@[\w-]+(?:\.[\w-]+)+)`, "email is"),
  pattern(String.raw`\b[Mm]y birthday is (?:on )?(?:the )?${WORDS}`, "birthday is"),
  pattern(String.raw`\bI was born (?:on|in) ${WORDS}`, "born in"),
  pattern(String.raw`${I}allergic to ${WORDS}`, "is allergic to"),
  pattern(String.raw`${I}(vegan|vegetarian|pescatarian|left-handed|colou?r-?blind)\b`, "is"),
  pattern(String.raw`${I}speak (\p{Lu}\p{L}+)`, "speaks"),
  pattern(String.raw`\b[Mm]y ${ATTRIBUTE} is ${WORDS}`, (noun) => noun.toLowerCase(), 2),
  pattern(
    String.raw`\b[Mm]y ${RELATIVE}(?:['’]s name)?(?: is)?(?: called| named)?,? ${NO_NAME}(\p{Lu}[\p{L}'’-]+)`,
    (noun) => `has ${noun.toLowerCase()}`,
    2,
  ),
  pattern(String.raw`\b[Ii]ch (?:wohne|lebe) in ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Ii]ch hei(?:ß|ss)e ${NAME}`, "name is"),
  pattern(String.raw`\b[Jj]['’]habite (?:à|en|au) ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Jj]e m['’]appelle ${NAME}`, "name is"),
  pattern(String.raw`\b[Vv]ivo en ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Mm]e llamo ${NAME}`, "name is"),
  pattern(String.raw`\b[Mm]oro (?:em|no|na) ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Aa]bito a ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Mm]i chiamo ${NAME}`, "name is"),
  pattern(String.raw`\b[Ii]k woon in ${PLACE}`, "lives in"),
  pattern(String.raw`\b[Ii]k heet ${NAME}`, "name is"),
];

/**
 * Facts that the user states in a few sure patterns ("I moved to …", "my … is …"). They are candidates for review: a pattern does
 * not understand what it matches.
 */
export function candidatesIn(messages: readonly SourceMessage[]): FactProposal[] {
  const found = new Map<string, FactProposal>();
  for (const { seq, role, speaker, isOwner, text } of messages) {
    // Nobody knows who "I" is in the message of another user without a name.
    const subject = isOwner ? "user" : speaker;
    if (role !== "user" || subject === null) continue;
    for (const sentence of sentencesOf(ownWords(text.slice(0, READ))))
      for (const fact of factsIn(sentence, { subject, seq }))
        found.set(`${fact.predicate}\n${fact.object}\n${seq}`, fact);
  }
  return [...found.values()];
}

function factsIn(sentence: string, { subject, seq }: { subject: string; seq: number }): FactProposal[] {
  if (holdsSecret(sentence) || hidesSomething(sentence)) return [];
  const kind = classify(sentence);
  if (kind.isQuestion || kind.isHypothetical || kind.isReported || kind.isNegated || kind.isInstruction)
    return [];
  for (const { says, predicate, value } of PATTERNS) {
    const match = says.exec(sentence);
    const object = match?.[value]?.trim().replace(/[\s.,'’-]+$/u, "");
    if (match === null || object === undefined || object === "") continue;
    // The first pattern that matches is the most exact one.
    const named = typeof predicate === "string" ? predicate : predicate(match[1] ?? "");
    return [{ subject, predicate: named, object, sources: [seq] }];
  }
  return [];
}
