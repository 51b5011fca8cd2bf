// `npm run build`: the package that is published, in dist/. The client is compiled module by module. The Worker, the Cairn
// for tests and the command line are bundled with all that they need, so that the package has no dependencies.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundle } from "./bundles.ts";
import { licencesOf } from "./licences.ts";
import { shapesOf, writeProbe } from "./shapes.ts";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const dist = join(project, "dist");
/** Where the compiler writes; the published files are copied from there. */
const compiled = join(project, "build");
const about = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(root, script), ...args], { cwd: project, stdio: "inherit" });

for (const folder of [dist, compiled]) rmSync(folder, { recursive: true, force: true });

writeProbe(project);
for (const config of ["client.json", "types.json"])
  run("node_modules/typescript/lib/tsc.js", "-p", join(import.meta.dirname, config));

publishAll(join(compiled, "client/packages/client/src"), "client", "**/*");
// The client needs these modules at run time. All else of src/domain gives it types alone, which shapes.d.ts writes out.
publishAll(
  join(compiled, "client/src/domain"),
  "domain",
  "{bounded-cache,context/{message-hash,prompted-message},conversation/**/*,entry-parts,hash,limits,memory/{forget-fact,message-text,normalise},nearest-name,prompt-cache/anthropic-breakpoints,raw-values,thread-id,token}",
);
writeFileSync(
  join(dist, "client/shapes.d.ts"),
  shapesOf(join(compiled, "types/packages/client/build/probe/shapes.d.ts")),
);
publish(join(compiled, "types/packages/client/worker/index.d.ts"), "worker.d.ts");
publish(join(compiled, "types/packages/client/testing/index.d.ts"), "testing.d.ts");
publish(join(compiled, "types/packages/client/testing/test-cairn.d.ts"), "test-cairn.d.ts");

const packages = await bundle(root, dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENCES.txt"), licencesOf(packages));
cpSync(join(root, "migrations"), join(dist, "migrations"), { recursive: true });
run("packages/dev/assets.ts", "packages/client/dist/assets", "docs", "console", "model", "tokenizer");
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(project, file));

requireOwnTypes();
requireOwnModules();
requireExports();

function publishAll(from: string, to: string, pattern: string): void {
  for (const file of globSync(`${pattern}.{js,d.ts}`, { cwd: from }))
    publish(join(from, file), join(to, file));
}

/** Copies a file into dist, and names in its imports the files of dist. */
function publish(from: string, to: string): void {
  const target = join(dist, to);
  mkdirSync(dirname(target), { recursive: true });
  const text = readFileSync(from, "utf8")
    .replaceAll(/((?:from |import\()")(\.[^"]+)\.ts"/g, '$1$2.js"')
    .replaceAll(/((?:from |import\()"(?:\.\.\/)*)\.\.\/\.\.\/src\/domain\//g, "$1domain/");
  writeFileSync(target, text);
}

/** A type that names a module which the caller does not have would be `any`. */
function requireOwnTypes(): void {
  const peers = Object.keys(about.peerDependencies);
  for (const file of globSync("**/*.d.ts", { cwd: dist })) {
    const path = join(dist, file);
    const named = readFileSync(path, "utf8").matchAll(/(?:from |import\()"([^"]+)"/g);
    for (const [, name = ""] of named) {
      const own = name.startsWith(".") && existsSync(join(dirname(path), name.replace(/\.js$/, ".d.ts")));
      const platform = file === "worker.d.ts" && (name === "hono" || name === "cloudflare:workers");
      const adapted =
        file.includes("adapters/") && peers.some((peer) => name === peer || name.startsWith(`${peer}/`));
      if (!own && !platform && !adapted) throw new Error(`dist/${file} takes types from '${name}'`);
    }
  }
}

/** Each module has to find the modules that it imports. */
function requireOwnModules(): void {
  for (const file of globSync("{client,domain}/**/*.js", { cwd: dist })) {
    const path = join(dist, file);
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/from "(\.[^"]+)"/g))
      if (!existsSync(join(dirname(path), name)))
        throw new Error(`dist/${file} imports '${name}', which is not there`);
  }
}

/** The package exports every adapter, and nothing that is not there. */
function requireExports(): void {
  for (const file of globSync("client/adapters/*.js", { cwd: dist })) {
    const path = `./adapters/${basename(file, ".js")}`;
    if (about.exports[path]?.default !== `./dist/${file}`)
      throw new Error(`package.json: exports lack "${path}", of dist/${file}`);
  }
  const named = Object.entries<string | Record<string, string>>({ ...about.exports, bin: about.bin });
  for (const [path, files] of named)
    for (const file of typeof files === "string" ? [files] : Object.values(files))
      if (!existsSync(join(project, file)))
        throw new Error(`package.json: "${path}" is ${file}, which is not there`);
}
