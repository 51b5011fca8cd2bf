// npm run ci:test -- VITEST_ARGUMENTS: runs the tests, and a file that failed once more, alone. Green then, it is flaky; else it
// is red. So are all of them if more than five failed, and an error that belongs to no test. `CI_REPORT` names a file that gets a line of JSON for `.ci/run`: how many passed, what is red, what is flaky.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const root = join(import.meta.dirname, "..");
const vitest = join(root, "node_modules/vitest/vitest.mjs");
/** More files than these are no chance, and to run them alone takes longer than all together. */
const RETRIED = 5;

/** The part of Vitest's JSON report that is read here. */
type Report = {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
};
/** `failed`: tests by their file. `errors`: those that no test caught; one if Vitest did not come to its end. */
type Run = { passed: number; failed: Map<string, string[]>; errors: number; status: number };

/** Runs Vitest. A file that could not be loaded has one failure. */
function run(args: readonly string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), "cairn-tests-"));
  const output = join(folder, "report.json");
  const errors = join(folder, "errors");
  const reporters = [
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${output}`,
    `--reporter=${join(import.meta.dirname, "error-count.ts")}`,
  ];
  try {
    const { status } = spawnSync(process.execPath, [vitest, "run", ...args, ...reporters], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, CAIRN_ERROR_COUNT: errors },
    });
    const report = JSON.parse(readFileSync(output, "utf8")) as Report;
    const failed = new Map<string, string[]>();
    for (const { name, status: of, assertionResults } of report.testResults) {
      const tests = assertionResults.filter((one) => one.status === "failed").map(({ fullName }) => fullName);
      if (of === "failed" && tests.length === 0) tests.push("(the file)");
      const file = relative(root, name);
      if (tests.length > 0) failed.set(file, [...(failed.get(file) ?? []), ...tests]);
    }
    return {
      passed: report.numPassedTests,
      failed,
      errors: Number(readFileSync(errors, "utf8")),
      status: status ?? 1,
    };
  } catch {
    return { passed: 0, failed: new Map(), errors: 1, status: 1 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The arguments without the files that they name: options, and the values of those that have one. */
const optionsOf = (args: readonly string[]): string[] =>
  args.filter(
    (arg, i) => arg.startsWith("-") || ["--project", "--config", "--root"].includes(args[i - 1] ?? ""),
  );

const args = process.argv.slice(2);
const first = run(args);
const flaky: string[] = [];
const red: string[] = [];
for (const [file, tests] of first.failed) {
  const names = tests.map((test) => `${file} › ${test}`);
  if (first.failed.size > RETRIED) {
    red.push(...names);
    continue;
  }
  console.log(`\nonce more, alone: ${file}`);
  const second = run([...optionsOf(args), file]);
  if (second.status === 0 && second.passed > 0) flaky.push(...names);
  else
    red.push(
      ...[...second.failed.values()].flat().map((test) => `${file} › ${test}`),
      ...(second.failed.size === 0 ? names : []),
    );
}
// No second run of a file shows that such an error is gone.
if (first.errors > 0 || (first.failed.size === 0 && first.status !== 0)) red.push("(the run)");
if (first.passed + flaky.length === 0 && red.length === 0) red.push("(no test ran)");

const passed = first.passed + flaky.length;
for (const one of red) console.log(`red: ${one}`);
for (const one of flaky) console.log(`flaky: ${one}`);
console.log(`${passed} passed, ${red.length} failed`);
const { CI_REPORT } = process.env;
if (CI_REPORT !== undefined) appendFileSync(CI_REPORT, `${JSON.stringify({ passed, red, flaky })}\n`);
process.exit(red.length === 0 ? 0 : 1);
