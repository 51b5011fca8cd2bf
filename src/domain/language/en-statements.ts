import type { StatementWords } from "./memory-words.ts";

const DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
const I = String.raw`\bI(?:['’]ve| have|['’]m| am)?\s+(?:just |recently |currently |now |also |still )?`;
/** The things that "my … is …" states of the user: anything else may be a thing of the conversation, such as "my app". */
const ATTRIBUTE = String.raw`(favou?rite \p{L}+|home ?town|native language|mother tongue|nationality|occupation|profession|job title|phone number|time ?zone|star sign|blood type|shoe size|pronouns)`;
/** A person or an animal of the user's, before its name. */
const RELATIVE = String.raw`((?:best |older |younger |elder |little |big )?(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|sister|brother|mother|mum|mom|father|dad|son|daughter|grandmother|grandfather|gran|grandma|grandpa|aunt|uncle|cousin|niece|nephew|friend|dog|cat|puppy|kitten|rabbit|horse|boss|manager))`;
/** Words with a capital letter that follow a relative and are no name. */
const NO_NAME = String.raw`(?!(?:I|${DAY}|${MONTH})\b)`;

export const statements: StatementWords = {
  patterns: [
    { says: String.raw`\b[Mm]y (?:full |first |real )?name is <name>`, predicate: "name is" },
    {
      says: String.raw`\b(?:[Yy]ou can |[Pp]lease |[Jj]ust )?[Cc]all me <name>`,
      predicate: "name is",
      isDoubtful: true,
    },
    { says: `${I}(?:moved|relocated) to <place>`, predicate: "lives in", isDoubtful: true },
    { says: `${I}liv(?:e|ing) in <place>`, predicate: "lives in", isDoubtful: true },
    { says: `${I}based in <place>`, predicate: "lives in", isDoubtful: true },
    { says: `${I}work(?:ing)? as an? <value>`, predicate: "works as", isDoubtful: true },
    { says: `${I}work(?:ing)? (?:at|for) (?:the )?<place>`, predicate: "works at", isDoubtful: true },
    {
      says: String.raw`\b[Mm]y e-?mail(?: address)? is ([\w.+-]+@[\w-]+(?:\.[\w-]+)+)`,
      predicate: "email is",
    },
    {
      says: String.raw`\b[Mm]y birthday is (?:on )?(?:the )?(?=[^,.!;:()…]*(?:\d|${MONTH}))<value>`,
      predicate: "birthday is",
    },
    { says: String.raw`\bI was born (?:on|in) <value>`, predicate: "born in", isDoubtful: true },
    { says: `${I}allergic to <value>`, predicate: "is allergic to" },
    {
      says: String.raw`${I}(vegan|vegetarian|pescatarian|left-handed|colou?r-?blind)(?![-\p{L}])`,
      predicate: "is",
    },
    { says: String.raw`${I}speak (?!(?:${DAY}|${MONTH})\b)(\p{Lu}\p{L}+)`, predicate: "speaks" },
    { says: String.raw`\b[Mm]y ${ATTRIBUTE} is <value>`, predicate: "<noun>", isDoubtful: true },
    {
      says: String.raw`\b[Mm]y ${RELATIVE}(?:['’]s name)?(?: is)?(?: called| named)?,? ${NO_NAME}(\p{Lu}[\p{L}'’-]+)`,
      predicate: "has <noun>",
      isDoubtful: true,
    },
  ],
  endsOfValue:
    "and|but|because|so|which|who|that|where|when|while|since|with|from|for|in|at|on|near|last|this|next|now",
  inPlaces: "of|upon",
  verbEnds: "ve|'m|im",
};
