/** All matches of `expression` become `as`. */
export type Redaction = { expression: RegExp; as: string };

/** An id of Cairn is no text: a pattern of digits must not break one. */
const ID = /^(?:[\w-]{22}\.)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Characters that all matches of one text may put in: a match of one character would make a text ten times as long. */
const PUT_IN = 1024 * 1024;

const NUMBER = /-?\d[\d.eE+-]*/gu;

/**
 * A JSON text whose strings are without what the patterns match; null if more would be put in than `PUT_IN`. Names of fields stay, and so
 * do numbers and ids of Cairn. All else keeps its bytes. A text that is no JSON comes back as it is, or broken as before. A string that
 * is JSON itself, such as the arguments of a tool, stays JSON: a name in it is redacted too, and a number that matches becomes a string.
 * It is no JSON any more if a pattern matches across its parts.
 */
export function redactedJson(json: string, redactions: readonly Redaction[]): string | null {
  if (redactions.length === 0) return json;
  let left = PUT_IN;
  const ofText = (text: string) =>
    redactions.reduce(
      (rest, { expression, as }) => rest.replace(expression, () => ((left -= as.length) < 0 ? "" : as)),
      text,
    );
  const ofNumber = (raw: string) => {
    const fresh = ofText(raw);
    return fresh === raw ? raw : JSON.stringify(fresh);
  };
  const inParts = (text: string): string =>
    replaced(text, { string: (raw) => ofString(raw), between: (some) => some.replace(NUMBER, ofNumber) });
  const ofString = (raw: string, isOutermost = false): string => {
    const text = raw.includes("\\") ? parsed(raw) : raw.slice(1, -1);
    if (typeof text !== "string" || ID.test(text)) return raw;
    const isNested = isJson(text);
    const parts = isNested ? inParts(text) : text;
    // A pattern may match a name with its value.
    const fresh = isNested && !isOutermost ? parts : ofText(parts);
    return fresh === text ? raw : JSON.stringify(fresh);
  };
  const fresh = replaced(json, {
    string: (raw, end) => (left < 0 || isName(json, end) ? raw : ofString(raw, true)),
    between: (some) => some,
  });
  return left < 0 ? null : fresh;
}

type Replacements = { string: (raw: string, end: number) => string; between: (text: string) => string };

/** A JSON text with other strings, and with other texts between them. */
function replaced(json: string, { string, between }: Replacements): string {
  const parts: string[] = [];
  let next = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', next)) {
    const end = endOfString(json, start);
    if (end === -1) break;
    parts.push(between(json.slice(next, start)), string(json.slice(start, end), end));
    next = end;
  }
  return parts.concat(between(json.slice(next))).join("");
}

/** The place behind a string that begins with the quote at `start`; -1 if it does not end. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === 0x22) return at + 1;
    if (character === 0x5c) at++;
  }
  return -1;
}

/** True if a string that ends here is the name of a field. */
function isName(json: string, end: number): boolean {
  let at = end;
  while (" \t\n\r".includes(json[at] ?? "x")) at++;
  return json[at] === ":";
}

/** True for an object or a list as JSON. Each level of JSON within JSON doubles the marks of its strings: there are few. */
const isJson = (text: string): boolean => /^\s*[[{]/u.test(text) && parsed(text) !== undefined;

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
