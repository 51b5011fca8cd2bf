// Sums up what the suites of tests reported: node .ci/totals.js REPORT FAILED_PARTS
import { readFileSync } from "node:fs";

const [, , report, parts] = process.argv;
const suites = readFileSync(report, "utf8")
  .trim()
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const sum = (of) => suites.reduce((all, suite) => all + suite[of], 0);
for (const { flaky } of suites) for (const test of flaky) console.log(`flaky: ${test}`);
// A part that failed without a test that did counts as one; so does a run in which no test ran.
const passed = sum("passed");
const failed = Math.max(sum("failed"), Number(parts), passed === 0 ? 1 : 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
