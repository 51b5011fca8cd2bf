import type { UserHash } from "../ids.ts";
import { identityOf } from "../memory/identity.ts";
import { normalise } from "../memory/normalise.ts";
import type { MemoryLine } from "../schema/transfer.ts";
import type { MemoryRow } from "../memory/table.ts";

export type ExportedRow = MemoryRow & { supersededByNth: number | null };

/** A version as it is to be put: its number, and that of the version that is true after it, are still those of the line. */
export type ImportedVersion = Omit<MemoryRow, "userHash" | "userId">;

/** A version as a line: the `nth` of its memory. */
export function memoryLine(row: ExportedRow, nth: number) {
  const { valence, arousal, dominance } = row;
  const emotion =
    valence === null || arousal === null || dominance === null ? null : { valence, arousal, dominance };
  const { id, kind, status, text } = row;
  const optional = {
    tags: row.tags.length === 0 ? null : row.tags,
    metadata: row.metadata,
    title: row.title,
    subject: row.subject,
    predicate: row.predicate,
    object: row.object,
    key: row.key,
    scope: row.scope,
    externalId: row.externalId,
    score: row.score,
    importance: row.importance,
    source: row.source,
    sourceEntity: row.sourceEntity,
    context: row.context,
    episodeType: row.type,
    intensity: row.intensity,
    appraisal: row.appraisal,
    emotion,
    trigger: row.trigger,
  };
  const times = {
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    validFrom: row.validFrom,
    validTo: row.validTo,
    expiresAt: row.expiresAt,
    recordedAt: row.recordedAt,
    correctedAt: row.correctedAt,
    supersededAt: row.supersededAt,
    supersededBy: row.supersededByNth,
  };
  const fields = { ...optional, ...times };
  const set = Object.entries(fields).filter(([, value]) => value !== null);
  return { type: "memory", id, version: nth, kind, status, text, ...Object.fromEntries(set) };
}

/** The versions of one memory for an owner: another one's memory that is known by its name has another id there. */
export async function versionsOf(
  lines: readonly MemoryLine[],
  { from, to }: { from: UserHash; to: UserHash },
): Promise<ImportedVersion[]> {
  const [first] = lines;
  if (first === undefined) return [];
  const id = from === to ? first.id : await idFor(first, from, to);
  return Promise.all(lines.map((line) => versionOf(line, id, { from, to })));
}

async function idFor(line: MemoryLine, from: UserHash, to: UserHash): Promise<string> {
  for (const quarantined of [false, true]) {
    const { id } = await identityOf(from, named(line), quarantined);
    if (id === line.id) return (await identityOf(to, named(line), quarantined)).id ?? line.id;
  }
  return line.id;
}

async function versionOf(
  line: MemoryLine,
  id: string,
  { from, to }: { from: UserHash; to: UserHash },
): Promise<ImportedVersion> {
  const { emotion, source } = line;
  // What a thread was called is what it is called now.
  const thread = source?.thread?.startsWith(`${from}.`) ? `${to}${source.thread.slice(from.length)}` : null;
  return {
    id,
    version: line.version,
    kind: line.kind,
    status: line.status,
    text: line.text,
    title: line.title ?? null,
    subject: line.subject ?? null,
    predicate: line.predicate ?? null,
    object: line.object ?? null,
    key: line.key ?? null,
    subjectNorm: normalisedOr(line.subject),
    predicateNorm: normalisedOr(line.predicate),
    keyNorm: normalisedOr(line.key),
    scope: line.scope ?? null,
    externalId: line.externalId ?? null,
    tags: line.tags ?? [],
    score: line.score ?? null,
    importance: line.importance ?? null,
    source: source === undefined ? null : { ...source, ...(thread !== null && { thread }) },
    sourceEntity: line.sourceEntity ?? null,
    context: line.context ?? null,
    type: line.episodeType ?? null,
    intensity: line.intensity ?? null,
    appraisal: line.appraisal ?? null,
    valence: emotion?.valence ?? null,
    arousal: emotion?.arousal ?? null,
    dominance: emotion?.dominance ?? null,
    trigger: line.trigger ?? null,
    metadata: line.metadata ?? null,
    dedupeKey: (await identityOf(to, named(line), false)).dedupeKey,
    createdAt: line.createdAt,
    updatedAt: line.updatedAt,
    expiresAt: line.expiresAt ?? null,
    validFrom: line.validFrom,
    validTo: line.validTo ?? null,
    recordedAt: line.recordedAt,
    correctedAt: line.correctedAt ?? null,
    supersededAt: line.supersededAt ?? null,
    supersededBy: line.supersededBy ?? null,
  };
}

const named = ({ kind, scope, subject, predicate, key, title, externalId, text }: MemoryLine) => ({
  kind,
  text,
  ...(scope !== undefined && { scope }),
  ...(subject !== undefined && { subject }),
  ...(predicate !== undefined && { predicate }),
  ...(key !== undefined && { key }),
  ...(title !== undefined && { title }),
  ...(externalId !== undefined && { externalId }),
});

const normalisedOr = (text: string | undefined): string | null =>
  text === undefined ? null : normalise(text);
