import { expect, it } from "vitest";
import { leastScore } from "../../src/domain/context/least-score.ts";

it("asks more of the lines of a small store, and of those beside a sure hit", () => {
  const sure = { best: 0.9, confidence: 0.9 };
  const [small, large] = [20, 1000];
  expect(leastScore({ ...sure, documents: large })).toBeCloseTo(0.09);
  expect(leastScore({ ...sure, documents: small })).toBeCloseTo(0.333);
  expect(leastScore({ best: 0.2, confidence: 0.2, documents: small })).toBeCloseTo(0.06);
});
