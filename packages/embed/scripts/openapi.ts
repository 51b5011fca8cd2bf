// `npm run check:openapi`: lints the OpenAPI document of the built Worker, for those who generate clients from it.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const file = join(root, "build/openapi.json");
const LINTER = "@redocly/cli@2.77.0";

type Built = { testCairn: () => Promise<{ fetch: typeof fetch; close: () => void }> };
// The built files have no types here.
const { testCairn } = (await import(join(root, "dist/testing.js"))) as Built;
const cairn = await testCairn();
const answer = await cairn.fetch(new Request("https://cairn.test/openapi.json"));
mkdirSync(join(root, "build"), { recursive: true });
writeFileSync(file, JSON.stringify(await answer.json(), null, 2));
cairn.close();

// Strict: a warning fails, too.
execFileSync("npx", ["--yes", LINTER, "lint", "--extends=recommended-strict", file], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
});
