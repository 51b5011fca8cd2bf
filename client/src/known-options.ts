/** The names of options. An option that is an object of options has their names as its value. */
export type Names = { readonly [name: string]: true | Names };

/** The names of all options of a type; the compiler reports a missing one. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true | Names };

/** Throws a `TypeError` for the first unknown option. It names the nearest known option, or lists all of them. */
export function requireKnownOptions(made: string, options: object, names: Names, within = ""): void {
  const values = new Map<string, unknown>(Object.entries(options));
  for (const [name, value] of values) {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known === undefined) throw unknownOption(made, `${within}${name}`, nearest(name, names, within));
    if (known !== true && typeof value === "object" && value !== null)
      requireKnownOptions(made, value, known, `${within}${name}.`);
  }
}

const unknownOption = (made: string, name: string, hint: string): TypeError =>
  new TypeError(`${made}: \`${name}\` is not an option; ${hint}`);

function nearest(name: string, names: Names, within: string): string {
  const all = Object.keys(names);
  const [first] = all
    .map((one) => ({ one, edits: editsBetween(plain(name), plain(one)) }))
    .toSorted((a, b) => a.edits - b.edits);
  if (first !== undefined && first.edits <= Math.max(1, Math.floor(name.length / 3)))
    return `did you mean \`${within}${first.one}\`?`;
  return `the options are ${all.map((one) => `\`${within}${one}\``).join(", ")}`;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The Levenshtein distance of two names. */
function editsBetween(a: string, b: string): number {
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
