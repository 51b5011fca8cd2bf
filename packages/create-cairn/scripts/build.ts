// `npm run build`: the command and its template, which is the example as it is.
import { chmodSync, cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const project = join(import.meta.dirname, "..");
const root = join(project, "../..");
const dist = join(project, "dist");
const example = join(root, "examples/edge-chat");

rmSync(dist, { recursive: true, force: true });
const outfile = join(dist, "create.js");
await build({
  entryPoints: [join(project, "src/create.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  banner: { js: "#!/usr/bin/env node" },
  logLevel: "error",
});
chmodSync(outfile, 0o755);
// A run of the example leaves its packages, its state and its secret there.
const isSource = (path: string): boolean =>
  path === example || (!basename(path).startsWith(".") && basename(path) !== "node_modules");
cpSync(example, join(dist, "template"), { recursive: true, filter: isSource });
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(project, file));
