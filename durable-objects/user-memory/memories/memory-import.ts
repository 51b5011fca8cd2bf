import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { ImportedVersion } from "../../../src/domain/transfer/memory-lines.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { Imported } from "../../../src/contract/user-memory.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type ImportRequest = {
  memories: readonly (readonly ImportedVersion[])[];
  now: number;
  quota: Pick<QuotaGuard, "memoriesFailure">;
};

/**
 * The rows that an import puts. A stored memory with the same history gets the versions that it lacks; one with another
 * history stays unchanged. Each new version gets a new number, as no number is used twice. `supersededBy` follows.
 */
export function importIn(
  table: Pick<MemoryTable, "versions" | "clock">,
  owner: Owner,
  { memories, now, quota }: ImportRequest,
): Imported & { put: MemoryRow[] } {
  const [imported, there, expired] = [{ memoryVersions: 0 }, { memoryVersions: 0 }, { memoryVersions: 0 }];
  const counts = { imported, there, expired, leftOut: {} };
  const put = new Map<number, MemoryRow>();
  // The same memory may come twice.
  const known = new Map<string, MemoryRow[]>();
  let added = 0;
  let last = table.clock.lastVersion();
  for (const [index, versions] of memories.entries()) {
    const [first] = versions;
    if (first === undefined) continue;
    if (hasExpired(versions, now)) {
      expired.memoryVersions += versions.length;
      continue;
    }
    const stored = known.get(first.id) ?? table.versions(first.id).toSorted((a, b) => a.version - b.version);
    if (!isSameHistory(stored, versions)) {
      there.memoryVersions += versions.length;
      continue;
    }
    const more = stored.length === 0 ? 1 : 0;
    const failure = stored.length < versions.length ? quota.memoriesFailure(() => added + more) : null;
    if (failure !== null) return { counts, put: [...put.values()], failed: { index, failure } };
    added += more;
    const numbers = versions.map((_, i) => stored[i]?.version ?? ++last);
    const after = versions.map((version, i) => {
      const number = numbers[i] ?? 0;
      const before = stored[i];
      const next = version.supersededBy === null ? null : (numbers[version.supersededBy - 1] ?? null);
      const row = { ...version, userHash: owner.hash, userId: owner.id, version: number, supersededBy: next };
      // A longer history ends the version that was the last.
      const ended = before !== undefined && i === stored.length - 1 && i < versions.length - 1;
      (before === undefined ? imported : there).memoryVersions++;
      if (before !== undefined && !ended) return before;
      put.set(number, row);
      return row;
    });
    known.set(first.id, [...after, ...stored.slice(versions.length)]);
  }
  return { counts, put: [...put.values()] };
}

/** True if one history begins with the other. Later ends of a version do not count. */
const isSameHistory = (stored: readonly MemoryRow[], versions: readonly ImportedVersion[]): boolean =>
  stored.every((row, i) => {
    const other = versions[i];
    return other === undefined || (other.recordedAt === row.recordedAt && other.text === row.text);
  });

/** The expiry of the latest version is that of the memory with its history. */
const hasExpired = (versions: readonly ImportedVersion[], now: number): boolean =>
  versions.some(
    ({ correctedAt, supersededAt, expiresAt }) =>
      correctedAt === null && supersededAt === null && expiresAt !== null && expiresAt < now,
  );
