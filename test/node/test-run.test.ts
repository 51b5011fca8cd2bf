// CI runs the file of a test that fails a second time, alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../..");
const FIXTURE = "test/node/flaky/flaky.fixture.ts";

/** Runs the fixture, whose test fails so many times; or what `only` names. */
function run(failures: number, { only = FIXTURE, env = {} }: { only?: string; env?: object } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "cairn-flaky-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [counter, report] = [join(folder, "failures"), join(folder, "report")];
  writeFileSync(counter, String(failures));
  const args = [".ci/test-run.ts", "--config", "test/node/flaky/vitest.config.ts", only];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, FLAKY_FAILURES: counter, CI_REPORT: report, ...env },
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
  expect(report).toEqual({ passed: 2, red: [], flaky: [] });
});

it("is green where the second run passes, and names the test", () => {
  const { status, lines, report } = run(1);
  const flaky = `${FIXTURE} › fails now and then`;
  expect([status, ...lines.slice(-2)]).toEqual([0, `flaky: ${flaky}`, "2 passed, 0 failed"]);
  expect(report).toEqual({ passed: 2, red: [], flaky: [flaky] });
});

it("is red where the second run fails too", () => {
  const { status, lines, report } = run(2);
  expect([status, ...lines.slice(-2)]).toEqual([
    1,
    `red: ${FIXTURE} › fails now and then`,
    "1 passed, 1 failed",
  ]);
  expect(report).toEqual({ passed: 1, red: [`${FIXTURE} › fails now and then`], flaky: [] });
});

it("is red where no test runs", () => {
  const { status, lines } = run(0, { only: "test/nowhere.ts" });
  expect([status, lines.at(-1)]).toEqual([1, "0 passed, 1 failed"]);
});

it("is red where an error that no test catches comes beside a flaky file", () => {
  const { status, lines, report } = run(1, { env: { FLAKY_ERROR: "1" } });
  const flaky = `${FIXTURE} › fails now and then`;
  expect([status, ...lines.slice(-3)]).toEqual([
    1,
    "red: (the run)",
    `flaky: ${flaky}`,
    "2 passed, 1 failed",
  ]);
  expect(report).toEqual({ passed: 2, red: ["(the run)"], flaky: [flaky] });
});

it.each([
  [5, 5],
  [6, 0],
])("runs %i files that failed again %i times: more than five are red at once", (files, again) => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-broken-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (let n = 0; n < files; n++) writeFileSync(join(folder, `${n}.fixture.ts`), "throw new Error();");
  const { status, lines } = run(0, { only: ".fixture.ts", env: { FLAKY_ROOT: folder } });
  expect(lines.filter((line) => line.startsWith("once more, alone:"))).toHaveLength(again);
  expect(lines.filter((line) => line.startsWith("red: ") && line.endsWith("(the file)"))).toHaveLength(files);
  expect([status, lines.at(-1)]).toEqual([1, `0 passed, ${files} failed`]);
});
