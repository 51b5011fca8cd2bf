// What a Worker that calls Cairn over a service binding sees of its types.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { start } from "./run.ts";

const root = join(import.meta.dirname, "../..");

it("`wrangler types` of the calling Worker names the entrypoint of its binding", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-types-"));
  try {
    const file = join(folder, "worker-configuration.d.ts");
    const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
    const configs = ["-c", "examples/edge-chat/wrangler.toml", "-c", "wrangler.toml"];
    const { ended, output } = start(
      [process.execPath, wrangler, "types", file, "--include-runtime=false", ...configs],
      { WRANGLER_SEND_METRICS: "false" },
    );
    expect(await ended, output.stderr).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(
      /MEMORY: Service<typeof import\("[./]*[^"]*src\/index"\)\.Memory>/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
