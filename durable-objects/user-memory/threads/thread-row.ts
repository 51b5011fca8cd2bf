import type { Speakers } from "../../../src/domain/conversation/speakers.ts";
import type { Thread } from "../../../src/domain/schema/thread.ts";
import type { ObjectLine } from "../../../src/domain/schema/transfer.ts";

/** A thread as the object keeps it: with its number and where its messages come from. */
export type StoredThread = Omit<Thread, "userId"> & {
  n: number;
  lastSeq: number;
  /** The number of the thread that owns the messages up to and with `forkSeq`; null if all are its own. */
  parent: number | null;
  forkSeq: number;
  /** An import has begun the thread and is to go on with it. */
  importing: boolean;
  /** Null if none of its users has a name. */
  speakers: Speakers | null;
};

export type ThreadLine = ObjectLine & { type: "thread" };
export const DEFAULT_TITLE = "New conversation";

/** A row of the table `threads`. */
export type Row = {
  n: number;
  id: string;
  title: string;
  agent: string | null;
  resource_slug: string | null;
  record_id: string | null;
  metadata: string | null;
  indexing: NonNullable<Thread["indexing"]> | null;
  retention: string | null;
  length: number;
  last_seq: number;
  parent: number | null;
  fork_seq: number;
  forked_from: string | null;
  deleted: number;
  importing: number;
  speakers: string | null;
  created_at: number;
  updated_at: number;
};

export function threadOf(row: Row): StoredThread {
  return {
    n: row.n,
    lastSeq: row.last_seq,
    parent: row.parent,
    forkSeq: row.fork_seq,
    importing: row.importing === 1,
    speakers: row.speakers === null ? null : (JSON.parse(row.speakers) as Speakers),
    id: row.id,
    title: row.title,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.resource_slug !== null && { resourceSlug: row.resource_slug }),
    ...(row.record_id !== null && { recordId: row.record_id }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as NonNullable<Thread["metadata"]> }),
    ...(row.indexing !== null && { indexing: row.indexing }),
    ...(row.retention !== null && { retention: row.retention }),
    ...(row.forked_from !== null && { forkedFrom: { threadId: row.forked_from, seq: row.fork_seq } }),
    length: row.length,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The thread as callers see it. `userId`: null if the object has not learned it. */
export function viewOf(stored: StoredThread, userId: string | null): Thread {
  const {
    n: _n,
    lastSeq: _lastSeq,
    parent: _parent,
    forkSeq: _forkSeq,
    importing: _importing,
    speakers,
    ...thread
  } = stored;
  const owners = speakers?.owners ?? null;
  return {
    ...thread,
    ...(owners !== null && { owners: [...owners] }),
    ...(userId !== null && { userId }),
  };
}
