import { v7 as uuidv7 } from "uuid";
import { limits } from "../../../src/domain/limits.ts";
import { type FailedRange, withRange, without } from "../../../src/domain/ingest/ranges.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backOff } from "../../storage/back-off.ts";
import type { Chore } from "../../storage/chores.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { Transactions } from "../core/transactions.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { IngestState, IngestStore, StoredIngest } from "./ingest-store.ts";
import { keptAfter, keptDuring } from "./kept.ts";
import { addedUsage } from "./model-usage.ts";
import type { Extractor, FailedStep, NextStep, NoProposals, Step } from "./next-step.ts";
import { queueAgain } from "./queue-again.ts";
import type { ProposalMemories } from "./proposal-memories.ts";
import { failureOf, type Looking } from "./second-look.ts";

type IngestRunnerDependencies = {
  store: IngestStore;
  stores: Pick<ThreadStores, "threads" | "lineage">;
  steps: NextStep;
  proposals: Pick<ProposalMemories, "store">;
  /** The user; null before the first write. */
  owner: () => Owner | null;
  transactions: Transactions;
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
/** The result of a fact that waits in quarantine, as it is counted. */
const WAITING = { outcome: "quarantined" } as const;
/** Longer than any step. The alarm repeats one that an eviction ended. */
const STEP_MS = 300_000;
/** Attempts of one step before the ingest ends as `partial`: 20 minutes with their pauses. */
const ATTEMPTS = 10;

/**
 * Extracts memories from the messages of ingests, one step of a thread at a time. The progress is stored together with the intent to
 * write the memories of a step: a crash before repeats the step, and a crash after completes the write.
 */
export class IngestRunner implements Chore {
  readonly #deps: IngestRunnerDependencies;
  /** By the number of the thread. */
  readonly #running = new Map<number, Running>();
  /** By ingest, steps whose memories could not be stored yet. The model is not asked again, and other ingests of the thread wait. */
  readonly #unstored = new Map<string, Step>();

  constructor(deps: IngestRunnerDependencies) {
    this.#deps = deps;
  }

  /** Extracts what is due. Returns after `ALARM_MS` at the latest: slower steps go on, and schedule the alarm when they end. */
  async run(): Promise<void> {
    const { store, now } = this.#deps;
    const until = now() + ALARM_MS;
    store.deleteOld(now());
    for (const id of this.#unstored.keys()) if (!store.has(id)) this.#unstored.delete(id);
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
        else if (this.#running.size >= THREADS) await this.#anyEnds();
        else await this.#start(next);
      }
    };
    await settlesWithin(work(), withinMs);
  }

  async #anyEnds(): Promise<void> {
    await Promise.race(this.#running.values().map(({ step }) => step));
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
    if (ingest !== null) this.#tryAgain(ingest, { why: "internal_error", isLasting: false });
  }

  async #step(ingest: StoredIngest): Promise<void> {
    const { stores, store, proposals, now } = this.#deps;
    const id = stores.threads.idOf(ingest.thread);
    const thread = id === null ? null : stores.threads.get(id);
    const owner = this.#deps.owner();
    if (thread === null || owner === null) return this.#end(ingest, "thread_deleted");
    const before = this.#before(ingest);
    if (before !== null) return this.#wait(ingest, before.why, Math.max(before.dueAt ?? 0, now() + 1_000));
    const step = this.#unstored.get(ingest.id) ?? (await this.#next(ingest, thread));
    // The thread, the user, or a message that the model has read may have been deleted meanwhile.
    const read = step === null ? [] : readFor(step);
    const isThere = (seq: number) => stores.lineage.position(thread, seq) !== null;
    const isWanted = () => store.has(ingest.id) && read.every(isThere);
    if (!isWanted()) this.#unstored.delete(ingest.id);
    else if (step === null) this.#end(ingest);
    else if ("until" in step) this.#wait(ingest, step.why, step.until);
    else if ("isLasting" in step) this.#tryAgain(ingest, step);
    else if (!("proposals" in step)) this.#keep(ingest, step, isThere);
    else {
      const done = (results: readonly IngestResult[], former: ReadonlySet<string>) => {
        if (isWanted()) this.#advance(ingest, step, { results, former });
      };
      const stored = await proposals.store(owner, step, { ingest, thread, isWanted, done });
      if (stored.ok || !isWanted()) this.#unstored.delete(ingest.id);
      else {
        this.#unstored.set(ingest.id, step);
        this.#wait(ingest, "storage", now() + STORAGE_MS);
      }
    }
  }

  /** The next step. A call of the model is noted as an attempt before it is made: one that ends the object each time ends as well. */
  #next(ingest: StoredIngest, thread: StoredThread): ReturnType<NextStep["of"]> | FailedStep {
    const { store, steps } = this.#deps;
    const { attempts } = ingest.state;
    if (attempts >= ATTEMPTS) return { why: "internal_error", isLasting: true };
    return steps.of(ingest, thread, () =>
      store.update({ ...ingest, state: { ...ingest.state, attempts: attempts + 1 } }),
    );
  }

  /**
   * Another ingest of the thread that has extracted what is not stored yet, and why it waits: a step that could not be stored, or one
   * that the model looks at. The marks are not raised: this ingest would extract the same again. Null if there is none.
   */
  #before({ id, thread, state }: StoredIngest): { dueAt: number | null; why?: string | undefined } | null {
    const { store } = this.#deps;
    for (const other of this.#unstored.keys()) {
      const ingest = other === id ? null : store.get(other);
      if (ingest?.thread === thread) return { dueAt: ingest.dueAt, why: "storage" };
    }
    const looking = store.looking(thread, state.extract).find((other) => other.id !== id);
    return looking === undefined ? null : { dueAt: looking.dueAt, why: looking.state.why };
  }

  /** Saves the results of a step, and how far the thread is extracted. */
  #advance(
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
      store.update({
        id,
        dueAt: now(),
        state: {
          ...state,
          status: "running",
          model: extractor === "caller" ? state.model : steps.model,
          progress,
          redo: range === undefined ? state.redo : [...halves, ...without(state.redo, range)],
          failed: halves.length > 0 ? state.failed : adding(state.failed),
          attempts: 0,
          results: [...state.results.filter((one) => !replaced.includes(one)), ...results].slice(
            0,
            limits.ingestResults,
          ),
          counts: counted(counted(state.counts, results), [...replaced, ...unlisted], -1),
          ...(unlooked && { unlooked }),
          usage: usage === undefined ? state.usage : addedUsage(state.usage, usage),
        },
      });
      alarms.scheduleBy(now());
      const isAnswered = look === undefined ? isByModel(extractor) && why === undefined : unlooked === null;
      // The model is back: one ingest after another shows it the facts that it has not looked at.
      const [other] = isAnswered ? store.withoutLook(thread) : [];
      const languageModel = steps.model === null ? null : { name: steps.model };
      if (other !== undefined) queueAgain(other, { store, languageModel, alarms, now });
    });
  }

  /** Keeps what a look of the model has come to, and what it has cost, before the next step. */
  #keep(ingest: StoredIngest, looking: Looking, isThere: (seq: number) => boolean = () => true): void {
    const { store, transactions, alarms, now } = this.#deps;
    const { id } = ingest;
    const { why: _waited, ...state } = ingest.state;
    const { usage } = looking;
    transactions.atomically(() => {
      store.setExtracted(id, keptDuring(store.extracted(id) ?? {}, looking, isThere));
      store.update({
        id,
        dueAt: now(),
        state: {
          ...state,
          status: "running",
          attempts: 0,
          usage: usage === undefined ? state.usage : addedUsage(state.usage, usage),
        },
      });
      alarms.scheduleBy(now());
    });
  }

  /** Lets an ingest wait. The episode of a session that goes on is the matter of another ingest: everything else is done. */
  #wait(ingest: StoredIngest, why: string | undefined, until: number): void {
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
  #tryAgain(ingest: StoredIngest, { why, isLasting, usage }: FailedStep): void {
    const { store, alarms, now } = this.#deps;
    const attempts = ingest.state.attempts + 1;
    const spent = usage === undefined ? ingest.state.usage : addedUsage(ingest.state.usage, usage);
    const state: IngestState = { ...ingest.state, usage: spent };
    if (isLasting || attempts >= ATTEMPTS) {
      const looking = this.#deps.steps.givesUp(ingest, why);
      return looking === null
        ? this.#end({ ...ingest, state }, why)
        : this.#keep({ ...ingest, state }, looking);
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
      return this.#end({ ...ingest, state: { ...state, followUp: other.id } });
    const [owner] = ingest.id.split(".");
    const id = `${owner}.${uuidv7({ msecs: now() })}`;
    transactions.atomically(() => {
      this.#end({ ...ingest, state: { ...state, followUp: id } });
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
  #end(ingest: StoredIngest, why?: string): void {
    const { store, now } = this.#deps;
    const { why: _waited, ...state } = ingest.state;
    const reason = why ?? state.failed[0]?.why ?? state.unlooked;
    this.#unstored.delete(ingest.id);
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

/** The seqs of the messages that a step takes its text from. A look at the caller's memories, or at what waits, goes on without some. */
const readFor = (step: Step | Looking | NoProposals): readonly number[] => {
  if ("window" in step) return step.window.map(({ seq }) => seq);
  return "look" in step && step.look?.range !== undefined ? step.look.seqs : [];
};

const isByModel = (extractor: Extractor): boolean => extractor !== "caller" && "model" in extractor;

/** False if the work takes longer. It continues. */
async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  try {
    await withDeadline(work, ms);
    return true;
  } catch (error) {
    if (error instanceof DeadlineExceeded) return false;
    throw error;
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
