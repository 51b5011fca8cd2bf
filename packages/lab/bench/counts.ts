import type { Call, Client } from "./load.ts";

/** The rows that were written and read, in the databases of objects and in D1. */
export type Counts = { written: number; read: number; d1Written: number; d1Read: number };
/** The counts of one object so far, and the bytes of its database. */
export type ObjectCounts = Counts & { bytes: number };

/** Dollars per million rows, from docs/reference/costs.md. */
const PER_MILLION: Counts = { written: 1, read: 0.001, d1Written: 1, d1Read: 0.001 };
export const countKinds = ["written", "read", "d1Written", "d1Read"] as const;

/** What the rows of a million calls cost, of the rows of one. */
export const dollarsOf = (rows: Counts): number =>
  countKinds.reduce((sum, kind) => sum + rows[kind] * PER_MILLION[kind], 0);

/** Each count of the result is `of` its kind. */
export const countsBy = (of: (kind: keyof Counts) => number): Counts => ({
  written: of("written"),
  read: of("read"),
  d1Written: of("d1Written"),
  d1Read: of("d1Read"),
});

/** The rows of all calls and alarms of a counting server so far. */
export async function totalOf(client: Client): Promise<Counts> {
  const call: Call = { method: "GET", path: "/counts", status: 200 };
  return JSON.parse(await client.call(call)) as Counts;
}
