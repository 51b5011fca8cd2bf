import type { Hit, Json, Memory, RememberBody } from "../../../client/src/index.ts";
import { byteLength, isName } from "./fields.ts";
import type { VAD } from "./types.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** A memory as a list or a search gives it. */
export type Stored = Pick<
  Memory | Hit,
  | "id"
  | "text"
  | "createdAt"
  | "externalId"
  | "type"
  | "context"
  | "sourceEntity"
  | "trigger"
  | "importance"
  | "intensity"
  | "appraisal"
  | "emotion"
  | "metadata"
>;

/** The SDK's own records, stored in Cairn's fields; `metadata.molroo` holds the rest. */
export type RecordKind = "episodes" | "reflections";
type AnyRecord = { id: string };

/** The content of `metadata.molroo`. */
export type Aside = {
  /** The length of the record's content in the memory's text, in UTF-16 code units; absent if it has none. */
  content?: number;
  /** The record's fields that Cairn's fields do not return unchanged. */
  rest?: Record<string, Json>;
  /** The entry of the whole record, if a memory cannot hold it. */
  whole?: { key: string };
};

/** The most bytes of JSON in metadata; Cairn takes 10 KiB, and others may add to it. */
const ASIDE_BYTES = 9 * 1024;

/** `metadata.molroo` of a memory; null for a foreign memory. */
export function asideOf({ metadata }: Pick<Stored, "metadata">): Aside | null {
  const aside = metadata?.molroo;
  // This adapter wrote the field.
  return typeof aside === "object" && aside !== null ? (aside as Aside) : null;
}

/** The memory's external id of a record. The encoded scope has no slash, so ids are unique. */
export async function externalIdOf(scope: string, kind: RecordKind, id: string): Promise<string> {
  const plainly = `${encodeURIComponent(scope)}/${kind}/${id}`;
  return isName(plainly)
    ? plainly
    : `${encodeURIComponent(scope)}/${kind}/sha256:${await sha256Hex(JSON.stringify(id))}`;
}

/** The content at the beginning of a memory's text. */
export const contentOf = ({ text }: Stored, aside: Aside | null): string | undefined =>
  aside === null ? text : aside.content === undefined ? undefined : text.slice(0, aside.content);

/** Adds to the body the fields that a reader would not get back unchanged. */
export function withRest(body: RememberBody, aside: Aside, read: AnyRecord, record: AnyRecord): RememberBody {
  const seen = read as Record<string, unknown>;
  // A record is an object.
  const whole = JSON.parse(jsonOf(record)) as Record<string, Json>;
  const rest = Object.entries(whole).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(seen[field]),
  );
  const molroo: Aside = { ...aside, ...(rest.length > 0 && { rest: Object.fromEntries(rest) }) };
  return { ...body, metadata: { molroo } };
}

/** A record as JSON, with 0 for NaN and infinities, since the SDK formats these fields. */
export const jsonOf = (record: object): string =>
  JSON.stringify(record, (_field, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? 0 : value,
  );

/** True if the memory can hold all of its record. */
export const isRoomy = ({ metadata }: RememberBody): boolean =>
  byteLength(JSON.stringify(metadata ?? null)) <= ASIDE_BYTES;

const NEUTRAL: VAD = { V: 0, A: 0, D: 0 };

export const emotionOf = (
  { V, A, D }: VAD,
  clamp: (value: number) => number | undefined,
): Memory["emotion"] => ({
  valence: clamp(V) ?? 0,
  arousal: clamp(A) ?? 0,
  dominance: clamp(D) ?? 0,
});

/** Neutral without an emotion, since the SDK prints these numbers. */
export const vadOf = (emotion: Memory["emotion"]): VAD =>
  emotion === undefined ? NEUTRAL : { V: emotion.valence, A: emotion.arousal, D: emotion.dominance };

/** The fields that are not undefined. */
export const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
