/**
 * A type of answer: how a question asks for it, and how a text that has one looks. Types without a mark of their own (a school,
 * a breed) are not here. English, as the embedded model is.
 */
type AnswerType = {
  asks: RegExp;
  has: RegExp;
  /** A line without it may be an answer too: it ranks lower, and the confidence does not count it. */
  isWeak?: true;
  /** An amount, which the number of a day or an hour is not. */
  isAmount?: true;
};

const NUMBER = String.raw`\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|dozen|half|once|twice|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|no|none)\b`;
const TIME = String.raw`\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|today|tonight|tomorrow|yesterday|noon|midnight|morning|evening|afternoon|night|weekend|week|month|year|spring|summer|autumn|winter|christmas|easter|ago|last|next|since|until|before|after|half past|quarter|(?:at|past|to) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b`;
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*";
/** A day or an hour, whose number is no amount: "12 January", "at 8:15", "between 8 and 12". */
const OF_DAY = new RegExp(
  String.raw`\b\d{1,2}(?:st|nd|rd|th)?\s${MONTH}\b|\b${MONTH}\s\d{1,2}\b|\b\d{1,2}[:.]\d\d\s?(?:am|pm|h)?\b(?!\s?[€$£])|\bbetween \d{1,2} and \d{1,2}\b`,
  "gi",
);
/** A name inside a sentence, behind a title, or at its beginning before a verb or a noun: "Wes bakes", "Annika's phone", "Mum: …". */
const NAME = String.raw`\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.?\s\p{Lu}|(?<=[\p{L}\p{N},;:'’)–-]\s)(?!I\b)\p{Lu}\p{L}+|^\p{Lu}\p{L}+(?:['’]s\b|:|\s(?:\p{Lu}|\p{Ll}+s\b|is\b|has\b|was\b|will\b|and\b|can\b|said\b))`;
const CURRENCY = String.raw`[€$£¥]|\b(?:euros?|dollars?|pounds?|pence|cents?|eur|usd|gbp|chf|bucks|kr|crowns?|francs?|yen|free)\b|\b\d+p\b`;
const UNIT = String.raw`am|pm|feet|foot|ft|km|miles?|m|cm|mm|kg|g|years?|minutes?|hours?|days?|weeks?|%|percent`;

/** A line that mends a fault, or tells its cause. */
const MEND =
  /\b(?:fix(?:ed|es|ing)?|solved?|solves|solution|resolved?|resolves|mend(?:ed|s)?|repaired|caus(?:e[ds]?|ing)|because|came from|comes from|due to|root cause|turned out|workaround|helps?|helped|gone|the (?:trouble|problem|reason|culprit|fault) (?:was|is)|brings? (?:it |\w+ \w+ )?back|works? (?:again|now)|(?:must|has to|have to|should|needs? to) be|restart(?:ed|ing)?|upgrad(?:e[ds]?|ing)|reinstall(?:ed)?|rolled back|revert(?:ed)?|by (?:setting|running|adding|removing))\b/i;

