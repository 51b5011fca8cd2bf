import type { Ingest } from "../../../src/domain/schema/ingest.ts";
import type { Marks, StoredIngest } from "./ingest-store.ts";

/** An ingest as its caller reads it. `marks`: of its thread. */
export function viewOf(
  ingest: StoredIngest,
  { marks, isRunning }: { marks: Marks | undefined; isRunning: boolean },
): Ingest {
  const { id, state } = ingest;
  const { why, threadId, extract, model, results, counts, usage, createdAt, finishedAt } = state;
  const { stored, known, to, progress, failed, redo, followUp } = state;
  const isDone = state.status === "done" || isCovered(ingest, marks);
  // The episode of a session that goes on is the matter of another ingest.
  const extracted = isDone
    ? to
    : Math.min(to, ...extract.map((kind) => progress[kind]), ...redo.map(({ after }) => after));
  return {
    id,
    status: isDone ? "done" : state.status === "queued" && isRunning ? "running" : state.status,
    ...(why !== undefined && !isDone && { why }),
    ...(failed.length > 0 && {
      failed: failed.map(({ after, ...range }) => ({ ...range, from: after + 1 })),
    }),
    ...(followUp !== undefined && { followUp }),
    threadId,
    extract,
    model,
    messages: { stored, known, extracted, last: to },
    results,
    counts,
    usage,
    createdAt,
    ...(finishedAt !== undefined && { finishedAt }),
  };
}

/** True if later ingests have extracted what an ingest that ended did not reach. One that starts anew is not content with that. */
function isCovered({ hasBacklog, state }: StoredIngest, marks: Marks | undefined): boolean {
  const { status, extract: kinds, failed, redo, progress, to, ignoresMarks } = state;
  if (status !== "partial" || hasBacklog || ignoresMarks || failed.length > 0 || redo.length > 0)
    return false;
  return kinds.every((kind) => Math.max(progress[kind], marks?.[kind] ?? 0) >= to);
}
