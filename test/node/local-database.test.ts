// The local database: what `npm start` applies to it, and what it asks before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { hasMigrations } from "../../packages/dev/local-server.ts";
import { run } from "./run.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has each migration once, by wrangler's own notes, and is known to have them", async () => {
  expect(hasMigrations(folder)).toBe(false);
  for (let times = 0; times < 2; times++) {
    const applying = run("packages/dev/local-database.ts", [folder]);
    expect([await applying.ended, applying.output.stderr]).toEqual([0, ""]);
    expect(hasMigrations(folder)).toBe(true);
  }
  const wrangler = ["d1", "migrations", "list", "DB", "--local", "--persist-to", folder];
  const listing = run("node_modules/wrangler/bin/wrangler.js", wrangler, { CI: "true" });
  expect(await listing.ended).toBe(0);
  expect(listing.output.stdout).toContain("No migrations to apply");
});
