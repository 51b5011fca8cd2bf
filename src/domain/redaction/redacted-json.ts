/** All matches of `expression` become `as`. */
export type Redaction = { expression: RegExp; as: string };

/** An id of Cairn is no text: a pattern of digits must not break one. */
const ID = /^(?:[\w-]{22}\.)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Characters that all matches of one text may put in: a match of one character would make a text ten times as long. */
const PUT_IN = 1024 * 1024;

/**
 * A JSON text whose strings are without what the patterns match; null if more would be put in than `PUT_IN`. Names of fields stay, and so
 * do numbers and ids of Cairn. All else keeps its bytes. A text that is no JSON comes back as it is, or broken as before.
 */
export function redactedJson(json: string, redactions: readonly Redaction[]): string | null {
  if (redactions.length === 0) return json;
  let left = PUT_IN;
  const put = (as: string) => ((left -= as.length) < 0 ? "" : as);
  const parts: string[] = [];
  let kept = 0;
  for (let start = json.indexOf('"'); start !== -1;) {
    const end = endOfString(json, start);
    if (end === -1) break;
    if (!isName(json, end)) {
      const raw = json.slice(start, end);
      const fresh = redactedString(raw, redactions, put);
      if (fresh !== raw) {
        parts.push(json.slice(kept, start), fresh);
        kept = end;
      }
    }
    if (left < 0) return null;
    start = json.indexOf('"', end);
  }
  return kept === 0 ? json : parts.concat(json.slice(kept)).join("");
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

function redactedString(raw: string, redactions: readonly Redaction[], put: (as: string) => string): string {
  const text = raw.includes("\\") ? parsed(raw) : raw.slice(1, -1);
  if (text === null || ID.test(text)) return raw;
  const fresh = redactions.reduce(
    (said, { expression, as }) => said.replace(expression, () => put(as)),
    text,
  );
  return fresh === text ? raw : JSON.stringify(fresh);
}

function parsed(raw: string): string | null {
  try {
    // A JSON string.
    return JSON.parse(raw) as string;
  } catch {
    return null;
  }
}
