// `npm run size`: what a program carries along that imports `cairn` from the built package, minified and compressed.
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const client = join(import.meta.dirname, "../dist/client/index.js");

/** Bytes of the core, by gzip. */
export async function coreSize(): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { cairn } from ${JSON.stringify(client)}`, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "error",
  });
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).byteLength;
}

if (import.meta.main) console.log(`the core of the client: ${await coreSize()} bytes, by gzip`);
