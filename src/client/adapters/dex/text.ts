// How what is stored is shown to a model: as data, which cannot pass for what stands around it. The same rules as those of
// Cairn's MCP server (src/mcp/text.ts); a test holds them together.

/** Characters of one memory in a list. */
const ITEM = 1_500;

/** Text as it may stand between memory tags: it cannot close them, nor open others. */
export const inert = (text: string): string => text.replaceAll(/<(?=\s*(?:\/\s*)?memory\b)/gi, "&lt;");

const MARGIN = 1_000;
const BLANKS = /[\s\u0085]+/g;
const BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

/** Text on one line of a list, so that it cannot look like another item. At most `most` characters of it. */
export function oneLine(text: string, most = ITEM): string {
  const whole = text.trim();
  const start = whole.slice(0, most + MARGIN);
  const line = start.replaceAll(BLANKS, (blanks) => (BREAK.test(blanks) ? " ⏎ " : blanks));
  if (line.length <= most && start.length === whole.length) return line;
  // A pair of surrogates is not cut in the middle.
  return `${line.slice(0, most).replace(/[\ud800-\udbff]$/, "")}… (cut)`;
}

/** A name of the caller's in quotes: what is in it cannot be taken for what stands around it. */
export const quoted = (name: string): string => oneLine(JSON.stringify(name), name.length * 6 + 2);

/** The day of a time in UTC, as `2026-11-22`. */
export const day = (time: number): string => new Date(time).toISOString().split("T")[0] ?? "";

const SECOND = 1000;
const UNITS = [
  ["d", 86_400 * SECOND],
  ["h", 3_600 * SECOND],
  ["m", 60 * SECOND],
  ["s", SECOND],
] as const;

/** How long ago something was, as `5m ago`; what is to come is now. */
export function ago(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ["s", SECOND];
  return `${Math.max(0, Math.floor(ms / size))}${unit} ago`;
}
