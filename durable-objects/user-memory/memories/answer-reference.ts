import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { Remembered } from "../../../src/contract/user-memory.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A memory of a write's answer: its version, the versions of facts that it ended, and the rest of the answer. */
export type AnsweredRow = {
  row: MemoryRow;
  ended: readonly MemoryRow[];
  rest: Omit<Remembered, "memory" | "superseded">;
};

export const answerOf = ({ row, ended, rest }: AnsweredRow): Remembered => ({
  memory: memoryOf(row),
  ...rest,
  ...(ended.length > 0 && { superseded: ended.map(({ id, text }) => ({ id, text })) }),
});

/**
 * A memory of the saved answer of a write, for a repeated request. It refers to versions, which are stored anyway: the answer to
 * a batch may exceed a row of SQLite (2 MB). It holds the values that may change after the answer.
 */
export type Reference = Pick<MemoryRow, "version" | "updatedAt" | "supersededAt"> & {
  created?: boolean;
  superseded?: readonly number[];
};
/** The version of before saved an object, without what was false or empty; a repeated request may meet it for a day. */
export type SavedAnswer = readonly Reference[] | { one: Reference } | { many: readonly Reference[] };

export const referenceTo = ({ row, ended, rest }: AnsweredRow): Reference => ({
  version: row.version,
  updatedAt: row.updatedAt,
  supersededAt: row.supersededAt,
  created: rest.created,
  superseded: ended.map(({ version }) => version),
});

/** The answer of the first request; null if a version is deleted. */
export function resolveReferences(
  saved: SavedAnswer,
  rowsOf: (versions: number[]) => MemoryRow[],
): Remembered[] | null {
  const references = "one" in saved ? [saved.one] : "many" in saved ? saved.many : saved;
  const versions = references.flatMap(({ version, superseded = [] }) => [version, ...superseded]);
  const rows = new Map(rowsOf(versions).map((row) => [row.version, row]));
  const answer: Remembered[] = [];
  for (const { version, created = false, superseded = [], ...then } of references) {
    const row = rows.get(version);
    if (row === undefined) return null;
    // One that was forgotten since is not named again.
    const ended = superseded.flatMap((one) => rows.get(one) ?? []);
    answer.push(answerOf({ row: { ...row, ...then }, ended, rest: { created } }));
  }
  return answer;
}
