import { fieldsOf } from "../language/fields.ts";
import { standingValues } from "../language/words.ts";
import { contentStems, stem } from "../memory/content-stems.ts";
import { folded } from "../ranking/fold.ts";
import type { Instruction } from "./item.ts";

const STANDING_WORDS = fieldsOf("standing");
/** Values of which one holds at a time. The name that follows "call me" is one. Folded. */
const VALUES: readonly RegExp[] = standingValues.map(
  (kind) =>
    new RegExp(
      String.raw`\b(?:${STANDING_WORDS.flatMap(({ values }) => values[kind] ?? []).join("|")})`,
      "gu",
    ),
);
/** Words of an instruction that do not say what it is about. Folded. */
const NO_MATTER = new Set(STANDING_WORDS.flatMap(({ noMatter }) => noMatter.split(/\s+/u)).map(stem));
/** Begins to say when an instruction holds. */
const CONDITION = new RegExp(
  String.raw`\b(?:${STANDING_WORDS.map(({ conditions }) => conditions).join("|")})\b`,
  "u",
);
/** Says what is not to be. Folded. */
const AGAINST = new RegExp(
  String.raw`\b(?:${STANDING_WORDS.map(({ against }) => against).join("|")})\b`,
  "u",
);

/** `words`: all its words. */
type Matter = { about: string; condition: string; values: string; isAgainst: boolean; words: string };

/**
 * Leaves out what a later one replaces where that is plain: both are about the same, with another value ("answer in German") or for
 * and against ("no longer use emojis"), under the same condition ("when I ask about cars"). `latestFirst`: in that order.
 * `isRepeated`: the one that it replaces has the same words.
 */
export function latestInstructions<One extends { instruction: Pick<Instruction, "text" | "isRepeated"> }>(
  latestFirst: readonly One[],
): One[] {
  const matters = latestFirst.map(({ instruction }) => matterOf(instruction.text));
  return latestFirst.flatMap((one, i) => {
    const matter = matters[i];
    if (matter === undefined || matters.slice(0, i).some((later) => replaces(later, matter))) return [];
    const before = matters.slice(i + 1).find((earlier) => replaces(matter, earlier));
    if (before?.words !== matter.words) return [one];
    return [{ ...one, instruction: { ...one.instruction, isRepeated: true } }];
  });
}

/** The words of an instruction, equal for one that says it again. */
export const wordsOf = (instruction: string): string =>
  folded(instruction)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

function replaces(later: Matter, earlier: Matter): boolean {
  if (later.words === earlier.words) return true;
  if (later.about === "" || later.about !== earlier.about) return false;
  // "Never answer in French" says no other language.
  const isOfAll = !(later.isAgainst || earlier.isAgainst) || later.values === earlier.values;
  // Against a thing without a condition is against it under any. A value may have an exception.
  const endsAll = later.condition === "" && later.isAgainst && later.values === "";
  return isOfAll && (later.condition === earlier.condition || endsAll);
}

function matterOf(instruction: string): Matter {
  const plain = folded(instruction);
  const { condition, rest } = withoutCondition(plain);
  const matches = VALUES.map((one) => [...rest.matchAll(one)]);
  const values = matches.flat();
  const first = Math.min(rest.length, ...values.map(({ index }) => index));
  const without = VALUES.reduce((text, one) => text.replaceAll(one, " "), rest);
  const ofValues = matches.flatMap(({ length }, i) => (length > 0 ? [`#${i}`] : []));
  return {
    about: [...ofValues, ...stemsOf(without)].join(" "),
    condition: stemsOf(condition).join(" "),
    values: values.map(([value]) => stemsOf(value).join(" ") || value).join(", "),
    isAgainst: AGAINST.test(rest.slice(0, first)),
    words: wordsOf(instruction),
  };
}

/** A condition in front ends at its comma, and another one at the end. */
function withoutCondition(plain: string): { condition: string; rest: string } {
  const start = plain.search(CONDITION);
  if (start < 0) return { condition: "", rest: plain };
  const comma = stemsOf(plain.slice(0, start)).length === 0 ? plain.indexOf(",", start) : -1;
  const end = comma < 0 ? plain.length : comma;
  return { condition: plain.slice(start, end), rest: plain.slice(0, start) + plain.slice(end) };
}

const stemsOf = (text: string): string[] =>
  [...new Set(contentStems(text))].filter((one) => !NO_MATTER.has(one)).toSorted();