const types: readonly AnswerType[] = [
  // Money. A number without a currency will do if it is no time, year or measure.
  {
    asks: /\bhow much (?:is|are|was|were|money|did we pay|do (?:i|we) (?:pay|owe))\b|\b(?:what|how much) (?:does|did|do|will) .{1,80} (?:cost|pay|charge|earn)\b|\b(?:price|salary|rent|fees?|deposit|budget)\b/i,
    has: new RegExp(
      `${CURRENCY}|(?<![:.\\d])\\b(?!(?:19|20)\\d\\d\\b)\\d{2,}\\b(?!:\\d|\\s*(?:${UNIT})\\b)`,
      "i",
    ),
    isAmount: true,
  },
  // Age.
  {
    isAmount: true,
    asks: /\bhow old\b|\bwhat age\b/i,
    has: /\byears? old|\bborn\b|\bturn(?:s|ed|ing)?\b|\baged?\b|\bis (?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|\b\d{1,3}(?: years)?\b(?!\d|:| ?(?:am|pm|%|euros?|pounds|dollars))/i,
  },
  { asks: /\be-?mails?\b(?!\s+(?:app|client|list|program|provider|reader))/i, has: /@/ },
  {
    asks: /\b(?:phone|mobile|telephone|cell)\b(?= number| of|\?|$)|\b(?:phone|telephone|mobile) number\b/i,
    has: /\b(?!(?:19|20)\d\d\b)\d[\d\s()/-]{2,}\d/,
  },
  {
    asks: /\bwho is .{0,40}(?:wife|husband|spouse)\b|\bname of .{0,40}(?:wife|husband)\b|\bmarried\b/i,
    has: /\b(?:wife|husband|spouse|marr(?:y|ied)|wedding|widow\w*)\b/i,
  },
  { asks: /\bbirthday\b|\bdate of birth\b/i, has: /\bbirthday|\bborn\b|\bturns\b/i },
  // A code or an identity number: letters with digits, a long number that is no year, or something quoted. "To edit code" asks for none.
  {
    asks: /\b(?:passwords?|passcode|pin|postcode)\b|(?<!\bto \w+ )\bcode(?:$| (?:of|for|to)\b)|\b(?:serial|reference|policy|account|booking|confirmation|licen[cs]e|docket|passport|card|customer|invoice)\b.{0,12}\bnumber\b|\bnumber plate\b/i,
    has: /\b(?=\w*\d)(?=\w*\p{L})[\p{L}\d]+\b|\p{L}-\d|\d-\p{L}|\d-\d|\b(?!(?:19|20)\d\d\b)\d{3,}\b|\w-\w+-\w|["“][^"“”]+["”]|\b(?:password|code|pin|passcode) is\b/u,
  },
  {
    asks: /\bhow (?:many|tall|high|heavy|big|far|fast|wide|deep|large|hot|warm)\b|\bhow much .{1,80}\bweigh\b|\b(?:weight|height|capacity|percentage|distance|size)\b/i,
    has: new RegExp(`${NUMBER}|\\b(?:small|medium|large|xl|xs)\\b`, "i"),
  },
  {
    asks: /\bhow long\b/i,
    has: /\d|\b(?:minutes?|hours?|days?|weeks?|months?|years?|since|until|seconds?)\b/i,
  },
  {
    asks: /\bhow often\b/i,
    has: /\b(?:every|each|daily|weekly|monthly|yearly|annually|times|once|twice|per|always|never|\w+days)\b/i,
  },
  // "When did" is not here: the time at which a thing was said answers it.
  {
    asks: /(?:^|[,.:;!?–—]\s*|\b(?:and|since|until|know|remember) )when (?:is|are|do|does|will|can|shall|must|should)\b|\b(?:what|which|on what|on which|at what) (?:day|date|month|year|time|weekday)\b/i,
    has: new RegExp(`\\d|${TIME}`, "i"),
  },
  {
    asks: /\bcolou?r\b/i,
    has: /\b(?:red|green|blue|yellow|white|black|gr[ae]y|brown|pink|purple|violet|orange|turquoise|beige|cream|gold|silver|navy|teal|olive|mint|lilac|ochre|ivory|crimson|maroon|anthracite|burgundy|charcoal|terracotta|copper|bronze|indigo|khaki|mustard|peach|rose|rust|sand|scarlet|tan|lime|\w+ish|colou?r\w*)\b/i,
  },
  {
    asks: /^(?:and |so |but )?who(?:m|se)?\b/i,
    has: new RegExp(
      `${NAME}|\\b(?:mother|father|mum|mom|dad|sister|brother|aunt|uncle|cousin|friend|neighbou?r|boss|colleague|teacher|doctor|wife|husband|son|daughter|gran\\w*|we|I|i|me|my|they|she|he|team|company|family|couple|people|man|woman|guy|girl|boy|lad|lady|belongs to)\\b`,
      "u",
    ),
  },
  // The cause of a fault, or its mend.
  {
    asks: /\b(?:causes?|caused|fix(?:ed|es)?|solve[ds]?|solution|resolved?|mend(?:ed)?|workaround|get rid of|reason for)\b|^why (?:did|do|does|is|was|were|are) .{0,80}\b(?:fail\w*|crash\w*|break|broken?|error\w*|slow|down|stuck|flaky|hang\w*|leak\w*)\b/i,
    has: MEND,
  },
  // A code of capitals and digits, or an error, is a fault.
  {
    asks: /\b[A-Z]{3,}_[A-Z\d_]{2,}\b|\b[A-Z]{1,6}-?\d{3,}\b|\b[Ee]rror\b|\b[Ee]xception\b|\b\w+(?:Error|Exception)\b/,
    has: MEND,
    isWeak: true,
  },
];

/** True if a question asks for a value: a number, a time, a name. "How do I fix this?" asks for none. English. */
export const asksForValue = (question: string): boolean =>
  types.some(({ asks, has }) => has !== MEND && asks.test(question));

const OF_TIME = new RegExp(`^(?:\\d{1,2}|${TIME})$`, "i");
/** True for a word that is a part of a time: a weekday, a month, an hour. */
export const isOfTime = (word: string): boolean => OF_TIME.test(word);

/**
 * Tells of a text if it lacks a type of answer that a question asks for; with `weak`, also one that it need not have. Many texts
 * are tested: the question is read once.
 */
export function typeTest(question: string, { weak = false } = {}): (text: string) => boolean {
  const all = types.filter(({ asks, isWeak }) => (weak || isWeak !== true) && asks.test(question));
  // "How much did it cost to fix the boiler?" asks for a price, and for no mend.
  const others = all.filter(({ has }) => has !== MEND);
  const typesOfQuestion = others.length > 0 ? others : all;
  return (text) =>
    typesOfQuestion.some(
      ({ has, isAmount }) => !has.test(isAmount === true ? text.replaceAll(OF_DAY, "") : text),
    );
}
