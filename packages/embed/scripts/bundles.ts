import { copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";

/** Bundles the Worker, the Cairn for tests and the command line into `dist`. Returns the folders of the packages in them. */
export async function bundle(root: string, dist: string): Promise<Set<string>> {
  const shared = {
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    target: "es2024",
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
  } as const;
  const worker = await build({
    ...shared,
    entryPoints: ["packages/client/worker/index.ts"],
    outfile: join(dist, "worker.js"),
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    external: ["cloudflare:workers"],
    plugins: [wasmBeside(dist), withoutUnused(root)],
  });
  const testing = await build({
    ...shared,
    entryPoints: ["packages/client/testing/index.ts"],
    outfile: join(dist, "testing.js"),
    platform: "node",
    alias: { "cloudflare:workers": "./packages/client/testing/cloudflare-workers.ts" },
    inject: ["packages/client/testing/globals.ts"],
    plugins: [wasmInside, withoutUnused(root)],
  });
  const commands = await build({
    ...shared,
    entryPoints: ["packages/client/cli.ts"],
    outfile: join(dist, "cli.js"),
    platform: "node",
    target: "node20",
    plugins: [withoutUnused(root)],
  });
  const bundles = [worker, testing, commands];
  return new Set(bundles.flatMap(({ metafile }) => packagesIn(metafile)).map((name) => join(root, name)));
}

/** The aliases of wrangler.toml. esbuild's own `alias` would take `zod/v4` for a part of `zod`. */
const withoutUnused = (root: string): Plugin => ({
  name: "without-unused",
  setup(bundler) {
    bundler.onResolve({ filter: /^zod$/ }, () => ({ path: join(root, "packages/dev/bundle/zod.ts") }));
    bundler.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: join(root, "packages/dev/bundle/mcp-shims.ts"),
    }));
  },
});

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

const packagesIn = ({ inputs }: Metafile): string[] =>
  Object.keys(inputs).flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
