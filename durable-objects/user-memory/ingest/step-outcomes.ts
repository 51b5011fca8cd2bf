import { v7 as uuidv7 } from "uuid";
import { limits } from "../../../src/domain/limits.ts";
import { type FailedRange, withRange, without } from "../../../src/domain/ingest/ranges.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backOff } from "../../storage/back-off.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IngestState, IngestStore, StoredIngest } from "./ingest-store.ts";
import { keptAfter, keptDuring } from "./kept.ts";
import { addedUsage } from "./model-usage.ts";
import type { Extractor, FailedStep, NextStep, Step } from "./next-step.ts";
import { queueAgain } from "./queue-again.ts";
import { failureOf, type Looking } from "./second-look.ts";

type OutcomeDependencies = {
  store: IngestStore;
  steps: NextStep;
  transactions: Transactions;
  alarms: AlarmScheduler;
  /** Called when an ingest ends. */
  ended: (id: string) => void;
  now: () => number;
};

/** The result of a fact that waits in quarantine, as it is counted. */
const WAITING = { outcome: "quarantined" } as const;
/** Attempts of one step before the ingest ends as `partial`: 20 minutes with their pauses. */
export const ATTEMPTS = 10;

/** The state of an ingest after a step: it has results, waits, is tried again, or ends. */
export class StepOutcomes {
  readonly #deps: OutcomeDependencies;

  constructor(deps: OutcomeDependencies) {
    this.#deps = deps;
  }

