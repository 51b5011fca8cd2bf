import { copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { bundled, packagesIn, withoutUnused } from "../../dev/bundle/bundler.ts";

/** Bundles the Worker and the Cairn for tests into `dist`. Returns the folders of the packages in them. */
export async function bundle(dist: string): Promise<Set<string>> {
  const worker = await build({
    ...bundled,
    entryPoints: ["packages/embed/worker/index.ts"],
    outfile: join(dist, "worker.js"),
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    external: ["cloudflare:workers"],
    plugins: [wasmBeside(dist), withoutUnused],
  });
  const testing = await build({
    ...bundled,
    entryPoints: ["packages/embed/testing/index.ts"],
    outfile: join(dist, "testing.js"),
    platform: "node",
    alias: { "cloudflare:workers": "./packages/embed/testing/cloudflare-workers.ts" },
    inject: ["packages/embed/testing/globals.ts"],
    plugins: [wasmInside, withoutUnused],
  });
  return new Set([worker, testing].flatMap(({ metafile }) => packagesIn(metafile)));
}

/** workerd takes a module as a file, and compiles none of bytes. */
const wasmBeside = (dist: string): Plugin => ({
  name: "wasm-beside",
  setup: (bundler) =>
    bundler.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      copyFileSync(join(resolveDir, path), join(dist, basename(path)));
      return { path: `./${basename(path)}`, external: true };
    }),
});

/** Node takes no module as a file without a flag. */
const wasmInside: Plugin = {
  name: "wasm-inside",
  setup: (bundler) =>
    bundler.onLoad({ filter: /\.wasm$/ }, ({ path }) => {
      const base64 = readFileSync(path).toString("base64");
      return { contents: `export default new WebAssembly.Module(Buffer.from("${base64}", "base64"));` };
    }),
};
