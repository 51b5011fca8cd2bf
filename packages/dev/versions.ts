// `npm run release:version`: gives every package, and every file that names a version, the version of the root, which changesets sets.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A file with the version of this repository in it, and where: JSON paths, or a line of text. */
type Place = { file: string; pattern: RegExp };

/** The first `"version"` of a manifest, or the first two of a lock, are the package's own. */
const own = /^(?<before>\s*"version": ")(?<version>[^"]+)/m;
const ownInLock = /^(?<before>\{\n {2}"name": "[^"]+",\n {2}"version": ")(?<version>[^"]+)/;
const rootInLock =
  /(?<before>"packages": \{\n {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": ")(?<version>[^"]+)/;

/** What an example depends on. */
const clientIn = /^(?<before>\s*"edgecairn": "\^)(?<version>[^"]+)/m;
const embedIn = /^(?<before>\s*"@edgecairn\/embed": "\^)(?<version>[^"]+)/m;

/** Every place. */
export const places = (): Place[] => [
  ...globSync("packages/*/package.json", { cwd: root }).map((file) => ({ file, pattern: own })),
  ...globSync("{,packages/*/}package-lock.json", { cwd: root }).flatMap((file) => [
    { file, pattern: ownInLock },
    { file, pattern: rootInLock },
  ]),
  ...globSync("examples/*/package.json", { cwd: root })
    .map((file) => ({ file, pattern: clientIn }))
    .filter((place) => versionIn(place) !== undefined),
  { file: "examples/edge-chat/package.json", pattern: embedIn },
  { file: "server.json", pattern: own },
  { file: "packages/python/cairn.py", pattern: /^(?<before>VERSION = ")(?<version>[^"]+)/m },
];

export const versionIn = ({ file, pattern }: Place): string | undefined =>
  pattern.exec(readFileSync(join(root, file), "utf8"))?.groups?.version;

/** The version of the repository. */
export const version = (): string => {
  const { version: set = "" } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    version?: string;
  };
  return set;
};

if (import.meta.main)
  for (const { file, pattern } of places()) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(pattern, `$<before>${version()}`));
  }
