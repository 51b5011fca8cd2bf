/** Words for a person by what they are to the speaker. Those of a row may mean the same person; others do not. English. */
const RELATIVES = [
  ["mother", "mum", "mom", "parent"],
  ["father", "dad", "parent"],
  ["sister", "sibling"],
  ["brother", "sibling"],
  ["son", "kid", "child"],
  ["daughter", "kid", "child"],
  ["partner", "wife", "husband", "spouse", "girlfriend", "boyfriend"],
  ["gran", "grandma", "granny", "grandmother"],
  ["grandpa", "grandad", "granddad", "grandfather"],
  ["flatmate", "roommate"],
  ["neighbour", "neighbor"],
  ..."aunt uncle cousin niece nephew grandson granddaughter friend boss colleague landlord tenant"
    .split(" ")
    .map((word) => [word]),
];
const WORD = `(${[...new Set(RELATIVES.flat())].join("|")})(?:s|ren)?`;
const RELATIVE = new RegExp(String.raw`\b${WORD}\b`, "gi");
const OF_THE_SPEAKER = new RegExp(String.raw`^(?:my|our|his|her|their)\s+(?:\w+\s+)?${WORD}\b`, "i");
/** The relatives that a question names, in lower case. */
export const relativesIn = (question: string): string[] =>
  [...question.matchAll(RELATIVE)].flatMap(([, word]) => word?.toLowerCase() ?? []);

/** The relative of the speaker whom a statement is about; null if it does not begin with one. */
export const relativeIn = (text: string): string | null =>
  OF_THE_SPEAKER.exec(text)?.[1]?.toLowerCase() ?? null;

export const mayBeSame = (a: string, b: string): boolean =>
  RELATIVES.some((words) => words.includes(a) && words.includes(b));
