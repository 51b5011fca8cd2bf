import type { MemoryRecords } from "../d1/memory-records.ts";
import { ErasedWrite, FullDatabase, OvertakenWrite, RefusedWrite } from "../d1/write-errors.ts";
import type { Metrics } from "./metrics.ts";

/** The same records; each write that D1 does not confirm is a point. It stays an intent of its object, unless D1 refused it. */
export const measuredRecords = (records: MemoryRecords, metrics: Metrics): MemoryRecords => ({
  ...records,
  write: async (write) => {
    try {
      await records.write(write);
    } catch (error) {
      // D1 answered, and the object goes on from what it said.
      if (!(error instanceof OvertakenWrite || error instanceof ErasedWrite))
        metrics.write({ kind: "write", name: "memories", code: codeOf(error) });
      throw error;
    }
  },
});

const codeOf = (error: unknown): string =>
  error instanceof RefusedWrite ? "refused" : error instanceof FullDatabase ? "full" : "pending";
