/** The longest name that is compared: the work for a hostile one is bounded. */
const LONGEST = 64;

/** The name among these that is probably meant; undefined if none is near. Names of more than 64 characters are near none. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let [nearest, fewest]: [string | undefined, number] = [
    undefined,
    Math.max(1, Math.floor((name.length + 1) / 3)) + 1,
  ];
  for (const one of known) {
    const edits = editsBetween(name, one);
    if (edits < fewest) [nearest, fewest] = [one, edits];
  }
  return nearest;
}

/** The Levenshtein distance of two names, without their case, `_` and `-`; infinite for a longer name than 64 characters. */
export function editsBetween(one: string, other: string): number {
  if (one.length > LONGEST || other.length > LONGEST) return Infinity;
  const [a, b] = [plain(one), plain(other)];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [left = 0, above = 0, diagonal = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, diagonal + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");
