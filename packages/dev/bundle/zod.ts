// "zod" in the bundles (wrangler.toml, bundler.ts): only what Cairn uses. @hono/zod-openapi passes the whole
// namespace on, so esbuild would keep all of zod, which is a quarter of the Worker's script.
export * from "./used-of-zod.ts";
export * as z from "./used-of-zod.ts";