  /** Saves the results of a step, and how far the thread is extracted. */
  advance(
    ingest: StoredIngest,
    step: Step,
    { results: stored, former }: { results: readonly IngestResult[]; former: ReadonlySet<string> },
  ): void {
    const { extractor, range, failed: why, halves = [], usage, unusable = [], look } = step;
    const { store, steps, transactions, alarms, now } = this.#deps;
    const { id, thread } = ingest;
    const { why: _waited, ...state } = ingest.state;
    const results = [...stored, ...unusable];
    const replaced = state.results.filter(({ memoryId }) => memoryId !== undefined && former.has(memoryId));
    // Results beyond the last that is listed are counted only.
    const listed = new Set(replaced.map(({ memoryId }) => memoryId));
    const unlisted = [...former].filter((memory) => !listed.has(memory)).map(() => WAITING);
    const unlooked = look && failureOf(look, state.unlooked);
    const progress = steps.progressOf(ingest);
    const adding = (ranges: readonly FailedRange[]) =>
      range === undefined || why === undefined ? [...ranges] : withRange(ranges, { ...range, why });
    if (range !== undefined && state.redo.length === 0)
      for (const kind of range.kinds) progress[kind] = range.to;
    transactions.atomically(() => {
      if (ingest.hasExtracted) store.setExtracted(id, keptAfter(store.extracted(id) ?? {}, step, stored));
      if (range !== undefined) store.reach(thread, progress, adding(without(store.failed(thread), range)));
      this.#goOn(ingest, usage, {
        model: extractor === "caller" ? state.model : steps.model,
        progress,
        redo: range === undefined ? state.redo : [...halves, ...without(state.redo, range)],
        failed: halves.length > 0 ? state.failed : adding(state.failed),
        results: [...state.results.filter((one) => !replaced.includes(one)), ...results].slice(
          0,
          limits.ingestResults,
        ),
        counts: counted(counted(state.counts, results), [...replaced, ...unlisted], -1),
        ...(unlooked && { unlooked }),
      });
      const isAnswered = look === undefined ? isByModel(extractor) && why === undefined : unlooked === null;
      // The model is back: one ingest after another shows it the facts that it has not looked at.
      const [other] = isAnswered ? store.withoutLook(thread) : [];
      const languageModel = steps.model === null ? null : { name: steps.model };
      if (other !== undefined) queueAgain(other, { store, languageModel, alarms, now });
    });
  }

  /** Keeps what a look of the model has come to, and what it has cost, before the next step. */
  keep(ingest: StoredIngest, looking: Looking, isThere: (seq: number) => boolean = () => true): void {
    const { store, transactions } = this.#deps;
    const { id } = ingest;
    transactions.atomically(() => {
      store.setExtracted(id, keptDuring(store.extracted(id) ?? {}, looking, isThere));
      this.#goOn(ingest, looking.usage);
    });
  }

  /** Queues the next step at once: this one came to something, and cost so much. */
  #goOn(
    { id, state: { why: _waited, ...state } }: StoredIngest,
    usage: Looking["usage"],
    more: Partial<StoredIngest["state"]> = {},
  ): void {
    const { store, alarms, now } = this.#deps;
    const spent = usage === undefined ? state.usage : addedUsage(state.usage, usage);
    store.update({
      id,
      dueAt: now(),
      state: { ...state, status: "running", attempts: 0, usage: spent, ...more },
    });
    alarms.scheduleBy(now());
  }

  /** Lets an ingest wait. The episode of a session that goes on is the matter of another ingest: everything else is done. */
  wait(ingest: StoredIngest, why: string | undefined, until: number): void {
    const { store, alarms } = this.#deps;
    if (why === "session" && !ingest.state.followsUp) return this.#followUp(ingest, until);
    const { why: _former, ...state } = ingest.state;
    store.update({
      ...ingest,
      dueAt: until,
      state: { ...state, status: "queued", ...(why !== undefined && { why }) },
    });
    alarms.scheduleBy(until);
  }

  /** Tries a failed step again later. After the last attempt, it ends the ingest; facts that wait for a look are stored first. */
  tryAgain(ingest: StoredIngest, { why, isLasting, usage }: FailedStep): void {
    const { store, alarms, now } = this.#deps;
    const attempts = ingest.state.attempts + 1;
    const spent = usage === undefined ? ingest.state.usage : addedUsage(ingest.state.usage, usage);
    const state: IngestState = { ...ingest.state, usage: spent };
    if (isLasting || attempts >= ATTEMPTS) {
      const looking = this.#deps.steps.givesUp(ingest, why);
      return looking === null
        ? this.end({ ...ingest, state }, why)
        : this.keep({ ...ingest, state }, looking);
    }
    const dueAt = now() + backOff(attempts);
    store.update({ ...ingest, dueAt, state: { ...state, status: "queued", why, attempts } });
    alarms.scheduleBy(dueAt);
  }

  /** Ends the ingest. Another one waits for the end of the thread's last session. */
  #followUp(ingest: StoredIngest, dueAt: number): void {
    const { store, transactions, alarms, now } = this.#deps;
    const { followUp: _former, ...state } = ingest.state;
    const other = store.followUp(ingest.thread);
    if (other !== null && other.state.to >= state.to)
      return this.end({ ...ingest, state: { ...state, followUp: other.id } });
    const [owner] = ingest.id.split(".");
    const id = `${owner}.${uuidv7({ msecs: now() })}`;
    transactions.atomically(() => {
      this.end({ ...ingest, state: { ...state, followUp: id } });
      const waiting: IngestState = {
        ...state,
        status: "queued",
        why: "session",
        extract: ["episodes"],
        followsUp: true,
        began: this.#deps.steps.progressOf(ingest),
        failed: [],
        redo: [],
        results: [],
        counts: {},
        usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
        attempts: 0,
        createdAt: now(),
      };
      store.deleteFollowUp(ingest.thread);
      store.add({ id, thread: ingest.thread, dueAt, state: waiting });
      alarms.scheduleBy(dueAt);
    });
  }

  /** `why`: the reason of a partial end; messages that failed are one too. */
  end(ingest: StoredIngest, why?: string): void {
    const { store, now } = this.#deps;
    const { why: _waited, ...state } = ingest.state;
    const reason = why ?? state.failed[0]?.why ?? state.unlooked;
    this.#deps.ended(ingest.id);
    const { looks = [], ...kept } = (ingest.hasExtracted ? store.extracted(ingest.id) : null) ?? {};
    // The look of a step that could not be stored: the next ingest of the thread extracts its messages.
    if (looks[0]?.range !== undefined) store.setExtracted(ingest.id, { ...kept, looks: looks.slice(1) });
    store.update({
      ...ingest,
      dueAt: null,
      state: {
        ...state,
        status: reason === undefined ? "done" : "partial",
        ...(reason !== undefined && { why: reason }),
        finishedAt: now(),
      },
    });
  }
}

const isByModel = (extractor: Extractor): boolean => extractor !== "caller" && "model" in extractor;

function counted(
  counts: Readonly<Record<string, number>>,
  results: readonly Pick<IngestResult, "outcome">[],
  by = 1,
): Record<string, number> {
  const sums = { ...counts };
  for (const { outcome } of results) sums[outcome] = (sums[outcome] ?? 0) + by;
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum > 0));
}
