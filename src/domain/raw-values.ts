/**
 * The parts of a JSON document in the text that they were written in. A parse and a print would lose numbers beyond a
 * double, `1.0`, the order of keys like "2", and would make `1e20` longer. The document must be valid JSON: parse first.
 */

/** The elements of the array that an object has under this key; of a repeated key, the last one, as JSON.parse has it. */
export function rawElements(object: string, key: string): string[] {
  const array = rawField(object, key);
  return array === undefined ? [] : members(array);
}

/** The value that an object has under this key. */
export function rawField(object: string, key: string): string | undefined {
  let found: string | undefined;
  for (const member of members(object)) {
    const end = stringEnd(member, 0);
    if (JSON.parse(member.slice(0, end)) === key) found = member.slice(member.indexOf(":", end) + 1).trim();
  }
  return found;
}

/** The nesting depth of objects and arrays in a JSON text; 1 for one of plain values. */
export function depth(json: string): number {
  let deepest = 0;
  scan(json, 0, (_, level) => {
    deepest = Math.max(deepest, level);
  });
  return deepest;
}

/** The refusal of a text with such a number. */
export const INEXACT = "holds a number that would come back with other digits; send it as a string";

/** True where a JSON text holds an integer that a parse and a print make another one, or a number beyond the largest double. */
export const hasInexactNumber = (json: string): boolean => inexactNumbers(json).next().done !== true;

/** The JSON text with each such number as a string of its digits. */
export function inexactAsText(json: string): string {
  let text = "";
  let from = 0;
  for (const { at, literal } of inexactNumbers(json)) {
    text += `${json.slice(from, at)}"${literal}"`;
    from = at + literal.length;
  }
  return text + json.slice(from);
}

function* inexactNumbers(json: string): Generator<{ at: number; literal: string }, void> {
  const token = /"|-?\d[\d.eE+-]*/g;
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [literal] = match;
    if (literal === '"') token.lastIndex = stringEnd(json, match.index);
    else if (isInexact(literal)) yield { at: match.index, literal };
  }
}

/** An integer is kept if it is printed with the digits that it had: 2 ** 53 is, 2 ** 60 as Python prints it is not. */
function isInexact(literal: string): boolean {
  const number = Number(literal);
  const [integer] = /^-?\d+(?=(?:\.0+)?$)/.exec(literal) ?? [];
  if (integer === undefined || Number.isSafeInteger(number)) return !Number.isFinite(number);
  return integer !== String(number);
}

/** The texts between the commas of an object or array. */
function members(json: string): string[] {
  const found: string[] = [];
  let start = json.search(/[[{]/) + 1;
  scan(json, start - 1, (at, level) => {
    const closes = level === 0;
    if (!closes && !(level === 1 && json[at] === ",")) return;
    const member = json.slice(start, at).trim();
    if (member !== "") found.push(member);
    start = at + 1;
  });
  return found;
}

/** Walks over the punctuation of a JSON text from `at` on, with the level of nesting that holds after it. */
function scan(json: string, at: number, see: (at: number, level: number) => void): void {
  const mark = /["[\]{},]/g;
  mark.lastIndex = at;
  let level = 0;
  for (let match = mark.exec(json); match !== null; match = mark.exec(json)) {
    if (match[0] === '"') {
      mark.lastIndex = stringEnd(json, match.index);
      continue;
    }
    if (match[0] === "{" || match[0] === "[") level++;
    if (match[0] === "}" || match[0] === "]") level--;
    see(match.index, level);
    if (level === 0) return;
  }
}

/** Behind the string that begins at the first quote from `at` on. */
function stringEnd(json: string, at: number): number {
  const stop = /["\\]/g;
  stop.lastIndex = json.indexOf('"', at) + 1;
  for (let match = stop.exec(json); match !== null; match = stop.exec(json)) {
    if (match[0] === '"') return match.index + 1;
    stop.lastIndex = match.index + 2;
  }
  return json.length;
}
