// How CI treats a test that fails: its file gets a second run, alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../..");
const FIXTURE = "test/node/flaky/flaky.fixture.ts";

/** Runs the fixture, whose test fails so many times; or what `only` names. */
function run(failures: number, only = FIXTURE) {
  const folder = mkdtempSync(join(tmpdir(), "cairn-flaky-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [counter, report] = [join(folder, "failures"), join(folder, "report")];
  writeFileSync(counter, String(failures));
  const args = ["scripts/ci/test-run.ts", "--config", "test/node/flaky/vitest.config.ts", only];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, FLAKY_FAILURES: counter, CI_REPORT: report },
  });
  return {
    status,
    lines: stdout.trim().split("\n"),
    report: JSON.parse(readFileSync(report, "utf8")) as unknown,
  };
}

it("is green where nothing fails", () => {
  const { status, lines, report } = run(0);
  expect([status, lines.at(-1)]).toEqual([0, "2 passed, 0 failed"]);
  expect(report).toEqual({ passed: 2, failed: 0, flaky: [] });
});

it("is green where the second run passes, and names the test", () => {
  const { status, lines, report } = run(1);
  const flaky = `${FIXTURE} › fails now and then`;
  expect([status, ...lines.slice(-2)]).toEqual([0, `flaky: ${flaky}`, "2 passed, 0 failed"]);
  expect(report).toEqual({ passed: 2, failed: 0, flaky: [flaky] });
});

it("is red where the second run fails too", () => {
  const { status, lines, report } = run(2);
  expect([status, ...lines.slice(-2)]).toEqual([
    1,
    `red: ${FIXTURE} › fails now and then`,
    "1 passed, 1 failed",
  ]);
  expect(report).toEqual({ passed: 1, failed: 1, flaky: [] });
});

it("is red where no test runs", () => {
  const { status, lines } = run(0, "test/nowhere.ts");
  expect([status, lines.at(-1)]).toEqual([1, "0 passed, 1 failed"]);
});
