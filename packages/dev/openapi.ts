// The OpenAPI document of the routes in src/, without a server.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");

type Built = { createApp: () => { request: (path: string, init: object, env: object) => Promise<Response> } };

/** As `GET /openapi.json` answers it. */
export async function openApiDocument(): Promise<unknown> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/worker/app.ts"],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["worker", "import"],
    // The library of OAuth is loaded with a sign-in, and imports what Node has not.
    external: ["cloudflare:*", "node:*", "@cloudflare/workers-oauth-provider"],
    // The document needs no kernel.
    loader: { ".wasm": "empty" },
    logLevel: "error",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild built nothing");
  mkdirSync(join(root, "build"), { recursive: true });
  const folder = mkdtempSync(join(root, "build/openapi-"));
  try {
    const path = join(folder, "app.mjs");
    writeFileSync(path, file.contents);
    const { createApp } = (await import(pathToFileURL(path).href)) as Built;
    // No request starts without a secret. This one signs nothing.
    const answer = await createApp().request("/openapi.json", {}, { CAIRN_SECRET: "-".repeat(32) });
    if (!answer.ok) throw new Error(`/openapi.json answers ${answer.status}`);
    return await answer.json();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
