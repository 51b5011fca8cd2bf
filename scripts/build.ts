// `npm run build`: the package that is published, in dist/. The client is compiled module by module; the Worker and the
// Cairn for tests are bundled with all that they need, so that nothing is installed along with the package.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundle } from "./package/bundles.ts";
import { licencesOf } from "./package/licences.ts";
import { shapesOf, writeProbe } from "./package/shapes.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Where the compiler writes; what is published of it is copied. */
const compiled = join(root, "build/package");
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: "inherit" });

for (const folder of [dist, compiled]) rmSync(folder, { recursive: true, force: true });

writeProbe(root);
for (const project of ["scripts/package/client.json", "scripts/package/types.json"])
  run("node_modules/typescript/lib/tsc.js", "-p", project);

// What the client does not use at run time is types alone: those of the API, which are written out.
for (const file of globSync("{{client,domain/conversation}/**/*,domain/entry-parts}.{js,d.ts}", {
  cwd: join(compiled, "client"),
}))
  publish(join(compiled, "client", file), file);
writeFileSync(join(dist, "client/shapes.d.ts"), shapesOf(join(compiled, "types/build/probe/shapes.d.ts")));
publish(join(compiled, "types/src/package/worker.d.ts"), "worker.d.ts");
publish(join(compiled, "types/testing/index.d.ts"), "testing.d.ts");
publish(join(compiled, "types/testing/test-cairn.d.ts"), "test-cairn.d.ts");

const packages = await bundle(root, dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENCES.txt"), licencesOf(packages));
cpSync(join(root, "migrations"), join(dist, "migrations"), { recursive: true });
run("scripts/assets.ts", "dist/assets", "docs", "model");

demandOwnTypes();
demandOwnModules();
demandAdapters();

/** Copies a file into dist, with its imports named as the files are that they are compiled to. */
function publish(from: string, to: string): void {
  const target = join(dist, to);
  mkdirSync(dirname(target), { recursive: true });
  const text = readFileSync(from, "utf8");
  writeFileSync(target, text.replaceAll(/((?:from |import\()")(\.[^"]+)\.ts"/g, '$1$2.js"'));
}

/** Types that name what is not there, or not the caller's to have, would be `any`. */
function demandOwnTypes(): void {
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

/** The client's modules have to find each other. */
function demandOwnModules(): void {
  for (const file of globSync("{client,domain}/**/*.js", { cwd: dist })) {
    const path = join(dist, file);
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/from "(\.[^"]+)"/g))
      if (!existsSync(join(dirname(path), name)))
        throw new Error(`dist/${file} imports '${name}', which is not there`);
  }
}

/** The package has to let every adapter be imported, and not the files that it is made of; and nothing that is not there. */
function demandAdapters(): void {
  for (const file of globSync("client/adapters/*.js", { cwd: dist })) {
    const path = `./adapters/${basename(file, ".js")}`;
    if (about.exports[path]?.default !== `./dist/${file}`)
      throw new Error(`package.json: exports lack "${path}", of dist/${file}`);
  }
  const named = Object.entries<string | Record<string, string>>(about.exports);
  for (const [path, files] of named)
    for (const file of typeof files === "string" ? [files] : Object.values(files))
      if (!existsSync(join(root, file)))
        throw new Error(`package.json: "${path}" is ${file}, which is not there`);
}
