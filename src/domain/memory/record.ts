import { newMemoryId, userHash, type UserHash } from "../ids.ts";
import type { Memory, PastMemory, PatchMemoryBody, RememberBody } from "../schema/memory.ts";
import type { MemorySource } from "../schema/memory-fields.ts";
import type { Provenance, Trust } from "../schema/provenance.ts";
import type { ConflictPolicy } from "./predicates.ts";
import { type Identity, textOf } from "./identity.ts";
import { normalise } from "./normalise.ts";
import {
  attributeNames,
  type Attributes,
  byName,
  columnFields,
  type FieldName,
  fieldNames,
  type FieldValues,
  type FieldWith,
  isFixed,
} from "../schema/memory-fields.ts";
import type { MemoryRow } from "./table.ts";
import { leastOf } from "./trust.ts";

type ColumnField = FieldWith<"column">;

/** `hash` names the user's object; `id` is the caller's id of the user. */
export type Owner = { hash: UserHash; id: string };
export const ownerOf = async (user: string): Promise<Owner> => ({ hash: await userHash(user), id: user });
/** A thread without a user (`id` null) has an object of its own. */
export type ThreadOwner = { hash: UserHash; id: string | null };

/**
 * The writer of a memory. `vouches`: its token names a trust, which holds for what an extractor found too. `sources`: more than the
 * body's own. `reasons`: of its quarantine.
 */
export type Writer = { trust: Trust; vouches?: true } & Provenance;

/** The writer of what a body says. A fact that an extractor found is no person's word, whoever sends it. */
export const authorOf = (by: Writer, { source }: { source?: MemorySource | null | undefined }): Writer =>
  source?.extractor === undefined || by.vouches === true ? by : { ...by, trust: leastOf(by.trust, "model") };

/**
 * A memory to remember, with its identity. `inQuarantine`: its identity if it contradicts a memory of a higher trust; absent for a
 * writer whom no memory outranks.
 */
export type NewMemory = {
  body: RememberBody;
  identity: Identity;
  status: MemoryRow["status"];
  by: Writer;
  policy: ConflictPolicy;
  /** The predicates that the tenant calls opposites of this one. */
  opposites?: readonly string[];
  inQuarantine?: Identity;
  /** False: it is quarantined if it would change what a stored memory says. */
  replaces?: boolean;
  /** The id of a memory that waits in quarantine, and whose place this takes. Nothing is stored if it waits no longer. */
  waited?: string;
};

/** Memories of an extractor with a lower score are quarantined. */
const CONFIDENT = 0.7;

/** The status that the caller sets; else `quarantined` for a low score of an extractor. */
export function statusOf({
  status,
  source,
  score = 1,
  quarantineBelow = CONFIDENT,
}: RememberBody): MemoryRow["status"] {
  return status ?? (source?.extractor !== undefined && score < quarantineBelow ? "quarantined" : "active");
}

/** The columns that a caller sets; null is unset. */
export type Content = Pick<
  MemoryRow,
  | "kind"
  | "status"
  | "text"
  | ColumnField
  | "subjectNorm"
  | "predicateNorm"
  | "keyNorm"
  | "tags"
  | "attributes"
  | "trust"
  | "provenance"
  | "metadata"
  | "dedupeKey"
>;

type Stated = Pick<NewMemory, "body" | "identity" | "status" | "by">;
export const contentOf = ({ body, identity, status, by }: Stated): Content => ({
  kind: body.kind ?? "fact",
  status,
  ...NO_COLUMNS,
  ...setIn(body, columnFields),
  text: textOf(body),
  subjectNorm: normalisedOr(body.subject),
  predicateNorm: normalisedOr(body.predicate),
  keyNorm: normalisedOr(body.key),
  tags: [...new Set(body.tags)],
  attributes: attributesOf(body),
  trust: by.trust,
  provenance: provenanceOf(by, body.source),
  metadata: body.metadata ?? null,
  dedupeKey: identity.dedupeKey,
});

/** Sources of one memory that are kept; the last ones. */
const SOURCES = 32;

/** Cairn's notes on a written memory; null if there are none. */
export function provenanceOf(
  { writtenBy, sources = [], reasons = [], conflictsWith, waitedAs }: Provenance,
  source?: MemorySource,
): Provenance | null {
  const every = [...(source === undefined ? [] : [source]), ...sources];
  const all = [...new Map(every.map((one) => [JSON.stringify(one), one])).values()];
  const provenance: Provenance = {
    ...(writtenBy !== undefined && Object.keys(writtenBy).length > 0 && { writtenBy }),
    ...(all.length > 1 && { sources: all.slice(-SOURCES) }),
    ...(reasons.length > 0 && { reasons: [...reasons] }),
    ...(conflictsWith !== undefined && { conflictsWith }),
    ...(waitedAs !== undefined && { waitedAs }),
  };
  return Object.keys(provenance).length === 0 ? null : provenance;
}

