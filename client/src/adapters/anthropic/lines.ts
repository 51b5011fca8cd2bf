const WIDTH = 6;

/** Lines as a model sees them: their numbers from `first` on, six wide, and a tab. */
export const numbered = (lines: readonly string[], first: number): string =>
  lines.map((line, i) => `${String(first + i).padStart(WIDTH)}\t${line}`).join("\n");

/** The lines of a text that a `view_range` means: from the first to the last, -1 for the end; all without one. */
export function inRange(text: string, range: readonly number[] | undefined): string {
  const lines = text.split("\n");
  const [from, to] = range ?? [];
  if (from === undefined || to === undefined || range?.length !== 2) return numbered(lines, 1);
  const start = Math.max(1, from);
  return numbered(lines.slice(start - 1, to === -1 ? lines.length : to), start);
}

/** A text with its one place of `old` replaced, and the lines around it. Throws where there is none, or more than one. */
export function replaced(
  { path, text }: { path: string; text: string },
  old: string,
  by: string,
): { text: string; snippet: string } {
  const places = placesOf(text, old);
  const [at] = places;
  if (at === undefined)
    throw new Error(`No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`);
  const lines = [...new Set(places.map((place) => text.slice(0, place).split("\n").length))];
  if (places.length > 1)
    throw new Error(
      `No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines.join(", ")}. Please ensure it is unique`,
    );
  const changed = text.slice(0, at) + by + text.slice(at + old.length);
  const line = (lines[0] ?? 1) - 1;
  const start = Math.max(0, line - 2);
  return { text: changed, snippet: numbered(changed.split("\n").slice(start, line + 3), start + 1) };
}

/** A text with lines after its line `at`; 0 for the beginning. Throws where it has no such line. */
export function inserted(text: string, at: number, more: string): string {
  const lines = text.split("\n");
  if (!Number.isInteger(at) || at < 0 || at > lines.length)
    throw new Error(
      `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  return lines.toSpliced(at, 0, more.replace(/\n$/, "")).join("\n");
}

/** Where a text holds another; an empty one is at the beginning of each line. */
function placesOf(text: string, part: string): number[] {
  if (part === "") return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}
