import type { UserHash } from "../../domain/ids.ts";

/** Parts of a call that are measured by themselves. */
export type Part = "object" | "d1" | "embedder";

/**
 * `call`: one call of the API. `model`: one call of the language model, also of an alarm. `chore`: a chore of an object's alarm
 * that failed. `write`: a write of memories that D1 did not confirm.
 */
export type MetricPoint = {
  kind: "call" | "model" | "chore" | "write";
  /** The route as the OpenAPI document has it, never a URL; the model; the chore. */
  name: string;
  /** `ok`, or the code of the error. */
  code: string;
  /** The status of the answer to a call. */
  status?: number;
  ms?: number;
  /** Milliseconds that the Worker waited for each part. Waits may overlap. */
  parts?: Readonly<Partial<Record<Part, number>>>;
  owner?: UserHash | null;
  /** True for a recall of which an arm failed or was late. */
  degraded?: boolean;
  usage?: { inputTokens: number; outputTokens: number };
};

/** Takes the figures of the service. */
export interface Metrics {
  /** Never throws, and waits for nothing. */
  write(point: MetricPoint): void;
}
