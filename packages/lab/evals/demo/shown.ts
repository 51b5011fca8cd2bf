// The demo's view of an answer: the hits, and a mark on the one that holds the evidence.

/** A hit as it is shown: where it is from, and what it says. */
export type ShownHit = { source: string; text: string; found: string; right: boolean };

/** Hits that are shown of each answer, and the first right one if it comes later. */
const FIRST = 3;
/** Longer texts are shown as a passage of about this many characters. */
const PASSAGE = 400;
const INDENT = 15;

/** The lines that show an answer's hits. A text is wrapped and never cut before the end of its passage. */
export function shownHits(
  hits: readonly ShownHit[],
  { query, width, evidence }: { query: string; width: number; evidence: readonly string[] },
): string[] {
  const right = hits.findIndex((hit) => hit.right);
  const shown = hits.map((hit, i) => ({ ...hit, rank: i + 1 })).filter((_, i) => i < FIRST || i === right);
  const lines = shown.flatMap(({ rank, source, text, found, right: isRight }) => {
    const head = `${isRight ? "  ✓" : "   "} ${String(rank).padStart(2)}  ${source.padEnd(7)}`.padEnd(INDENT);
    const [first = "", ...more] = wrapped(`${passage(text, query)} (${found})`, width - INDENT);
    return [`${head}${first}`, ...more.map((line) => " ".repeat(INDENT) + line)];
  });
  if (right === -1 && evidence.length > 0)
    lines.push(
      `  ✗     none of the first ${hits.length} holds the answer, which is in ${evidence.join(" and ")}`,
    );
  return lines;
}

/** The text, or of a long one the part that has the most of the query's words. */
export function passage(text: string, query: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= PASSAGE) return line;
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
  const starts = [0, ...Array.from(line.matchAll(/[.!?] /g), ({ index }) => index + 2)];
  const score = (start: number): number => {
    const part = line.slice(start, start + PASSAGE).toLowerCase();
    return [...words].filter((word) => part.includes(word)).length;
  };
  const best = starts.reduce((before, start) => (score(start) > score(before) ? start : before), 0);
  const part = line.slice(best, best + PASSAGE);
  return `${best > 0 ? "… " : ""}${part}${best + PASSAGE < line.length ? " …" : ""}`;
}

/** Breaks a text into lines at its spaces. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
