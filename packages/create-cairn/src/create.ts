// `npm create @edgecairn NAME`: a new folder with a chat that remembers. It overwrites nothing.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const USAGE = `npm create @edgecairn NAME [-- --packages FOLDER]

NAME is a new folder here, and the name of the Worker. --packages installs Cairn from the tarballs in FOLDER, which
"npm run pack" of the repository makes in build/pack, in place of those on npm.`;
/** A Worker's name has 63 characters, and that of its memory ends with "-memory". */
const NAME = /^[a-z](?:[a-z\d-]{0,53}[a-z\d])?$/;
/** The name of the template. */
const FORMER = /\bedge-chat\b/g;
const NAMED = ["package.json", "wrangler.toml", "cairn/wrangler.toml"];
const IGNORED = "node_modules/\n.wrangler/\n.dev.vars\n";

/** A mistake of the caller, or of the machine: printed without a stack. */
class Refused extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

function askedFor(): { name: string; packages: string | undefined } {
  try {
    const options = { packages: { type: "string" }, help: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [name, ...more] = positionals;
    if (values.help === true || name === undefined || more.length > 0) throw new Error("One NAME is needed.");
    return { name, packages: values.packages };
  } catch (error) {
    throw new Refused(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, 2);
  }
}

/** The tarballs of the packages that the template depends on. */
function tarballsIn(folder: string): string[] {
  const index = join(folder, "index.json");
  if (!existsSync(index))
    throw new Refused(
      `${folder} has no index.json. "npm run pack" of the repository makes it in build/pack.`,
      2,
    );
  const packed = JSON.parse(readFileSync(index, "utf8")) as { name: string; filename: string }[];
  return ["edgecairn", "@edgecairn/embed"].map((name) => {
    const filename = packed.find((one) => one.name === name)?.filename;
    if (filename === undefined || !existsSync(join(folder, filename)))
      throw new Refused(`${folder} has no tarball of ${name}. Run "npm run pack" again.`, 2);
    return join(folder, filename);
  });
}

/** Makes the folder whole or not at all. */
function make(target: string, name: string): void {
  const draft = mkdtempSync(join(dirname(target), `.${name}-`));
  try {
    cpSync(join(import.meta.dirname, "template"), draft, { recursive: true });
    for (const file of NAMED) {
      const path = join(draft, file);
      writeFileSync(path, readFileSync(path, "utf8").replaceAll(FORMER, name));
    }
    writeFileSync(join(draft, ".gitignore"), IGNORED);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw new Refused(
      `${target} could not be made: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function install(target: string, tarballs: readonly string[]): boolean {
  const args = ["install", "--no-audit", "--no-fund", ...tarballs];
  // On Windows npm is no program: a Node runs it.
  const { npm_execpath: npm } = process.env;
  const [command, ...first] = npm?.endsWith(".js") === true ? [process.execPath, npm] : ["npm"];
  return spawnSync(command, [...first, ...args], { cwd: target, stdio: "inherit" }).status === 0;
}

function main(): void {
  const { name, packages } = askedFor();
  if (!NAME.test(name))
    throw new Refused(
      `'${name}' cannot be the name of a Worker: small letters, digits and dashes, 55 at most, from a letter to a letter or digit.`,
      2,
    );
  const target = resolve(name);
  if (existsSync(target))
    throw new Refused(`${target} exists already, and is as it was. Choose another name.`);
  const tarballs = packages === undefined ? [] : tarballsIn(resolve(packages));
  make(target, name);
  if (!install(target, tarballs))
    throw new Refused(
      `\n${target} is complete, but npm could not install its packages. Is there a network? Then: cd ${name} && npm install ${tarballs.join(" ")}`,
    );
  console.log(`\nA chat that remembers is in ${target}:

  cd ${name}
  npm start        # on this machine, without an account
  npm run deploy   # into your Cloudflare account
`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
