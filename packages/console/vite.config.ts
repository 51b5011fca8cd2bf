// Builds the console into the assets of the Worker. `packages/dev/assets.ts` calls it.
import { join } from "node:path";
import { defineConfig } from "vite";

const root = import.meta.dirname;

export default defineConfig({
  root,
  // The page is at `console`, beside its folder `console/`, under whatever path Cairn is mounted.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { alias: { edgecairn: join(root, "../client/src/index.ts") } },
  build: {
    target: "es2023",
    assetsDir: "console",
    // Inlined files would be `data:` addresses, which the page's policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: join(root, "console.html") },
  },
});
