import type { Restore } from "../../../src/domain/schema/restore.ts";
import { positionOf } from "../core/position.ts";

/** A mark fits into a row of D1. */
const THREADS = 50_000;

/** The last message of each thread, deleted ones too; of those that changed last where there are very many. */
export function threadEnds(sql: SqlStorage): [thread: number, lastSeq: number][] {
  const ends = `SELECT n, last_seq FROM threads ORDER BY change DESC LIMIT ${THREADS}`;
  return Array.from(sql.exec(ends).raw<[number, number]>());
}

/** The positions of messages up to these ends that are not here. */
export function lostPositions(sql: SqlStorage, ends: readonly (readonly [number, number])[]): number[] {
  const here = new Map(threadEnds(sql));
  return ends.flatMap(([thread, last]) => {
    const kept = here.get(thread) ?? 0;
    return Array.from({ length: Math.max(0, last - kept) }, (_, i) => positionOf(thread, kept + 1 + i));
  });
}

/** Counts what came and went since a time. Reads `threads`, `messages`, `memories` and `entries`. */
export function lostSince(sql: SqlStorage, at: number): Restore["lost"] {
  const count = (from: string): number =>
    sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from} > ?`, at).one().n;
  return {
    threads: count("threads WHERE deleted = 0 AND created_at"),
    messages: count("messages INDEXED BY messages_by_time WHERE role IS NOT NULL AND created_at"),
    memoryVersions: count("memories WHERE recorded_at"),
    entries: count("entries WHERE updated_at"),
  };
}
