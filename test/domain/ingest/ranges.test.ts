import fc from "fast-check";
import { expect, it } from "vitest";
import { type FailedRange, within, without, withRange } from "../../../src/domain/ingest/ranges.ts";
import type { ExtractKind } from "../../../src/domain/schema/ingest.ts";

const KINDS = ["facts", "procedures"] as const;
const range = fc
  .record({
    kinds: fc.subarray<ExtractKind>([...KINDS], { minLength: 1 }),
    after: fc.nat({ max: 20 }),
    length: fc.integer({ min: 1, max: 10 }),
    why: fc.constantFrom("model_refused", "invalid_answer"),
  })
  .map(({ length, ...rest }): FailedRange => ({ ...rest, to: rest.after + length }));
const ranges = fc.array(range, { maxLength: 6 });
/** Each message of each kind that some ranges hold. */
const held = (some: readonly FailedRange[]): Set<string> =>
  new Set(
    some.flatMap(({ kinds, after, to }) =>
      kinds.flatMap((kind) => Array.from({ length: to - after }, (_, i) => `${kind} ${after + i + 1}`)),
    ),
  );

it("holds what was added, and no other message", () => {
  fc.assert(
    fc.property(ranges, (some) => {
      expect(held(some.reduce(withRange, []))).toEqual(held(some));
    }),
  );
});

it("is without what was taken away, and keeps the rest", () => {
  fc.assert(
    fc.property(ranges, range, (some, taken) => {
      expect(held(without(some, taken))).toEqual(held(some).difference(held([taken])));
    }),
  );
});

it("is cut to kinds and to a seq", () => {
  fc.assert(
    fc.property(ranges, fc.nat({ max: 30 }), (some, upTo) => {
      const cut = { kinds: ["facts" as const], after: 0, to: upTo, why: "" };
      expect(held(within(some, { kinds: ["facts"], upTo }))).toEqual(held(some).intersection(held([cut])));
    }),
  );
});

it("joins messages that failed alike one after another, and any if there are too many", () => {
  const failed = (seq: number): FailedRange => ({ kinds: ["facts"], after: seq - 1, to: seq, why: "x" });
  const inARow = Array.from({ length: 50 }, (_, i) => failed(i + 1));
  expect(inARow.reduce(withRange, [])).toEqual([{ ...failed(1), to: 50 }]);
  const apart = Array.from({ length: 2_000 }, (_, i) => failed(2 * i + 1));
  const joined = apart.reduce(withRange, []);
  expect(joined).toHaveLength(500);
  expect(held(apart).difference(held(joined)).size).toBe(0);
});
