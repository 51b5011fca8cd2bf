import { newMemoryId, userHash, type UserHash } from "../ids.ts";
import type { Memory, PastMemory, PatchMemoryBody, RememberBody } from "../schema/memory.ts";
import { type Identity, textOf } from "./identity.ts";
import { normalise } from "./normalise.ts";
import type { MemoryRow } from "./table.ts";

/** Whose something is: the name of the object, and the user's own id. */
export type Owner = { hash: UserHash; id: string };
export const ownerOf = async (user: string): Promise<Owner> => ({ hash: await userHash(user), id: user });
/** The owner of a thread, which may be nobody: an object of its own then. */
export type ThreadOwner = { hash: UserHash; id: string | null };

/** What a caller wants remembered, with what makes it one with other memories. */
export type Candidate = { body: RememberBody; identity: Identity; status: MemoryRow["status"] };

/** A model's finding with less confidence than this is kept for review. */
const CONFIDENT = 0.7;

/** What a caller remembers is active; what an extractor found with too little confidence, or a caller says so, is not. */
export function statusOf({
  status,
  source,
  score,
  quarantineBelow = CONFIDENT,
}: RememberBody): MemoryRow["status"] {
  if (status !== undefined) return status;
  return source?.extractor !== undefined && score !== undefined && score < quarantineBelow
    ? "quarantined"
    : "active";
}

/** What a memory says, in columns; null is unset. */
export type Content = Pick<
  MemoryRow,
  | "kind"
  | "status"
  | "text"
  | "title"
  | "subject"
  | "predicate"
  | "object"
  | "key"
  | "subjectNorm"
  | "predicateNorm"
  | "keyNorm"
  | "scope"
  | "externalId"
  | "tags"
  | "score"
  | "importance"
  | "source"
  | "sourceEntity"
  | "context"
  | "type"
  | "intensity"
  | "appraisal"
  | "valence"
  | "arousal"
  | "dominance"
  | "trigger"
  | "metadata"
  | "dedupeKey"
  | "expiresAt"
  | "validTo"
>;

export function contentOf({ body, identity, status }: Candidate): Content {
  return {
    kind: body.kind ?? "fact",
    status,
    text: textOf(body),
    title: body.title ?? null,
    subject: body.subject ?? null,
    predicate: body.predicate ?? null,
    object: body.object ?? null,
    key: body.key ?? null,
    subjectNorm: normalisedOr(body.subject),
    predicateNorm: normalisedOr(body.predicate),
    keyNorm: normalisedOr(body.key),
    scope: body.scope ?? null,
    externalId: body.externalId ?? null,
    tags: [...new Set(body.tags)],
    score: body.score ?? null,
    importance: body.importance ?? null,
    source: body.source ?? null,
    sourceEntity: body.sourceEntity ?? null,
    context: body.context ?? null,
    type: body.type ?? null,
    intensity: body.intensity ?? null,
    appraisal: body.appraisal ?? null,
    ...feeling(body.emotion ?? null),
    trigger: body.trigger ?? null,
    metadata: body.metadata ?? null,
    dedupeKey: identity.dedupeKey,
    expiresAt: body.expiresAt ?? null,
    validTo: body.validTo ?? null,
  };
}

/** The columns that a body sets, for a change of a memory that is there. */
export function changesOf(body: RememberBody | PatchMemoryBody): Partial<Content> {
  const { emotion, ...given } = body;
  const changes: Partial<Content> = {};
  for (const field of changeable)
    if (given[field] !== undefined) Object.assign(changes, { [field]: given[field] });
  return { ...changes, ...(emotion !== undefined && feeling(emotion)) };
}

const changeable = [
  "text",
  "object",
  "score",
  "importance",
  "source",
  "sourceEntity",
  "context",
  "type",
  "intensity",
  "appraisal",
  "trigger",
  "expiresAt",
  "validTo",
] as const;

