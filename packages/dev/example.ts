// `npm run example NAME`: builds what is published unless it is built, gives it to the example as npm would, and runs the example's
// `npm start` beside a Cairn. With CAIRN_URL and CAIRN_TOKEN set, the example calls that Cairn.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CannotStart } from "./cannot-start.ts";
import {
  askedToStop,
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "./local-server.ts";
import { build, published } from "./pack.ts";
import { stateIn } from "./server-address.ts";

const root = join(import.meta.dirname, "../..");
const examples = join(root, "examples");

type Manifest = {
  name: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** The packages of this repository, by name. */
const own = new Map(published().map((path) => [manifestIn(join(root, path)).name, join(root, path)]));
const dependenciesOf = ({ dependencies, devDependencies }: Manifest): string[] =>
  Object.keys({ ...dependencies, ...devDependencies });

/**
 * Links what an example depends on into its folder: the packages of this repository, and what this repository has installed in the
 * version that it tests. Returns what is not there.
 */
export function link(name: string): string[] {
  const folder = join(examples, name);
  return dependenciesOf(manifestIn(folder)).filter((dependency) => {
    const path = join(folder, "node_modules", dependency);
    // What npm has installed there stays.
    if (!own.has(dependency) && existsSync(path)) return false;
    const target =
      own.get(dependency) ??
      [root, join(root, "packages/adapters")]
        .map((place) => join(place, "node_modules", dependency))
        .find((place) => existsSync(place));
    if (target === undefined) return true;
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    symlinkSync(target, path);
    return false;
  });
}

/** Installs an example from the registry, with the packages of this repository. */
function install(name: string): void {
  const folder = join(examples, name);
  const links = dependenciesOf(manifestIn(folder)).flatMap((dependency) => own.get(dependency) ?? []);
  const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", ["install", ...options, ...links], { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new CannotStart(`npm could not install what examples/${name} needs.`);
}

/** A folder for each example: `npm start` may run meanwhile, and its users are no part of what an example shows. */
export const stateFor = (name: string, { CAIRN_STATE = "" }: NodeJS.ProcessEnv): string =>
  CAIRN_STATE === "" ? `${stateIn({})}-${name}` : CAIRN_STATE;

/** The variables of the example, and the Cairn that was started for it. */
async function cairnFor(name: string): Promise<{ env: NodeJS.ProcessEnv; server?: LocalServer }> {
  const { CAIRN_URL, CAIRN_TOKEN } = process.env;
  const { dependencies = {} } = manifestIn(join(examples, name));
  const bringsIts = "@edgecairn/embed" in dependencies;
  if (bringsIts || (CAIRN_URL !== undefined && CAIRN_TOKEN !== undefined)) return { env: process.env };
  const server = await startLocalServer({ port: await freePort(), state: stateFor(name, process.env) });
  const env = { ...process.env, CAIRN_URL: server.url, CAIRN_TOKEN: await developmentToken("alice") };
  return { env, server };
}

async function main([name = "", ...rest]: string[]): Promise<number> {
  const names = globSync("*/package.json", { cwd: examples })
    .map(dirname)
    .map((path) => basename(path))
    .toSorted();
  if (!names.includes(name)) {
    console.error(`npm run example NAME: the examples are ${names.join(", ")}.`);
    return 2;
  }
  if (published().some((path) => !existsSync(join(root, path, "dist")))) build();
  if (link(name).length > 0) install(name);
  const { env, server } = await cairnFor(name);
  try {
    const child = spawn("npm", ["start", "--silent", "--", ...rest], {
      cwd: join(examples, name),
      env,
      stdio: "inherit",
    });
    const ended = new Promise<number>((resolve) => void child.once("exit", (code) => resolve(code ?? 1)));
    // Ctrl-C reaches the example, too.
    const asked = askedToStop().then(() => ended);
    return await Promise.race([ended, asked]);
  } finally {
    await server?.stop();
  }
}

if (import.meta.main)
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
