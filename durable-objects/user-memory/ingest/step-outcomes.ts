import { v7 as uuidv7 } from "uuid";
import { limits } from "../../../src/domain/limits.ts";
import { NO_PROPOSALS } from "../../../src/domain/ingest/proposal.ts";
import { type FailedRange, withRange, without } from "../../../src/domain/ingest/ranges.ts";
import type { Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backOff } from "../../storage/back-off.ts";
import type { Transactions } from "../core/transactions.ts";
import { backlogAfter, backlogAgain, withoutMessages } from "./backlog.ts";
import type { IngestState, IngestStore, StoredIngest } from "./ingest-store.ts";
import { addedUsage, NO_USAGE } from "./model-usage.ts";
import type { NextStep } from "./next-step.ts";
import { failureOf } from "./second-look.ts";
import type { Batch, FailedStep, Step } from "./step.ts";

type OutcomeDependencies = {
  store: IngestStore;
  steps: NextStep;
  transactions: Transactions;
  alarms: AlarmScheduler;
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
    const { store, steps, transactions } = this.#deps;
    const { id, thread, state } = ingest;
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
      if (ingest.hasBacklog) store.setBacklog(id, backlogAfter(store.backlog(ingest), step, stored));
      if (range !== undefined) {
        const failed = adding(without(store.extent(thread)?.failed ?? [], range));
        store.reach(thread, { marks: progress, failed });
      }
      this.#goOn(ingest, usage, {
        model: extractor.by === "caller" ? state.model : steps.model,
        progress,
        redo: range === undefined ? state.redo : [...halves, ...without(state.redo, range)],
        failed: halves.length > 0 ? state.failed : adding(state.failed),
        results: [...state.results.filter((one) => !replaced.includes(one)), ...results].slice(
          0,
          limits.ingestResults,
        ),
        counts: counted(counted(state.counts, results), [...replaced, ...unlisted], -1),
        unlooked: unlooked ?? state.unlooked,
      });
      const isAnswered =
        look === undefined ? extractor.by === "model" && why === undefined : unlooked === undefined;
      // The model is back: one ingest after another shows it the facts that it has not looked at.
      const other = isAnswered ? store.withoutLook(thread) : null;
      if (other !== null) this.queueAgain(other);
    });
  }

  /** Keeps a batch that is not stored yet, and what it has cost. `until`: the storage has failed, and the next step waits. */
  keep(
    ingest: StoredIngest,
    { batch, usage }: { batch: Batch; usage?: Ingest["usage"] | undefined },
    { isThere = () => true, until }: { isThere?: (seq: number) => boolean; until?: number } = {},
  ): void {
    const { store, transactions } = this.#deps;
    // A memory that waits in quarantine is no matter of the ingest: its text is not kept twice.
    const head = batch.look?.again === undefined ? batch : { ...batch, proposals: NO_PROPOSALS };
    transactions.atomically(() => {
      const { batches, unlooked } = store.backlog(ingest);
      const backlog = { batches: [head, ...batches.slice(1)], unlooked };
      store.setBacklog(ingest.id, withoutMessages(backlog, isThere));
      if (until === undefined) return this.#goOn(ingest, usage);
      const spent = addedUsage(ingest.state.usage, usage);
      this.#save(ingest, until, { status: "queued", why: "storage", isRefused: true, usage: spent });
    });
  }

  /** Queues the next step at once: this one came to something, and cost so much. */
  #goOn(ingest: StoredIngest, usage: Ingest["usage"] | undefined, changed: Partial<IngestState> = {}): void {
    const sum = addedUsage(ingest.state.usage, usage);
    this.#save(ingest, this.#deps.now(), { status: "running", attempts: 0, usage: sum, ...changed });
  }

  /** Lets an ingest wait. The episode of a session that goes on is the matter of another ingest: everything else is done. */
  wait(ingest: StoredIngest, why: string | undefined, until: number): void {
    if (why === "session" && !ingest.state.followsUp) return this.#followUp(ingest, until);
    this.#save(ingest, until, { status: "queued", why });
  }

  /** Tries a failed step again later. After the last attempt, it ends the ingest; facts that wait for a look are stored first. */
  tryAgain(ingest: StoredIngest, { why, isLasting, usage }: FailedStep): void {
    const attempts = ingest.state.attempts + 1;
    const state = { ...ingest.state, usage: addedUsage(ingest.state.usage, usage) };
    const spent = { ...ingest, state };
    if (!isLasting && attempts < ATTEMPTS)
      return void this.#save(spent, this.#deps.now() + backOff(attempts), {
        status: "queued",
        why,
        attempts,
      });
    const looking = this.#deps.steps.givesUp(ingest, why);
    if (looking === null) this.end(spent, { why });
    else this.keep(spent, looking);
  }

  /** Ends the ingest. Another one waits for the end of the thread's last session. */
  #followUp(ingest: StoredIngest, dueAt: number): void {
    const { store, steps, transactions, alarms, now } = this.#deps;
    const { thread, state } = ingest;
    const other = store.followUp(thread);
    if (other !== null && other.state.to >= state.to) return this.end(ingest, { followUp: other.id });
    const [owner] = ingest.id.split(".");
    const id = `${owner}.${uuidv7({ msecs: now() })}`;
    transactions.atomically(() => {
      this.end(ingest, { followUp: id });
      const waiting: IngestState = {
        ...state,
        followUp: undefined,
        status: "queued",
        why: "session",
        extract: ["episodes"],
        followsUp: true,
        began: steps.progressOf(ingest),
        failed: [],
        redo: [],
        results: [],
        counts: {},
        usage: NO_USAGE,
        attempts: 0,
        createdAt: now(),
      };
      store.deleteFollowUp(thread);
      store.add({ id, thread, dueAt, state: waiting });
      alarms.scheduleBy(dueAt);
    });
  }

  /** `why`: the reason of a partial end; messages that failed are one too. */
  end(ingest: StoredIngest, { why, followUp }: { why?: string; followUp?: string } = {}): void {
    const { store, now } = this.#deps;
    const { state } = ingest;
    const reason = why ?? state.failed[0]?.why ?? state.unlooked;
    const { batches, unlooked } = store.backlog(ingest);
    // The look of a step that could not be stored: the next ingest of the thread extracts its messages.
    if (batches[0]?.range !== undefined) store.setBacklog(ingest.id, { batches: batches.slice(1), unlooked });
    this.#save(ingest, null, {
      status: reason === undefined ? "done" : "partial",
      why: reason,
      followUp: followUp ?? state.followUp,
      finishedAt: now(),
    });
  }

  /** Queues an ingest that has ended, in the caller's transaction. Without a model before, it starts from its beginning if there is one. */
  queueAgain(ingest: StoredIngest): StoredIngest {
    const { store, steps, now } = this.#deps;
    const { state } = ingest;
    const isAnew = state.model === null && steps.model !== null;
    const backlog = store.backlog(ingest);
    if (backlog.unlooked.length > 0) store.setBacklog(ingest.id, backlogAgain(backlog));
    return this.#save(ingest, now(), {
      finishedAt: undefined,
      unlooked: undefined,
      status: "queued",
      progress: isAnew ? state.began : state.progress,
      redo: isAnew ? [] : [...state.redo, ...state.failed],
      failed: [],
      ignoresMarks: isAnew || state.ignoresMarks,
      attempts: 0,
      model: steps.model,
    });
  }

  /** Saves a changed state. What held the former one up is over. */
  #save(ingest: StoredIngest, dueAt: number | null, changed: Partial<IngestState>): StoredIngest {
    const { store, alarms } = this.#deps;
    const next = {
      ...ingest,
      dueAt,
      state: { ...ingest.state, why: undefined, isRefused: undefined, ...changed },
    };
    store.update(next);
    alarms.scheduleBy(dueAt);
    return next;
  }
}

function counted(
  counts: Readonly<Record<string, number>>,
  results: readonly Pick<IngestResult, "outcome">[],
  by = 1,
): Record<string, number> {
  const sums = { ...counts };
  for (const { outcome } of results) sums[outcome] = (sums[outcome] ?? 0) + by;
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum > 0));
}
