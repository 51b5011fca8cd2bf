const WIDTH = 6;

/** Lines as the model sees them: a number from `first` on, six wide, then a tab. */
const numbered = (lines: readonly string[], first: number): string =>
  lines.map((line, i) => `${String(first + i).padStart(WIDTH)}\t${line}`).join("\n");

/** The lines from the first to the last of `view_range`; -1 is the end. All lines without a range. */
export function inRange(text: string, range: readonly number[] | undefined): string {
  const lines = text.split("\n");
  const [from, to] = range ?? [];
  if (from === undefined || to === undefined || range?.length !== 2) return numbered(lines, 1);
  const start = Math.max(1, from);
  return numbered(lines.slice(start - 1, to === -1 ? lines.length : to), start);
}

/** Replaces the only occurrence of `old` and returns the surrounding lines too. Throws if there are none or several. */
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

/** Inserts lines after line `at`; 0 is the beginning. Throws if there is no such line. */
export function inserted(text: string, at: number, more: string): string {
  const lines = text.split("\n");
  if (!Number.isInteger(at) || at < 0 || at > lines.length)
    throw new Error(
      `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  return lines.toSpliced(at, 0, more.replace(/\n$/, "")).join("\n");
}

/** Offsets of a part in a text. An empty part occurs at the beginning of each line. */
function placesOf(text: string, part: string): number[] {
  if (part === "") return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}
