import type { Restore } from "../../../src/domain/schema/restore.ts";

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
