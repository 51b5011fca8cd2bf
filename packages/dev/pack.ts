// `npm run pack`: builds each package that is published, and makes its tarball in build/pack. With `--built` it packs what
// the last build left.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";

/** A tarball of `build/pack`, as `index.json` there lists them. */
export type Packed = { name: string; version: string; filename: string; unpackedSize: number };

const root = join(import.meta.dirname, "../..");
const out = join(root, "build/pack");
const npm = (...args: string[]): string =>
  execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** The folders of the packages that are published: those that no `private` keeps. */
export const published = (): string[] =>
  globSync("packages/*/package.json", { cwd: root })
    .filter((file) => {
      const { private: isPrivate } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
        private?: boolean;
      };
      return isPrivate !== true;
    })
    .map(dirname)
    .toSorted();

/** Builds each package. */
export function build(): void {
  // A build reads the types of the SDKs, which the packages with a lock of their own have.
  const locks = globSync("packages/*/package-lock.json", { cwd: root }).map(dirname);
  for (const folder of locks.filter((one) => !existsSync(join(root, one, "node_modules"))))
    npm("--prefix", folder, "ci");
  npm("run", "build:packages");
}

function pack(): Packed[] {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const packed = published().map((folder) => {
    // What npm says of a tarball, of which this takes four fields. `prepack` and the like would build again.
    const text = npm("pack", `./${folder}`, "--json", "--ignore-scripts", "--pack-destination", out);
    const [one] = JSON.parse(text) as Packed[];
    if (one === undefined) throw new Error(`npm packed nothing of ${folder}`);
    const { name, version, filename, unpackedSize } = one;
    return { name, version, filename, unpackedSize };
  });
  writeFileSync(join(out, "index.json"), `${JSON.stringify(packed, null, 2)}\n`);
  return packed;
}

if (import.meta.main) {
  const unknown = argv.slice(2).find((option) => option !== "--built");
  if (unknown !== undefined) {
    console.error(
      `npm run pack has no option '${unknown}'. It has --built, which packs what the last build left.`,
    );
    exit(2);
  }
  if (!argv.includes("--built")) build();
  for (const { filename, unpackedSize } of pack())
    console.log(`build/pack/${filename}  ${Math.ceil(unpackedSize / 1000)} KB unpacked`);
}
