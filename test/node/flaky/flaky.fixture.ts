// No test of Cairn: it fails as often as the file of `FLAKY_FAILURES` says, for the test of `scripts/ci/test-run.ts`.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";

const counter = process.env["FLAKY_FAILURES"] ?? "";

it("fails now and then", () => {
  const left = Number(readFileSync(counter, "utf8"));
  writeFileSync(counter, String(left - 1));
  expect(left).toBeLessThanOrEqual(0);
});

it("never fails", () => expect(counter).not.toBe(""));
