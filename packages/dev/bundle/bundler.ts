// How esbuild bundles what is published, with the aliases of wrangler.toml.
import { join } from "node:path";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

const root = join(import.meta.dirname, "../../..");

export const bundled = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  target: "es2024",
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
} as const satisfies BuildOptions;

/** esbuild's own `alias` would take `zod/v4` for a part of `zod`. */
export const withoutUnused: Plugin = {
  name: "without-unused",
  setup(bundler) {
    bundler.onResolve({ filter: /^zod$/ }, () => ({ path: join(root, "packages/dev/bundle/zod.ts") }));
    bundler.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: join(root, "packages/dev/bundle/mcp-shims.ts"),
    }));
  },
};

/** The folders of the packages of npm whose code a bundle has. */
export const packagesIn = ({ outputs }: Metafile): string[] => {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : [])),
  );
  const folders = files.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].map((folder) => join(root, folder));
};
