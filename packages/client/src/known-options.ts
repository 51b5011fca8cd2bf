import { nearestName } from "../../../src/domain/nearest-name.ts";

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
  const one = nearestName(name, all);
  if (one !== undefined) return `did you mean \`${within}${one}\`?`;
  return `the options are ${all.map((option) => `\`${within}${option}\``).join(", ")}`;
}
