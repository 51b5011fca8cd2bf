import type { Owner } from "../../../src/domain/memory/record.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Chore } from "../../storage/chores.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { IngestStore, StoredIngest } from "./ingest-store.ts";
import type { NextStep } from "./next-step.ts";
import type { ProposalMemories } from "./proposal-memories.ts";
import { batchOf, type FailedStep } from "./step.ts";
import { ATTEMPTS, type StepOutcomes } from "./step-outcomes.ts";

type IngestRunnerDependencies = {
  store: IngestStore;
  stores: Pick<ThreadStores, "threads" | "lineage">;
  steps: NextStep;
  outcomes: StepOutcomes;
  proposals: Pick<ProposalMemories, "store">;
  /** The user; null before the first write. */
  owner: () => Owner | null;
  alarms: AlarmScheduler;
  now: () => number;
  sleep: (ms: number) => Promise<void>;
};

/** A step under way, and its ingest. */
type Running = { id: string; step: Promise<void> };

/** Time that an alarm waits for its steps. A slower one continues after the alarm returns: no other chore waits for a model. */
const ALARM_MS = 5_000;
/** Threads of a user that are extracted at the same time. */
const THREADS = 4;
/** The pause before another attempt to store the memories of a step. */
const STORAGE_MS = 60_000;
/** Longer than any step. The alarm repeats one that an eviction ended. */
const STEP_MS = 300_000;
/**
 * Extracts memories from the messages of ingests, one step of a thread at a time. The progress is stored together with the intent to
 * write the memories of a step: a crash before repeats the step, and a crash after completes the write.
 */
export class IngestRunner implements Chore {
  readonly #deps: IngestRunnerDependencies;
  /** By the number of the thread. */
  readonly #running = new Map<number, Running>();

  constructor(deps: IngestRunnerDependencies) {
    this.#deps = deps;
  }

  /** Extracts what is due. Returns after `ALARM_MS` at the latest: slower steps go on, and schedule the alarm when they end. */
  async run(): Promise<void> {
    const { store, now } = this.#deps;
    const until = now() + ALARM_MS;
    store.deleteOld(now());
    const started = new Set<Promise<void>>();
    const failed = new Set<Promise<void>>();
    for (;;) {
      for (let due = this.#nextToStart(); due !== null && failed.size === 0; due = this.#nextToStart()) {
        const step = this.#start(due);
        started.add(step);
        step.then(
          () => started.delete(step),
          // It stays, and rejects below.
          () => failed.add(step),
        );
        // The steps of other threads wait for their turn: rules do their work before the first await.
        await turn();
      }
      if (started.size === 0 || now() >= until) return;
      if (!(await settlesWithin(Promise.race(started), until - now()))) return;
    }
  }

