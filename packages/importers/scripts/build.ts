// `npm run build`: the package that is published, in dist/: one module with all that the importers need.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundled, packagesIn, withoutUnused } from "../../dev/bundle/bundler.ts";
import { licencesOf } from "../../dev/bundle/licences.ts";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const dist = join(project, "dist");

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  ...bundled,
  entryPoints: ["packages/importers/src/main.ts"],
  outfile: join(dist, "index.js"),
  platform: "node",
  target: "node20",
  plugins: [withoutUnused],
});
writeFileSync(join(dist, "index.d.ts"), "export declare const importFrom: () => Promise<void>;\n");
writeFileSync(join(dist, "THIRD-PARTY-LICENCES.txt"), licencesOf(packagesIn(metafile)));
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(project, file));