/** The sources of a stored memory. */
export const sourcesOf = ({ source, provenance }: Pick<MemoryRow, "source" | "provenance">): MemorySource[] =>
  provenance?.sources ?? (source === null ? [] : [source]);

/** The provenance of a memory that a candidate is added to, with the sources of both. `by`: who wrote the rest. */
export function withSources(
  row: MemoryRow,
  { body, by: added }: NewMemory,
  by: Provenance,
): Provenance | null {
  const { reasons = by.reasons, conflictsWith = by.conflictsWith, waitedAs } = added;
  const sources = [
    ...sourcesOf(row),
    ...(body.source === undefined ? [] : [body.source]),
    ...(added.sources ?? []),
  ];
  return provenanceOf({ writtenBy: by.writtenBy, sources, reasons, conflictsWith, waitedAs });
}

/** The values of the fields that a body has; null removes a field. */
const givenIn = <Name extends FieldName>(body: FieldValues, names: readonly Name[]) =>
  // Each name has the value of its field.
  byName(
    names.filter((name) => body[name] !== undefined),
    (name) => body[name],
  ) as { [Key in Name]?: Exclude<FieldValues[Key], undefined> };

/** The values of the fields that are set. */
const setIn = <Name extends FieldName>(values: FieldValues, names: readonly Name[]) =>
  // Null is unset.
  givenIn(
    values,
    names.filter((name) => values[name] !== null),
  ) as SetFields<Name>;
type SetFields<Name extends FieldName> = { [Key in Name]?: NonNullable<FieldValues[Key]> };

const NO_COLUMNS = byName(columnFields, () => null);

/** The attributes after a change, in the order of the table: equal attributes have equal JSON. */
function attributesOf(body: FieldValues, current: Attributes | null = null): Attributes | null {
  const attributes = setIn({ ...current, ...givenIn(body, attributeNames) }, attributeNames);
  return Object.keys(attributes).length === 0 ? null : attributes;
}

/** The columns that a body sets, for a change of a memory. */
export const changesOf = (body: RememberBody | PatchMemoryBody, current: MemoryRow): Partial<Content> => ({
  ...givenIn(body, changeableColumns),
  ...(body.text !== undefined && { text: body.text }),
  attributes: attributesOf(body, current.attributes),
});
const changeableColumns = columnFields.filter((field) => !isFixed(field));

const normalisedOr = (text: string | undefined): string | null =>
  text === undefined ? null : normalise(text);

/** The start of validity: as set, or the creation, which may be long before an import. */
export const validFromOf = ({ validFrom, createdAt }: RememberBody, time: number): number =>
  validFrom ?? Math.min(createdAt ?? time, time);

/** A new version: the first of a memory, or the next one of a fact. */
export function newRow(
  owner: Owner,
  candidate: NewMemory,
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

/** The body that makes this row. */
export const bodyOf = (row: MemoryRow): RememberBody & { text: string } => ({
  kind: row.kind,
  ...statementOf(row),
  ...timesOf(row),
});

/** The body of a released memory. It is true from the release on, unless its caller set `validFrom`. */
export function releasedBodyOf(row: MemoryRow, time: number): RememberBody & { text: string } {
  const wasSet = row.validFrom !== row.recordedAt && row.validFrom !== row.createdAt;
  return { ...bodyOf(row), updatedAt: time, validFrom: wasSet ? row.validFrom : time };
}

/** The optional fields of a row that are set. */
export const fieldsOf = (row: MemoryRow): SetFields<FieldName> =>
  setIn({ ...row, ...row.attributes }, fieldNames);

const statementOf = (row: MemoryRow) => ({
  text: row.text,
  ...(row.tags.length > 0 && { tags: row.tags }),
  // The schema accepts only JSON.
  ...(row.metadata !== null && { metadata: row.metadata as NonNullable<Memory["metadata"]> }),
  ...fieldsOf(row),
});

const timesOf = ({ createdAt, updatedAt, validFrom, validTo, supersededAt }: MemoryRow) => ({
  createdAt,
  updatedAt,
  validFrom,
  ...set("validTo", least(validTo, supersededAt)),
});

/** A memory as callers see it: fields that are unset are absent. */
export const memoryOf = (row: MemoryRow): Memory => ({
  id: row.id,
  userId: row.userId,
  kind: row.kind,
  status: row.status,
  version: row.version,
  ...statementOf(row),
  trust: row.trust,
  ...row.provenance,
  ...timesOf(row),
  recordedAt: row.recordedAt,
});

/** A version of a memory's history, with its end. */
export const pastMemoryOf = (row: MemoryRow): PastMemory => ({
  ...memoryOf(row),
  ...set("correctedAt", row.correctedAt),
  ...set("supersededBy", row.supersededBy),
});

const set = <Key extends string, T>(key: Key, value: T | null): { [K in Key]?: T } =>
  // The object has at most this key.
  (value === null ? {} : { [key]: value }) as { [K in Key]?: T };

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
