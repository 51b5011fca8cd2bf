/** Characters that one match may have, and one repetition. */
const [LONGEST_MATCH, LONGEST_REPETITION] = [128, 64];

/** One of some characters, or of some classes, `least` to `most` times. */
type Repeated = { characters: readonly string[]; classes: readonly string[]; least: number; most: number };
/** `edge`: the beginning or the end of a word. */
type Element = Repeated | "edge";
/** A part of a pattern, and the place behind it; or what is wrong there. */
type Parsed<T> = (T & { end: number }) | string;

const CLASSES: Readonly<Record<string, string>> = {
  d: String.raw`\p{Nd}`,
  w: String.raw`\p{L}\p{M}\p{Nd}_`,
  s: String.raw`\s`,
};
const WORD = `[${CLASSES.w}]`;
const EDGE = `(?:(?<!${WORD})(?=${WORD})|(?<=${WORD})(?!${WORD}))`;

/**
 * The regular expression of a tenant's pattern, or what is wrong with it. The language is the part of regular expressions whose work is
 * linear in the text: characters, `\d`, `\w`, `\s`, sets in brackets, `{n}`, `{n,m}`, `?` and `\b`, without regard to case. A match has
 * an end, and no character of a repetition belongs to what may follow it: there is one way to match, and no other is tried.
 */
export function compiled(pattern: string): RegExp | string {
  const elements = elementsOf(Array.from(pattern));
  if (typeof elements === "string") return elements;
  const sets = elements.filter((element) => element !== "edge");
  if (sets.every(({ least }) => least === 0)) return "matches the empty text";
  if (sets.reduce((sum, { most }) => sum + most, 0) > LONGEST_MATCH)
    return `matches more than ${LONGEST_MATCH} characters`;
  for (const [i, set] of sets.entries())
    for (const next of set.least === set.most ? [] : sets.slice(i + 1)) {
      if (overlap(set, next))
        return "is ambiguous: a character of a repetition may also belong to what follows it, so the work would grow with more than the text";
      if (next.least > 0) break;
    }
  return new RegExp(
    elements
      .map((element) =>
        element === "edge" ? EDGE : `${sourceOf(element)}{${element.least},${element.most}}`,
      )
      .join(""),
    "giu",
  );
}

function elementsOf(pattern: readonly string[]): Element[] | string {
  const elements: Element[] = [];
  for (let at = 0; at < pattern.length;) {
    if (pattern[at] === "\\" && pattern[at + 1] === "b") {
      elements.push("edge");
      at += 2;
      continue;
    }
    const set = pattern[at] === "[" ? setAt(pattern, at + 1) : memberAt(pattern, at);
    if (typeof set === "string") return set;
    const times = timesAt(pattern, set.end);
    if (typeof times === "string") return times;
    elements.push({ ...set, ...times });
    at = times.end;
  }
  return elements;
}

type Members = Pick<Repeated, "characters" | "classes">;

/** One character or class. */
function memberAt(pattern: readonly string[], at: number, reserved = /[.*+?^$|()[\]{}]/u): Parsed<Members> {
  const character = pattern[at] ?? "";
  if (character !== "\\")
    return reserved.test(character)
      ? `has ${character} at ${at + 1}, which the language does not have: put \\ before it for the character itself`
      : { characters: [character], classes: [], end: at + 1 };
  const escaped = pattern[at + 1] ?? "";
  if (escaped in CLASSES) return { characters: [], classes: [escaped], end: at + 2 };
  return /[\p{L}\p{N}]/u.test(escaped) || escaped === ""
    ? `has \\${escaped} at ${at + 1}, which the language does not have: it has \\d, \\w, \\s and \\b`
    : { characters: [escaped], classes: [], end: at + 2 };
}

/** The members of a set, from behind its bracket on. */
function setAt(pattern: readonly string[], start: number): Parsed<Members> {
  const set = { characters: [] as string[], classes: [] as string[] };
  let at = start;
  while (at < pattern.length && pattern[at] !== "]") {
    const member = memberAt(pattern, at, /[[^]/u);
    if (typeof member === "string") return member;
    at = member.end;
    const [from] = member.characters;
    if (pattern[at] === "-" && from !== undefined && at + 1 < pattern.length && pattern[at + 1] !== "]") {
      const to = pattern[at + 1] ?? "";
      if (!RANGES.some((range) => range.test(from) && range.test(to)) || from > to)
        return `has the range ${from}-${to}: a range is of digits, or of letters from a to z of one case`;
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++)
        set.characters.push(String.fromCharCode(code));
      at += 2;
      continue;
    }
    set.characters.push(...member.characters);
    set.classes.push(...member.classes);
  }
  if (at >= pattern.length) return "has a [ without its ]";
  return at === start ? "has a set of no characters" : { ...set, end: at + 1 };
}

const RANGES = [/^[0-9]$/, /^[a-z]$/, /^[A-Z]$/];

function timesAt(pattern: readonly string[], at: number): Parsed<{ least: number; most: number }> {
  if (pattern[at] === "?") return { least: 0, most: 1, end: at + 1 };
  if (pattern[at] !== "{") return { least: 1, most: 1, end: at };
  const close = pattern.indexOf("}", at);
  const [, least, most = least] =
    /^(\d{1,3})(?:,(\d{1,3}))?$/.exec(pattern.slice(at + 1, Math.max(close, at)).join("")) ?? [];
  if (least === undefined) return "has a { that is neither {n} nor {n,m}: a repetition has an end";
  const times = { least: Number(least), most: Number(most) };
  if (times.most > LONGEST_REPETITION || times.most < Math.max(1, times.least))
    return `has {${least},${most}}: a repetition is of 1 to ${LONGEST_REPETITION} characters at most`;
  return { ...times, end: close + 1 };
}

const sourceOf = ({ characters, classes }: Members): string =>
  `[${[
    ...classes.map((one) => CLASSES[one]),
    ...characters.map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`),
  ].join("")}]`;

/** True if a character may belong to both. */
function overlap(one: Members, other: Members): boolean {
  const isOf = ({ classes }: Members, names: string) => classes.some((name) => names.includes(name));
  if ((isOf(one, "dw") && isOf(other, "dw")) || (isOf(one, "s") && isOf(other, "s"))) return true;
  const [a, b] = [one, other].map((set) => new RegExp(`^${sourceOf(set)}$`, "iu"));
  return one.characters.some((c) => b?.test(c)) || other.characters.some((c) => a?.test(c));
}
