import type { Hit, Json, Memory, RememberBody } from "../../index.ts";
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

/** The SDK's own records, which Cairn's fields hold; `metadata.molroo` says what of them those cannot say as it is. */
export type RecordKind = "episodes" | "reflections";
type AnyRecord = { id: string };

/** `metadata.molroo`. */
export type Aside = {
  /** How much of the memory's text is the record's content, in UTF-16 code units; absent if it has none. */
  content?: number;
  /** The record's fields that Cairn's do not give back as they were. */
  rest?: Record<string, Json>;
  /** Where the whole record is, if it is too large for a memory. */
  whole?: { key: string };
};

/** Bytes of JSON that are kept in metadata; Cairn takes 10 KiB, and somebody else may add to it. */
export const ASIDE_BYTES = 9 * 1024;

/** `metadata.molroo` of a memory; null of one that somebody else stored. */
export function asideOf({ metadata }: Pick<Stored, "metadata">): Aside | null {
  const aside = metadata?.molroo;
  // What is there under this name this adapter wrote.
  return typeof aside === "object" && aside !== null ? (aside as Aside) : null;
}

/** The memory's own id of a record: the scope has no slash in it as it stands there, so no two records share one. */
export async function externalIdOf(scope: string, kind: RecordKind, id: string): Promise<string> {
  const plainly = `${encodeURIComponent(scope)}/${kind}/${id}`;
  return isName(plainly)
    ? plainly
    : `${encodeURIComponent(scope)}/${kind}/sha256:${await sha256Hex(JSON.stringify(id))}`;
}

/** The content that a memory's text begins with. */
export const contentOf = ({ text }: Stored, aside: Aside | null): string | undefined =>
  aside === null ? text : aside.content === undefined ? undefined : text.slice(0, aside.content);

/** The body with what a reader of it would not see as the record has it. */
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

/** A record as JSON. No number that is none comes back as null: the SDK formats these fields. */
export const jsonOf = (record: object): string =>
  JSON.stringify(record, (_field, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? 0 : value,
  );

/** Whether the memory holds all of its record. */
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

/** The SDK prints these numbers: a memory that has none is neutral. */
export const vadOf = (emotion: Memory["emotion"]): VAD =>
  emotion === undefined ? NEUTRAL : { V: emotion.valence, A: emotion.arousal, D: emotion.dominance };

/** The fields that are given. */
export const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
