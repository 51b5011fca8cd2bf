// Writes out the types of the API, which the source takes from the zod schemas: the compiler is asked what they come to.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The characters of a type that is longer than most names. */
const WORTH_A_NAME = 24;
/** zod's own type of any JSON value, which refers to itself and so has no end to be written out to. */
const JSON_TYPE = "export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };\n";

/** A file whose declarations are what each type of src/shapes.ts comes to. */
export function writeProbe(project: string): void {
  const source = readFileSync(join(project, "src/shapes.ts"), "utf8");
  const names = [...source.matchAll(/^export type (\w+)/gm)].map(([, name = ""]) => name);
  const asked = names
    .filter((name) => name !== "Json")
    .map((name) => `export const ${name} = shown<shapes.${name}>();`);
  const probe = `import type * as shapes from "../../src/shapes.ts";
// The compiler writes a mapped type out, where it would name any other one.
declare function shown<T>(): T extends string | number | boolean
  ? T
  : T extends infer U
    ? { [K in keyof U]: U[K] }
    : never;
${asked.join("\n")}
`;
  mkdirSync(join(project, "build/probe"), { recursive: true });
  writeFileSync(join(project, "build/probe/shapes.ts"), probe);
}

/** The types themselves, of what the compiler declares in the probe. */
export function shapesOf(declarations: string): string {
  const text = readFileSync(declarations, "utf8")
    .replaceAll(/^import .*\n/gm, "")
    .replaceAll(/^declare function[^;]*;\n/gm, "")
    .replaceAll(/^export declare const (\w+): /gm, "export type $1 = ")
    .replaceAll(/(?:import\("[^"]*"\)|\b\w+)\.(?:core\.util\.|util\.)?JSONType\b/g, "Json")
    .replaceAll(/(?:import\("[^"]*"\)|\b[a-z]\w*)\.([A-Z]\w*)\b/g, "$1")
    .replaceAll(/^export \{\};\n/gm, "");
  return tight(JSON_TYPE + named(text));
}

/** Without spaces but between words, and in texts: they would be an eighth of the declarations, and an editor shows its own. */
const tight = (types: string): string =>
  types.replaceAll(/("[^"\n]*")|(?<=[{;:|,]) | (?=[}|])/g, (_, text: string = "") => text);

/** The declarations, each in a line. A type that another one contains as a whole is there by its name, as in the source. */
function named(text: string): string {
  const lines = text
    .replaceAll(/\n\s+|\n(?=\})/g, " ")
    .trim()
    .split("\n");
  const types = lines.map((line) => {
    const [, name = "", type = ""] = /^export type (\w+) = (.*);$/.exec(line) ?? [];
    if (name === "") throw new Error(`no type is declared by ${line}`);
    return { name, type };
  });
  // The longest first, so that what contains others is found before these are named in it.
  const byLength = types
    .filter(({ type }) => type.length >= WORTH_A_NAME)
    .toSorted((a, b) => b.type.length - a.type.length);
  return types
    .map(({ name, type }) => {
      const short = byLength.reduce(
        (rest, other) =>
          other.name === name || other.type === type ? rest : rest.replaceAll(other.type, other.name),
        type,
      );
      return `export type ${name} = ${short};\n`;
    })
    .join("");
}