  nextDue(): number | null {
    const { store, now } = this.#deps;
    if (this.#running.size === 0) return store.nextDue([]);
    const others = this.#running.size < THREADS ? store.nextDue([...this.#running.keys()]) : null;
    return Math.min(others ?? Infinity, now() + STEP_MS);
  }

  /** True while a step of the ingest is under way. */
  isRunning(id: string): boolean {
    return this.#running.values().some((running) => running.id === id);
  }

  /** Runs one ingest until it ends, or has to wait longer. Returns after `withinMs` at the latest; the alarm does the rest. */
  async runNow(id: string, withinMs: number): Promise<void> {
    const { store, now, sleep } = this.#deps;
    const until = now() + withinMs;
    const work = async () => {
      for (let next = store.get(id); next !== null && now() < until; next = store.get(id)) {
        const { dueAt, thread } = next;
        if (dueAt === null || dueAt >= until) return;
        const other = this.#running.get(thread);
        if (other !== undefined) await other.step;
        else if (dueAt > now()) await sleep(dueAt - now());
        else if (this.#running.size >= THREADS)
          await Promise.race(this.#running.values().map(({ step }) => step));
        else await this.#start(next);
      }
    };
    await settlesWithin(work(), withinMs);
  }

  #nextToStart(): StoredIngest | null {
    if (this.#running.size >= THREADS) return null;
    return this.#deps.store.due(this.#deps.now(), [...this.#running.keys()]);
  }

  /** Starts the next step of an ingest whose thread has none under way. */
  #start(ingest: StoredIngest): Promise<void> {
    const { id, thread } = ingest;
    const step = this.#step(ingest)
      .catch((error: unknown) => this.#failed(id, error))
      // A step by rules waits for nothing: without a turn, other calls would wait for all of them.
      .then(turn)
      .finally(() => this.#running.delete(thread))
      // A step that could not even note its failure waits: the alarm is set for it, and `Chores` pauses.
      .then(() => this.#deps.alarms.scheduleBy(this.nextDue()));
    this.#running.set(thread, { id, step });
    return step;
  }

  /** A step that throws is tried again, and stops no other ingest. */
  #failed(id: string, error: unknown): void {
    console.error({ message: "a step of an ingest failed", ingest: id, error: String(error) });
    const ingest = this.#deps.store.get(id);
    if (ingest !== null) this.#deps.outcomes.tryAgain(ingest, { why: "internal_error", isLasting: false });
  }

  async #step(ingest: StoredIngest): Promise<void> {
    const { stores, store, proposals, outcomes, now } = this.#deps;
    const id = stores.threads.idOf(ingest.thread);
    const thread = id === null ? null : stores.threads.get(id);
    const owner = this.#deps.owner();
    if (thread === null || owner === null) return outcomes.end(ingest, { why: "thread_deleted" });
    // This ingest would extract the same again, or overtake it.
    const ahead = store.otherAhead(ingest);
    if (ahead !== null)
      return outcomes.wait(ingest, ahead.state.why, Math.max(ahead.dueAt ?? 0, now() + 1_000));
    const step = await this.#next(ingest, thread);
    // The thread, the user, or a message that the model has read may have been deleted meanwhile.
    const read = step === null ? [] : readFor(step);
    const isThere = (seq: number) => stores.lineage.position(thread, seq) !== null;
    const isWanted = () => store.get(ingest.id) !== null && read.every(isThere);
    if (!isWanted()) return;
    if (step === null) outcomes.end(ingest);
    else if ("until" in step) outcomes.wait(ingest, step.why, step.until);
    else if ("isLasting" in step) outcomes.tryAgain(ingest, step);
    else if ("batch" in step) outcomes.keep(ingest, step, { isThere });
    else {
      const done = (results: readonly IngestResult[], former: ReadonlySet<string>) => {
        if (isWanted()) outcomes.advance(ingest, step, { results, former });
      };
      const stored = await proposals.store(owner, step, { ingest, thread, isWanted, done });
      if (stored.ok || !isWanted()) return;
      // The model is not asked again, and other ingests of the thread wait.
      const { usage } = step;
      outcomes.keep(ingest, { batch: batchOf(step), usage }, { isThere, until: now() + STORAGE_MS });
    }
  }

  /** The next step. A call of the model is noted as an attempt before it is made: one that ends the object each time ends as well. */
  #next(ingest: StoredIngest, thread: StoredThread): ReturnType<NextStep["of"]> | FailedStep {
    const { store, steps } = this.#deps;
    const attempts = ingest.state.attempts + 1;
    if (attempts > ATTEMPTS) return { why: "internal_error", isLasting: true };
    const asks = () => store.update({ ...ingest, state: { ...ingest.state, attempts } });
    return steps.of({ ingest, thread, asks });
  }
}

/** The seqs of the messages that a step takes its text from. A look at the caller's memories, or at what waits, goes on without some. */
const readFor = (step: NonNullable<Awaited<ReturnType<NextStep["of"]>>>): readonly number[] => {
  if ("window" in step) return step.window.map(({ seq }) => seq);
  return "batch" in step ? (step.batch.seqs ?? []) : [];
};

/** False if the work takes longer. It continues. */
const settlesWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  withDeadline(
    work.then(() => true),
    ms,
  ).catch((error: unknown) => {
    if (error instanceof DeadlineExceeded) return false;
    throw error;
  });
