// No test of Cairn: it fails as often as the file of `FLAKY_FAILURES` says, for the test of `.ci/test-run.ts`.
// With `FLAKY_ERROR`, an error that no test catches goes with each failure.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";

const counter = process.env["FLAKY_FAILURES"] ?? "";

it("fails now and then", () => {
  const left = Number(readFileSync(counter, "utf8"));
  writeFileSync(counter, String(left - 1));
  if (left > 0 && process.env["FLAKY_ERROR"] !== undefined)
    void Promise.reject(new Error("caught by no test"));
  expect(left).toBeLessThanOrEqual(0);
});

it("never fails", () => expect(counter).not.toBe(""));
