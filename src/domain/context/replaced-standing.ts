import { contentStems, stem } from "../memory/content-stems.ts";
import { folded } from "../ranking/fold.ts";

/** Values of which one holds at a time. The name that follows "call me" is one. Folded. */
const VALUES: readonly RegExp[] = [
  /\b(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|swedish|danish|norwegian|japanese|chinese|korean|arabic|hindi|englisch|deutsch|franzosisch|spanisch|italienisch|anglais|allemand|francais|espagnol|ingles|aleman|frances|espanol)\b/gu,
  /\b(?:british|american)\b/gu,
  /\b(?:(?:call|address) me|nenne? mich|appelle-moi|llamame)\b.*/gu,
  /\b(?:metric|imperial)\b/gu,
  /\b(?:celsius|fahrenheit)\b/gu,
  /\b(?:12|24|twelve|twenty-four)[- ]hour\b/gu,
  /\b(?:short|shorter|brief|concise|terse|long|(?<!no |any )longer|detailed|thorough)\b/gu,
  /\b(?:formal|informal|casual)(?:ly)?\b/gu,
];
/** Words of an instruction that do not say what it is about. Folded. */
const NO_MATTER = new Set(
  `actually add adding address again all always amount answer answering answers any anymore call can could don ever for
   forward from future give giving going henceforth i in include including instead just keep language like longer make
   me more must my need never no not now on onward onwards over please pls prefer preference provide quit rather reply
   replies respond responses should show speak stop sure talk than to use using want will with write writing you your
   antworte bitte immer jetzt mehr mir nie niemals stets kunftig ab désormais jamais reponds toujours ahora responde
   siempre nunca`
    .split(/\s+/u)
    .map(stem),
);
/** Says when an instruction holds. */
const CONDITION = /\b(?:when|whenever|if|unless|each time|every time|any ?time|wenn|quand|cuando)\b.*$/u;

type Matter = { about: string; condition: string; isValue: boolean };

/** An instruction or a preference, as it was said. */
type Said = { said: string };

/**
 * Leaves out what a later one replaces where that is plain: both are about the same, with another value ("answer in German") or for
 * and against ("no longer use emojis"), under the same condition ("when I ask about cars"). `latestFirst`: in that order.
 */
export function withoutReplaced<One extends Said>(latestFirst: readonly One[]): One[] {
  const later: Matter[] = [];
  return latestFirst.filter(({ said }) => {
    const matter = matterOf(said);
    const isReplaced = later.some((one) => replaces(one, matter));
    later.push(matter);
    return !isReplaced;
  });
}

/** Against a thing without a condition is against it under any. A value may have an exception. */
const replaces = (later: Matter, earlier: Matter): boolean =>
  later.about !== "" &&
  later.about === earlier.about &&
  (later.condition === earlier.condition || (later.condition === "" && !later.isValue));

function matterOf(said: string): Matter {
  const plain = folded(said);
  const condition = CONDITION.exec(plain)?.[0] ?? "";
  const rest = plain.slice(0, plain.length - condition.length);
  const values = VALUES.flatMap((one, i) => (rest.search(one) < 0 ? [] : [`#${i}`]));
  const without = VALUES.reduce((text, one) => text.replaceAll(one, " "), rest);
  return {
    about: [...values, ...stemsOf(without)].join(" "),
    condition: stemsOf(condition).join(" "),
    isValue: values.length > 0,
  };
}

const stemsOf = (text: string): string[] =>
  [...new Set(contentStems(text))].filter((one) => !NO_MATTER.has(one)).toSorted();
