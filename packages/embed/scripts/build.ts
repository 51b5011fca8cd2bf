// `npm run build`: the package that is published, in dist/. The Worker and the Cairn for tests are bundled with all that they
// need, so that the package has no dependencies.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { licencesOf } from "../../dev/bundle/licences.ts";
import { bundle } from "./bundles.ts";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const dist = join(project, "dist");
/** Where the compiler writes; the published files are copied from there. */
const compiled = join(project, "build");
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(root, script), ...args], { cwd: project, stdio: "inherit" });

for (const folder of [dist, compiled]) rmSync(folder, { recursive: true, force: true });
mkdirSync(dist);

const packages = await bundle(dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENCES.txt"), licencesOf(packages));
cpSync(join(root, "migrations"), join(dist, "migrations"), { recursive: true });
run("packages/dev/assets.ts", "packages/embed/dist/assets", "docs", "console", "model", "tokenizer");
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(project, file));

run("node_modules/typescript/lib/tsc.js", "-p", join(import.meta.dirname, "types.json"));
// The entrypoint has the methods of the client, whose declarations name nothing else (packages/client/scripts/declarations.ts).
const client = join(root, "packages/client/dist");
if (!existsSync(client)) throw new Error("packages/client is to be built first: npm run build:packages");
for (const folder of ["client", "domain"])
  cpSync(join(client, folder), join(dist, folder), {
    recursive: true,
    filter: (path) => !path.endsWith(".js"),
  });
for (const [from, to] of [
  ["worker/index", "worker"],
  ["testing/index", "testing"],
  ["testing/test-cairn", "test-cairn"],
] as const) {
  const text = readFileSync(join(compiled, `packages/embed/${from}.d.ts`), "utf8")
    .replaceAll(/((?:from |import\()")(\.[^"]+)\.ts"/g, '$1$2.js"')
    .replaceAll("../../../src/domain/", "./domain/")
    .replaceAll("../../client/src/", "./client/");
  writeFileSync(join(dist, `${to}.d.ts`), text);
}
requireOwnTypes();

/** A type that names a module which the caller does not have would be `any`. */
function requireOwnTypes(): void {
  for (const file of globSync("**/*.d.ts", { cwd: dist }))
    for (const [, name = ""] of readFileSync(join(dist, file), "utf8").matchAll(
      /(?:from |import\()"([^"]+)"/g,
    )) {
      const own =
        name.startsWith(".") && existsSync(join(dirname(join(dist, file)), name.replace(/\.js$/, ".d.ts")));
      const platform = file === "worker.d.ts" && (name === "hono" || name === "cloudflare:workers");
      if (!own && !platform) throw new Error(`dist/${file} takes types from '${name}'`);
    }
}
