// Sums up what the suites of tests reported: node .ci/totals.js REPORT FAILED_PARTS
import { readFileSync } from "node:fs";

const [, , report, parts] = process.argv;
const suites = readFileSync(report, "utf8")
  .trim()
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const all = (of) => suites.flatMap((suite) => suite[of]);
for (const test of all("red")) console.log(`red: ${test}`);
for (const test of all("flaky")) console.log(`flaky: ${test}`);
// A part that failed without a test that did counts as one; so does a run in which no test ran.
const passed = all("passed").reduce((sum, count) => sum + count, 0);
const failed = Math.max(all("red").length, Number(parts), passed === 0 ? 1 : 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
