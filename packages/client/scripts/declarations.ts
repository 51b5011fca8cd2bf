// The declarations of the published package: of the modules that an export names, directly or by another one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { shapesOf } from "./shapes.ts";

/** The folders of the source, and those of `dist`. */
const FOLDERS = [
  ["packages/client/src/", "client/"],
  ["packages/adapters/src/", "adapters/"],
  ["src/domain/", "domain/"],
] as const;
const SHAPES = "packages/client/src/shapes.d.ts";
/** The modules that a declaration names. */
const NAMED = /((?:from |import\()")([^"]+)"/g;

/** Copies into `dist` what the compiler wrote. Throws where a type names a module that the caller does not have: it would be `any`. */
export function publishDeclarations(
  compiled: string,
  dist: string,
  { adapters, peers }: { adapters: readonly string[]; peers: readonly string[] },
): void {
  const left = [
    "packages/client/src/index.d.ts",
    "packages/client/src/entrypoint.d.ts",
    ...adapters.map((name) => `packages/adapters/src/${name}.d.ts`),
  ];
  const taken = new Set<string>();
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (taken.has(file)) continue;
    taken.add(file);
    const here = file;
    const text = textOf(compiled, here).replaceAll(NAMED, (_, before: string, name: string) => {
      if (name.startsWith(".")) {
        const target = join(dirname(here), name.replace(/\.ts$/, ".d.ts"));
        left.push(target);
        return `${before}${pathFrom(published(here), published(target))}"`;
      }
      const isPeer = peers.some((peer) => name === peer || name.startsWith(`${peer}/`));
      if (here.startsWith("packages/adapters/") && isPeer) return `${before}${name}"`;
      throw new Error(`${here} takes types from '${name}'`);
    });
    const to = join(dist, published(here));
    mkdirSync(dirname(to), { recursive: true });
    // Tabs: a third of the declarations would be spaces.
    writeFileSync(
      to,
      text.replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4)),
    );
  }
}

function textOf(compiled: string, file: string): string {
  if (file === SHAPES) return shapesOf(join(compiled, "packages/client/build/probe/shapes.d.ts"));
  const path = join(compiled, file);
  if (!existsSync(path)) throw new Error(`a declaration names ${file}, which is not there`);
  return readFileSync(path, "utf8");
}

function published(file: string): string {
  const [from, to] = FOLDERS.find(([folder]) => file.startsWith(folder)) ?? [];
  if (from === undefined) throw new Error(`${file} is not published`);
  return to + file.slice(from.length);
}

function pathFrom(file: string, target: string): string {
  const path = relative(dirname(file), target).replace(/\.d\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
