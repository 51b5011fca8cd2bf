import type { Draft } from "../../../src/domain/memory/draft.ts";
import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { Memory } from "../../../src/domain/schema/memory.ts";
import type { Remembered } from "../contract.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A version with the values that may change after the answer. */
type VersionThen = Pick<MemoryRow, "version" | "updatedAt" | "supersededAt"> & { created?: boolean };

/**
 * The saved answer of a write, for a repeated request. It refers to versions, which are stored anyway: the answer to a
 * batch may exceed a row of SQLite (2 MB).
 */
export type Reference = { one: VersionThen } | { many: VersionThen[] };

export function referenceTo(answer: Memory | Remembered[], draft: Pick<Draft, "version">): Reference {
  const then = ({ id, version, updatedAt }: Memory): VersionThen => ({
    version,
    updatedAt,
    supersededAt: draft.version(id, version)?.supersededAt ?? null,
  });
  return Array.isArray(answer)
    ? { many: answer.map(({ memory, created }) => ({ ...then(memory), created })) }
    : { one: then(answer) };
}

/** The answer of the first request; null if a version is deleted. */
export function resolveReference(
  reference: Reference,
  rowsOf: (versions: number[]) => MemoryRow[],
): Memory | Remembered[] | null {
  const references = "one" in reference ? [reference.one] : reference.many;
  const rows = new Map(rowsOf(references.map(({ version }) => version)).map((row) => [row.version, row]));
  const answer: Remembered[] = [];
  for (const { version, created = false, ...then } of references) {
    const row = rows.get(version);
    if (row === undefined) return null;
    answer.push({ memory: memoryOf({ ...row, ...then }), created });
  }
  return "one" in reference ? (answer[0]?.memory ?? null) : answer;
}
