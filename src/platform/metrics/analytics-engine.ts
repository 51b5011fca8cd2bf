import type { MetricPoint, Metrics } from "./metrics.ts";

/** The platform's limit, in bytes; names of routes and models are ASCII. */
const LONGEST_INDEX = 96;
const NO_PARTS = { object: 0, d1: 0, embedder: 0 };
const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

/** A dataset of the platform, as far as it is used. */
export type Dataset = {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
};

/**
 * Writes data points to Workers Analytics Engine. docs/reference/metrics.md names the columns: their order is fixed, and new ones come last.
 * The index is the name: where the platform samples, it keeps the points of a rare route.
 */
export class AnalyticsEngine implements Metrics {
  readonly #dataset: Dataset;
  #failed = false;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  write({ kind, name, code, owner, ...figures }: MetricPoint): void {
    try {
      this.#dataset.writeDataPoint({
        indexes: [name.slice(0, LONGEST_INDEX)],
        blobs: [kind, name, code, owner ?? ""],
        doubles: doublesOf(figures),
      });
    } catch (error) {
      // Once in an isolate: each call would fail alike.
      if (!this.#failed) console.error({ message: "metrics could not be written", error: String(error) });
      this.#failed = true;
    }
  }
}

function doublesOf({ ms = 0, parts, usage, degraded = false, status = 0 }: Partial<MetricPoint>): number[] {
  const { object, d1, embedder } = { ...NO_PARTS, ...parts };
  const { inputTokens, outputTokens } = usage ?? NO_USAGE;
  return [ms, object, d1, embedder, inputTokens, outputTokens, Number(degraded), status];
}