const feeling = (emotion: Memory["emotion"] | null): Pick<Content, "valence" | "arousal" | "dominance"> => ({
  valence: emotion?.valence ?? null,
  arousal: emotion?.arousal ?? null,
  dominance: emotion?.dominance ?? null,
});

const normalisedOr = (text: string | undefined): string | null =>
  text === undefined ? null : normalise(text);

/** From when on a memory is true: unless that is said, from its creation on, which may be long before an import. */
export const validFromOf = ({ validFrom, createdAt }: RememberBody, time: number): number =>
  validFrom ?? Math.min(createdAt ?? time, time);

/** The first version of a memory, or the next one that is true of a fact. */
export function newRow(
  owner: Owner,
  candidate: Candidate,
  { id, version, time }: { id: string | null; version: number; time: number },
): MemoryRow {
  const { body } = candidate;
  const createdAt = body.createdAt ?? Math.min(body.updatedAt ?? time, time);
  return {
    userHash: owner.hash,
    id: id ?? newMemoryId(time, version),
    version,
    userId: owner.id,
    ...contentOf(candidate),
    createdAt,
    updatedAt: body.updatedAt ?? createdAt,
    validFrom: validFromOf(body, time),
    recordedAt: time,
    correctedAt: null,
    supersededAt: null,
    supersededBy: null,
  };
}

/** A row as the body that would make it. */
export function bodyOf(row: MemoryRow): RememberBody & { text: string } {
  const { id: _i, userId: _u, version: _v, recordedAt: _r, status: _s, ...body } = memoryOf(row);
  return body;
}

/** What was kept for review as it is to be remembered: true from its release on, unless its caller said since when. */
export function releasedBodyOf(row: MemoryRow, time: number): RememberBody & { text: string } {
  const said = row.validFrom !== row.recordedAt && row.validFrom !== row.createdAt;
  return { ...bodyOf(row), updatedAt: time, validFrom: said ? row.validFrom : time };
}

/** A memory as callers see it: what is unset is absent. */
export function memoryOf(row: MemoryRow): Memory {
  const validTo = least(row.validTo, row.supersededAt);
  return {
    id: row.id,
    userId: row.userId,
    kind: row.kind,
    status: row.status,
    version: row.version,
    text: row.text,
    ...set("title", row.title),
    ...set("subject", row.subject),
    ...set("predicate", row.predicate),
    ...set("object", row.object),
    ...set("key", row.key),
    ...set("scope", row.scope),
    ...set("externalId", row.externalId),
    ...(row.tags.length > 0 && { tags: row.tags }),
    ...set("score", row.score),
    ...set("importance", row.importance),
    ...set("source", row.source),
    ...set("sourceEntity", row.sourceEntity),
    ...set("context", row.context),
    ...set("type", row.type),
    ...set("intensity", row.intensity),
    ...set("appraisal", row.appraisal),
    ...(row.valence !== null &&
      row.arousal !== null &&
      row.dominance !== null && {
        emotion: { valence: row.valence, arousal: row.arousal, dominance: row.dominance },
      }),
    ...set("trigger", row.trigger),
    // It went in as JSON, by the schema.
    ...(row.metadata !== null && { metadata: row.metadata as NonNullable<Memory["metadata"]> }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    ...set("expiresAt", row.expiresAt),
    validFrom: row.validFrom,
    ...set("validTo", validTo),
    recordedAt: row.recordedAt,
  };
}

/** A version of a memory's history, with what came after it. */
export const pastMemoryOf = (row: MemoryRow): PastMemory => ({
  ...memoryOf(row),
  ...set("correctedAt", row.correctedAt),
  ...set("supersededBy", row.supersededBy),
});

const set = <Key extends string, T>(key: Key, value: T | null): { [K in Key]?: T } =>
  // One key, as the type says.
  (value === null ? {} : { [key]: value }) as { [K in Key]?: T };

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
