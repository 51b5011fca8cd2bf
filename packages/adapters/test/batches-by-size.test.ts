import fc from "fast-check";
import { expect, it } from "vitest";
import { batchesBySize } from "../src/calls/batches-by-size.ts";
import { byteLength, limits } from "../../../src/domain/limits.ts";

const piece = fc.oneof(
  fc.constant("x"),
  fc
    .record({ times: fc.integer({ min: 1, max: 900_000 }), of: fc.constantFrom("x", "\u20ac", "\u0001") })
    .map(({ times, of }) => of.repeat(times)),
);
const size = (pieces: readonly string[]): number => byteLength(JSON.stringify(pieces));

it("cuts any list into calls that the server takes, in order, with nothing lost", () => {
  const most = Math.min(limits.operationsPerBatch, limits.messagesPerAppend);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 0, max: 2500 }), (large, small) => {
      const pieces = [...large, ...Array.from({ length: small }, () => "x"), ...large];
      const batches = [...batchesBySize(pieces)];
      expect(batches.flat()).toEqual(pieces);
      expect(batches.filter(({ length }) => length === 0 || length > most)).toEqual([]);
      const together = batches.filter(({ length }) => length > 1);
      expect(together.filter((batch) => byteLength(JSON.stringify(batch)) > limits.body)).toEqual([]);
      // No more calls than there have to be: what begins the next one had no room.
      const roomy = batches.filter((batch, i) => {
        const next = batches[i + 1]?.[0];
        return next !== undefined && batch.length < most && size([...batch, next]) < 16 * 1024 * 1024;
      });
      expect(roomy).toEqual([]);
    }),
    { numRuns: 10 },
  );
});
