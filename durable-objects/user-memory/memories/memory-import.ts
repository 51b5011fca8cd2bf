import type { Failure } from "../../../src/domain/errors.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { ImportedVersion } from "../../../src/domain/transfer/memory-lines.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { ImportedMemories } from "../contract.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type Given = {
  memories: readonly (readonly ImportedVersion[])[];
  now: number;
  /** Why the user may not hold this many more memories; null if allowed. */
  refusal: (more: number) => Failure | null;
};

/**
 * The rows that an import puts. A stored memory with the same history gets the versions that it lacks; one with another
 * history stays unchanged. Each new version gets a new number, as no number is used twice. `supersededBy` follows.
 */
export function importIn(
  table: Pick<MemoryTable, "versions" | "lastVersion">,
  owner: Owner,
  { memories, now, refusal }: Given,
): ImportedMemories & { put: MemoryRow[] } {
  const result: ImportedMemories = { imported: 0, there: 0, expired: 0 };
  const put = new Map<number, MemoryRow>();
  // The same memory may come twice.
  const known = new Map<string, MemoryRow[]>();
  let added = 0;
  let last = table.lastVersion();
  for (const [index, versions] of memories.entries()) {
    const [first] = versions;
    if (first === undefined) continue;
    if (hasExpired(versions, now)) {
      result.expired += versions.length;
      continue;
    }
    const there = known.get(first.id) ?? table.versions(first.id).toSorted((a, b) => a.version - b.version);
    if (!isSameHistory(there, versions)) {
      result.there += versions.length;
      continue;
    }
    const more = there.length === 0 ? 1 : 0;
    const failure = there.length < versions.length ? refusal(added + more) : null;
    if (failure !== null) return { ...result, put: [...put.values()], failed: { index, failure } };
    added += more;
    const numbers = versions.map((_, i) => there[i]?.version ?? ++last);
    const after = versions.map((version, i) => {
      const number = numbers[i] ?? 0;
      const before = there[i];
      const next = version.supersededBy === null ? null : (numbers[version.supersededBy - 1] ?? null);
      const row = { ...version, userHash: owner.hash, userId: owner.id, version: number, supersededBy: next };
      // A longer history ends the version that was the last.
      const ended = before !== undefined && i === there.length - 1 && i < versions.length - 1;
      if (before === undefined) result.imported++;
      else result.there++;
      if (before !== undefined && !ended) return before;
      put.set(number, row);
      return row;
    });
    known.set(first.id, [...after, ...there.slice(versions.length)]);
  }
  return { ...result, put: [...put.values()] };
}

/** True if one history begins with the other. Later ends of a version do not count. */
const isSameHistory = (there: readonly MemoryRow[], given: readonly ImportedVersion[]): boolean =>
  there.every((row, i) => {
    const other = given[i];
    return other === undefined || (other.recordedAt === row.recordedAt && other.text === row.text);
  });

/** The expiry of the latest version is that of the memory with its history. */
const hasExpired = (versions: readonly ImportedVersion[], now: number): boolean =>
  versions.some(
    ({ correctedAt, supersededAt, expiresAt }) =>
      correctedAt === null && supersededAt === null && expiresAt !== null && expiresAt < now,
  );
