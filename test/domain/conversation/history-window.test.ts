import fc from "fast-check";
import { expect, it } from "vitest";
import { steadyWindow } from "../../../src/domain/conversation/history-window.ts";

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ seq: from + i }));

it("has the end of a history, and at least half of it", () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), fc.integer({ min: 1, max: 200 }), (from, length) => {
      const all = messages(from, from + length);
      const shown = steadyWindow(all);
      expect(shown).toEqual(all.slice(all.length - shown.length));
      expect(shown.length).toBeGreaterThanOrEqual(length / 2);
    }),
  );
});

it("begins at the same message for several turns", () => {
  const starts = Array.from({ length: 100 }, (_, i) => steadyWindow(messages(2 * i, 2 * i + 20))[0]?.seq);
  expect(new Set(starts).size).toBeLessThanOrEqual(30);
});

it("keeps summaries", () => {
  const summary = { seq: 0, compaction: { id: "c" } };
  expect(steadyWindow([summary, ...messages(7, 12)])).toEqual([summary, ...messages(8, 12)]);
});
