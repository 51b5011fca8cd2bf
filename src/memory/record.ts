import type { MemoryRow } from "../d1/tables.ts";
import { type ErrorCode, fail, type Failure, ok, type Result } from "../errors.ts";
import { hash16, newMemoryId, type UserHash } from "../ids.ts";
import { byteLength, limits } from "../limits.ts";
import type { Memory, RememberBody } from "../schema/memory.ts";

/** Two memories of a user are the same one when they have the same kind, and texts that differ in no word. */
export const dedupeKey = ({ kind = "fact", text }: RememberBody): Promise<string> =>
  hash16(`${kind}\n${text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim()}`);

/** Whose something is: the name of the object, and the user's own id. */
export type Owner = { hash: UserHash; id: string };
/** The owner of a thread, which may be nobody: an object of its own then. */
export type ThreadOwner = { hash: UserHash; id: string | null };

/** The row of a memory that is new. */
export function newRow(
  owner: Owner,
  body: RememberBody,
  { key, now }: { key: string; now: number },
): MemoryRow {
  return {
    userHash: owner.hash,
    id: newMemoryId(now),
    userId: owner.id,
    kind: body.kind ?? "fact",
    text: body.text,
    tags: [...new Set(body.tags)],
    score: body.score ?? null,
    metadata: body.metadata ?? null,
    dedupeKey: key,
    createdAt: now,
    updatedAt: now,
  };
}

/** The row of a memory that is remembered again: tags and metadata add up, the latest text and score hold. */
export function mergedRow(row: MemoryRow, body: RememberBody, now: number): Result<MemoryRow> {
  const tags = [...new Set([...row.tags, ...(body.tags ?? [])])];
  const metadata =
    row.metadata === null && body.metadata === undefined ? null : { ...row.metadata, ...body.metadata };
  if (tags.length > limits.tags) return overLimit("too_many_tags", "body.tags");
  if (metadata !== null && byteLength(JSON.stringify(metadata)) > limits.metadata)
    return overLimit("metadata_too_large", "body.metadata");
  const score = body.score ?? row.score;
  return ok({ ...row, text: body.text, tags, metadata, score, updatedAt: Math.max(now, row.updatedAt) });
}

const overLimit = (code: ErrorCode, path: string): Failure =>
  fail(code, {
    details: [{ path, message: "together with what the memory has already, it is over the limit" }],
  });

/** A memory as callers see it: what is unset is absent. */
export function memoryOf(row: MemoryRow): Memory {
  return {
    id: row.id,
    userId: row.userId,
    kind: row.kind,
    text: row.text,
    ...(row.tags.length > 0 && { tags: row.tags }),
    ...(row.score !== null && { score: row.score }),
    // It went in as JSON, by the schema.
    ...(row.metadata !== null && { metadata: row.metadata as NonNullable<Memory["metadata"]> }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
