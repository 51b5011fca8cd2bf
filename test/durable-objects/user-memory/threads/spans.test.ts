// The stretches that a view is read from, against a list of all seqs.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Span, spans } from "../../../../durable-objects/user-memory/threads/spans.ts";
import type { Order } from "../../../../src/contract/user-memory.ts";

const LAST = 40;
/** Ranges in order that do not overlap, of some of the seqs. */
const ranges = fc
  .uniqueArray(fc.integer({ min: 1, max: LAST }), { maxLength: 16 })
  .map((ends) => ends.toSorted((a, b) => a - b))
  .map((ends) =>
    ends.flatMap((from, i) => (i % 2 === 0 ? [{ from, to: (ends[i + 1] ?? from + 1) - 1 }] : [])),
  );
const seqs = ({ from, to }: { from: number; to: number }) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The items of a view, one by one: `n:seq` of a message, the id of a summary. */
const written = (shown: Iterable<Span>, order: Order): string[] =>
  [...shown].flatMap((span) => {
    if ("id" in span) return [span.id];
    const all = seqs(span).map((seq) => `${span.n}:${seq}`);
    return order === "newest" ? all.toReversed() : all;
  });

it("shows each seq once, in its order: by its owner, or within the summary that stands for it", () => {
  const order = fc.constantFrom<Order>("newest", "oldest");
  const bound = fc.integer({ min: 1, max: LAST });
  fc.assert(
    fc.property(ranges, ranges, order, bound, bound, (owned, summed, direction, first, last) => {
      const segments = owned.map((range, i) => ({ n: i + 1, ...range }));
      const summaries = summed.map((range, i) => ({ id: `summary ${i}`, createdAt: 0, ...range }));
      const expected = seqs({ from: 1, to: LAST }).flatMap((seq) => {
        const summary = summaries.find(({ from, to }) => seq >= from && seq <= to);
        if (seq < first || seq > last) return [];
        if (summary !== undefined) return seq === summary.to ? [summary.id] : [];
        const owner = segments.find(({ from, to }) => seq >= from && seq <= to);
        return owner === undefined ? [] : [`${owner.n}:${seq}`];
      });
      const turned = <T>(list: T[]) => (direction === "newest" ? list.toReversed() : list);
      const shown = spans(turned(segments), turned(summaries), { order: direction, within: [first, last] });
      expect(written(shown, direction)).toEqual(turned(expected));
    }),
    { numRuns: 1_000 },
  );
});
