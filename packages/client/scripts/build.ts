// `npm run build`: the package that is published, in dist/: the client, the adapters and the command. What they share is bundled
// once, and minified, in short lines for a stack trace. An error has its name as a field. Of the declarations, those are published that an export needs.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { bundled, packagesIn } from "../../dev/bundle/bundler.ts";
import { publishDeclarations } from "./declarations.ts";
import { writeProbe } from "./shapes.ts";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const dist = join(project, "dist");
const compiled = join(project, "build");
const about = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
const peers = Object.keys(about.peerDependencies);
const adapters = globSync("*.ts", { cwd: join(root, "packages/adapters/src") }).map((file) =>
  basename(file, ".ts"),
);

for (const folder of [dist, compiled]) rmSync(folder, { recursive: true, force: true });

const { metafile } = await build({
  ...bundled,
  entryPoints: [
    { in: "packages/client/src/index.ts", out: "client/index" },
    { in: "packages/client/src/entrypoint.ts", out: "client/entrypoint" },
    { in: "packages/cli/main.ts", out: "cli" },
    ...adapters.map((name) => ({ in: `packages/adapters/src/${name}.ts`, out: `adapters/${name}` })),
  ],
  outdir: dist,
  chunkNames: "chunks/[hash]",
  splitting: true,
  minify: true,
  lineLimit: 160,
  external: ["node:*", ...peers],
  plugins: [
    {
      name: "importers",
      // A package of their own, which the command imports when it is asked to.
      setup: (bundler) =>
        bundler.onResolve({ filter: /\/importers\/src\/main\.ts$/ }, () => ({
          path: "@edgecairn/importers",
          external: true,
        })),
    },
  ],
});
const inside = packagesIn(metafile);
if (inside.length > 0) throw new Error(`the package has no dependencies, and would contain ${inside.join()}`);

writeProbe(project);
execFileSync(
  process.execPath,
  [join(root, "node_modules/typescript/lib/tsc.js"), "-p", join(import.meta.dirname, "types.json")],
  { cwd: project, stdio: "inherit" },
);
publishDeclarations(compiled, dist, { adapters, peers });
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(project, file));
requireExports();

/** The package exports every adapter, and nothing that is not there. */
function requireExports(): void {
  for (const name of adapters)
    if (about.exports[`./adapters/${name}`]?.default !== `./dist/adapters/${name}.js`)
      throw new Error(`package.json: exports lack "./adapters/${name}"`);
  const named = Object.entries<string | Record<string, string>>({ ...about.exports, bin: about.bin });
  for (const [path, files] of named)
    for (const file of typeof files === "string" ? [files] : Object.values(files))
      if (!existsSync(join(project, file)))
        throw new Error(`package.json: "${path}" is ${file}, which is not there`);
}
