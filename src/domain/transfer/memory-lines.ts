import type { UserHash } from "../ids.ts";
import { identityOf } from "../memory/identity.ts";
import { contentOf, fieldsOf, type Writer } from "../memory/record.ts";
import { leastOf } from "../memory/trust.ts";
import type { MemorySource } from "../schema/memory-fields.ts";
import type { Trust } from "../schema/provenance.ts";
import type { MemoryLine } from "../schema/transfer.ts";
import type { MemoryRow } from "../memory/table.ts";

export type ExportedRow = MemoryRow & { supersededByNth: number | null };

/** A version from a line. `version` and `supersededBy` are still the ordinals of the line. */
export type ImportedVersion = Omit<MemoryRow, "userHash" | "userId">;

/** The line of a version, the `nth` of its memory. */
export function memoryLine(row: ExportedRow, nth: number) {
  const { id, kind, status, text, tags, metadata } = row;
  const { type: episodeType, ...fields } = fieldsOf(row);
  const line = {
    type: "memory",
    id,
    version: nth,
    kind,
    status,
    text,
    tags: tags.length === 0 ? null : tags,
    metadata,
    ...fields,
    episodeType,
    trust: row.trust,
    ...row.provenance,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    validFrom: row.validFrom,
    recordedAt: row.recordedAt,
    correctedAt: row.correctedAt,
    supersededAt: row.supersededAt,
    supersededBy: row.supersededByNth,
  };
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value != null));
}

/**
 * The versions of one memory for an owner. For another user, a memory with a name gets another id. `trust`: of the importing
 * caller, which no version exceeds.
 */
export async function versionsOf(
  lines: readonly MemoryLine[],
  { from, to, trust }: { from: UserHash; to: UserHash; trust: Trust },
): Promise<ImportedVersion[]> {
  const [first] = lines;
  if (first === undefined) return [];
  const id = from === to ? first.id : await idFor(first, from, to);
  return Promise.all(lines.map((line) => versionOf(line, id, { from, to, trust })));
}

async function idFor(line: MemoryLine, from: UserHash, to: UserHash): Promise<string> {
  for (const quarantined of [false, true]) {
    const { id } = await identityOf(from, line, quarantined);
    if (id === line.id) return (await identityOf(to, line, quarantined)).id ?? line.id;
  }
  return line.id;
}

async function versionOf(
  line: MemoryLine,
  id: string,
  { from, to, trust }: { from: UserHash; to: UserHash; trust: Trust },
): Promise<ImportedVersion> {
  const {
    status,
    episodeType: type,
    source: given,
    sources,
    writtenBy,
    reasons,
    conflictsWith,
    waitedAs,
    ...said
  } = line;
  const identity = await identityOf(to, line, false);
  const there = (source: MemorySource) => sourceFor(source, { from, to });
  const source = given && there(given);
  const body = { ...said, type, ...(source && { source }) };
  const by: Writer = {
    trust: leastOf(line.trust ?? "import", trust),
    ...(writtenBy && { writtenBy }),
    ...(sources && { sources: sources.map(there) }),
    ...(reasons && { reasons }),
    // Facts of another user have other ids.
    ...(conflictsWith !== undefined && from === to && { conflictsWith }),
    ...(waitedAs !== undefined && from === to && { waitedAs }),
  };
  return {
    id,
    version: line.version,
    ...contentOf({ body, identity, status, by }),
    createdAt: line.createdAt,
    updatedAt: line.updatedAt,
    validFrom: line.validFrom,
    recordedAt: line.recordedAt,
    correctedAt: line.correctedAt ?? null,
    supersededAt: line.supersededAt ?? null,
    supersededBy: line.supersededBy ?? null,
  };
}

/** The same source of another owner: the id of a thread begins with the hash of its owner. */
const sourceFor = (source: MemorySource, { from, to }: { from: UserHash; to: UserHash }): MemorySource =>
  source.thread?.startsWith(`${from}.`)
    ? { ...source, thread: `${to}${source.thread.slice(from.length)}` }
    : source;
