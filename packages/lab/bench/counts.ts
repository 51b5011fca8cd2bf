import type { Call, Client } from "./load.ts";

/** The rows that were written and read, in the databases of objects and in D1. */
export type Counts = { written: number; read: number; d1Written: number; d1Read: number };
/** The counts of one object so far, and the bytes of its database. */
export type ObjectCounts = Counts & { bytes: number };
/**
 * All counts so far. `requests`: to objects, alarms too. `byTable`: the rows that objects wrote. `d1Ms`: of D1, as it says. `now`: of
 * the Worker's clock.
 */
export type Totals = Counts & {
  requests: number;
  byTable: Record<string, number>;
  d1Ms: number;
  now: number;
};

/** Dollars per million rows, from docs/reference/costs.md. */
const PER_MILLION: Counts = { written: 1, read: 0.001, d1Written: 1, d1Read: 0.001 };
/** Dollars of a million calls besides: of the Worker, and of each request to an object. Times are estimates on the safe side. */
const [CPU_MS, OBJECT_MS] = [5, 50];
const WORKER = 0.3 + 0.02 * CPU_MS;
const OBJECT = 0.15 + (12.5 * 0.125 * OBJECT_MS) / 1_000;
/** Dollars of a million tokens, by the model of Workers AI. */
export const MODELS = {
  "@cf/google/gemma-4-26b-a4b-it": { input: 0.1, output: 0.3 },
  "@cf/meta/llama-3.3-70b-instruct-fp8-fast": { input: 0.293, output: 2.253 },
} as const;
export const countKinds = ["written", "read", "d1Written", "d1Read"] as const;

/** What the rows of a million calls cost, of the rows of one. */
export const dollarsOf = (rows: Counts): number =>
  countKinds.reduce((sum, kind) => sum + rows[kind] * PER_MILLION[kind], 0);

export type Tokens = { calls: number; input: number; output: number };

export const dollarsOfTokens = ({ input, output }: Tokens, model: keyof typeof MODELS): number =>
  (input * MODELS[model].input + output * MODELS[model].output) / 1e6;

/** What a million calls cost with all that follows them, of what one has counted. */
export const billOf = (counted: Counts & { requests: number }): number =>
  dollarsOf(counted) + WORKER + counted.requests * OBJECT;

/** Each count of the result is `of` its kind. */
export const countsBy = (of: (kind: keyof Counts) => number): Counts => ({
  written: of("written"),
  read: of("read"),
  d1Written: of("d1Written"),
  d1Read: of("d1Read"),
});

/** The rows of all calls and alarms of a counting server so far. */
export async function totalOf(client: Client): Promise<Totals> {
  const call: Call = { method: "GET", path: "/counts", status: 200 };
  return JSON.parse(await client.call(call)) as Totals;
}
