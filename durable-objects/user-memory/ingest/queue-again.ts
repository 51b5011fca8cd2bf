import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backlogAgain } from "./backlog.ts";
import type { IngestStore, StoredIngest } from "./ingest-store.ts";

type QueueDependencies = {
  store: IngestStore;
  /** The name of the model that extracts; null without one. */
  model: string | null;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Queues an ingest that has ended, in the caller's transaction. */
export function queueAgain(
  ingest: StoredIngest,
  { store, model, alarms, now }: QueueDependencies,
): StoredIngest {
  const { state } = ingest;
  const isAnew = state.model === null && model !== null;
  const backlog = store.backlog(ingest);
  if (backlog.unlooked.length > 0) store.setBacklog(ingest.id, backlogAgain(backlog));
  const queued: StoredIngest = {
    ...ingest,
    dueAt: now(),
    state: {
      ...state,
      finishedAt: undefined,
      why: undefined,
      unlooked: undefined,
      status: "queued",
      progress: isAnew ? state.began : state.progress,
      redo: isAnew ? [] : [...state.redo, ...state.failed],
      failed: [],
      ignoresMarks: isAnew || state.ignoresMarks,
      attempts: 0,
      model,
    },
  };
  store.update(queued);
  alarms.scheduleBy(now());
  return queued;
}
