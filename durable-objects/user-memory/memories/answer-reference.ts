import type { Draft } from "../../../src/domain/memory/draft.ts";
import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { Memory } from "../../../src/domain/schema/memory.ts";
import type { Released, Remembered } from "../../../src/contract/user-memory.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A version with the values that may change after the answer. */
type VersionThen = Pick<MemoryRow, "version" | "updatedAt" | "supersededAt"> & {
  created?: boolean;
  superseded?: readonly number[];
};

/**
 * The saved answer of a write, for a repeated request. It refers to versions, which are stored anyway: the answer to a
 * batch may exceed a row of SQLite (2 MB).
 */
export type Reference = { one: VersionThen } | { many: VersionThen[] };

/** `superseded`: the versions that each memory of the answer ended. */
export function referenceTo(
  answer: Released | Remembered[],
  draft: Pick<Draft, "version">,
  superseded: readonly (readonly number[])[] = [],
): Reference {
  const then = ({ id, version, updatedAt }: Memory, ended: readonly number[] = []): VersionThen => ({
    version,
    updatedAt,
    supersededAt: draft.version(id, version)?.supersededAt ?? null,
    ...(ended.length > 0 && { superseded: ended }),
  });
  return Array.isArray(answer)
    ? { many: answer.map(({ memory, created }, i) => ({ ...then(memory, superseded[i]), created })) }
    : { one: then(answer, superseded[0]) };
}

/** The answer of the first request; null if a version is deleted. */
export function resolveReference(
  reference: Reference,
  rowsOf: (versions: number[]) => MemoryRow[],
): Released | Remembered[] | null {
  const references = "one" in reference ? [reference.one] : reference.many;
  const versions = references.flatMap(({ version, superseded = [] }) => [version, ...superseded]);
  const rows = new Map(rowsOf(versions).map((row) => [row.version, row]));
  const answer: Remembered[] = [];
  for (const { version, created = false, superseded = [], ...then } of references) {
    const row = rows.get(version);
    if (row === undefined) return null;
    // One that was forgotten since is not named again.
    const ended = superseded.flatMap((one) => rows.get(one) ?? []).map(({ id, text }) => ({ id, text }));
    answer.push({
      memory: memoryOf({ ...row, ...then }),
      created,
      ...(ended.length > 0 && { superseded: ended }),
    });
  }
  if (!("one" in reference)) return answer;
  const [one] = answer;
  return one === undefined ? null : { ...one.memory, ...(one.superseded && { superseded: one.superseded }) };
}
