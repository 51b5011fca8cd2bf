// The rule of the linter that keeps the real clock out of the tests.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../..");

/** The lines of this text that the rule refuses. */
function refused(lines: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "cairn-lint-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = {
    jsPlugins: [join(root, ".ci/lint-real-time.js")],
    categories: { correctness: "off" },
    rules: { "tests/no-real-time": "error" },
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "one.test.ts"), lines.join("\n"));
  const args = [
    join(root, "node_modules/oxlint/bin/oxlint"),
    "-c",
    "config.json",
    "-f",
    "unix",
    "one.test.ts",
  ];
  try {
    return found(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" }));
  } catch (error) {
    // It ends with 1 where it refuses something.
    return found((error as { stdout: string }).stdout);
  }
  function found(output: string): string[] {
    return [...output.matchAll(/one\.test\.ts:(\d+)/g)].map(([, line]) => lines[Number(line) - 1] ?? "");
  }
}

it("refuses each way to read the real clock, and what gives up after a second", () => {
  const bad = [
    "export const a = Date.now();",
    "export const b = new Date();",
    "export const c = performance.now();",
    "export const d = { now: Date.now };",
    "vi.waitFor(() => {});",
    "vi.waitUntil(() => true);",
  ];
  const good = [
    "export const e = new Date(0);",
    "export const f = Date.UTC(2026, 0);",
    "expect.poll(() => 1);",
  ];
  expect(refused([...bad, ...good]).toSorted()).toEqual(bad.toSorted());
});
