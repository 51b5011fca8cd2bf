// The counts of an import, in words.
import type { ImportCounts } from "#domain/schema/transfer.ts";
import { OUTCOMES } from "#domain/transfer/format.ts";

type Tally = ImportCounts["imported"];

const NAMES = {
  threads: ["thread", "threads"],
  messages: ["message", "messages"],
  compactions: ["compaction", "compactions"],
  entries: ["entry", "entries"],
  memoryVersions: ["version of a memory", "versions of memories"],
} as const satisfies Record<keyof Tally, readonly [one: string, more: string]>;
const OUTCOME_NAMES = {
  imported: "imported",
  there: "there already",
  expired: "expired",
  leftOut: "left out",
} as const satisfies Record<keyof ImportCounts, string>;

/** Adds what another part of the same file counted. */
export function add(sum: Tally, counted: Tally): void {
  for (const what of kindsOf(counted)) sum[what] = (sum[what] ?? 0) + (counted[what] ?? 0);
}

/** As in `1 thread, 2 messages`. */
export const inWords = (tally: Tally): string[] =>
  kindsOf(tally).map((what) => {
    const n = tally[what] ?? 0;
    return `${n} ${NAMES[what][n === 1 ? 0 : 1]}`;
  });

/** The outcome of a file, as in `1 thread imported, 2 entries there already`. */
export const told = (sum: ImportCounts): string =>
  OUTCOMES.flatMap((outcome) =>
    inWords(sum[outcome]).map((what) => `${what} ${OUTCOME_NAMES[outcome]}`),
  ).join(", ") || "nothing in it";

const kindsOf = (tally: Tally): (keyof Tally)[] =>
  (Object.keys(NAMES) as (keyof Tally)[]).filter((what) => tally[what] !== undefined);
