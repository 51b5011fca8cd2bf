import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IngestStore, StoredIngest } from "./ingest-store.ts";
import { lookAgain } from "./second-look.ts";

type QueueDependencies = {
  store: IngestStore;
  languageModel: Pick<LanguageModel, "name"> | null;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Queues an ingest that has ended, in the caller's transaction. */
export function queueAgain(
  ingest: StoredIngest,
  { store, languageModel, alarms, now }: QueueDependencies,
): StoredIngest {
  const { finishedAt: _finished, why: _why, unlooked: _unlooked, ...state } = ingest.state;
  const isAnew = state.model === null && languageModel !== null;
  const kept = ingest.hasExtracted ? store.extracted(ingest.id) : null;
  if (kept?.unlooked !== undefined) {
    const { unlooked, looks = [], ...given } = kept;
    store.setExtracted(ingest.id, { ...given, looks: [...looks, ...unlooked.map(lookAgain)] });
  }
  const queued: StoredIngest = {
    ...ingest,
    dueAt: now(),
    state: {
      ...state,
      status: "queued",
      progress: isAnew ? state.began : state.progress,
      redo: isAnew ? [] : [...state.redo, ...state.failed],
      failed: [],
      ignoresMarks: isAnew || state.ignoresMarks,
      attempts: 0,
      model: languageModel?.name ?? null,
    },
  };
  store.update(queued);
  alarms.scheduleBy(now());
  return queued;
}
