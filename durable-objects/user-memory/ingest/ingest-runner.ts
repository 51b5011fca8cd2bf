import { v7 as uuidv7 } from "uuid";
import { limits } from "../../../src/domain/limits.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Result } from "../../../src/domain/errors.ts";
import type { ExtractKind, Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import { DeadlineExceeded, withDeadline } from "../../../src/platform/deadline.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backOff } from "../../storage/back-off.ts";
import type { Chore } from "../../storage/chores.ts";
import { serialQueue } from "../../storage/serial-queue.ts";
import type { Transactions } from "../core/transactions.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { IngestState, IngestStore, StoredIngest } from "./ingest-store.ts";
import type { NextStep, Step, Wait } from "./next-step.ts";

/** Stores the proposals of a step. `isWanted` is asked before the write, and `done` is called in its transaction. */
type StoreProposals = (
  owner: Owner,
  step: Step,
  given: {
    ingest: StoredIngest;
    thread: StoredThread;
    isWanted: () => boolean;
    done: (results: readonly IngestResult[]) => void;
  },
) => Promise<Result<null>>;

type IngestRunnerDependencies = {
  store: IngestStore;
  stores: Pick<ThreadStores, "threads">;
  steps: NextStep;
  storeProposals: StoreProposals;
  /** The user; null before the first write. */
  owner: () => Owner | null;
  transactions: Transactions;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Time that one alarm takes for ingests before other chores have their turn. */
const ALARM_MS = 20_000;
/** Attempts of one step before the ingest ends as `partial`. */
const ATTEMPTS = 6;

/**
 * Extracts memories from the messages of ingests, one step at a time. The progress is stored together
 * with the intent to write the memories of a step: a crash before repeats the step, and a crash after completes the write.
 */
export class IngestRunner implements Chore {
  readonly #deps: IngestRunnerDependencies;
  readonly #inTurn = serialQueue();
  /** Steps whose memories could not be stored yet: the model is not asked again. */
  readonly #unstored = new Map<string, Step>();

  constructor(deps: IngestRunnerDependencies) {
    this.#deps = deps;
  }

  run(): Promise<void> {
    const { store, now } = this.#deps;
    const until = now() + ALARM_MS;
    return this.#inTurn(async () => {
      store.deleteOld(now());
      for (let due = store.due(now()); due !== null && now() < until; due = store.due(now()))
        await this.#step(due, { endsSessions: false });
    });
  }

  nextDue(): number | null {
    return this.#deps.store.nextDue();
  }

  /** Runs one ingest until it ends or has to wait. Returns after `withinMs` at the latest; the alarm does the rest. */
  async runNow(id: string, withinMs: number): Promise<void> {
    const { store, now } = this.#deps;
    const until = now() + withinMs;
    const work = this.#inTurn(async () => {
      for (let next = store.get(id); isDue(next, now()) && now() < until; next = store.get(id))
        await this.#step(next, { endsSessions: true });
    });
    try {
      await withDeadline(work, withinMs);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
    }
  }

  async #step(ingest: StoredIngest, how: { endsSessions: boolean }): Promise<void> {
    const { stores, store, steps, storeProposals } = this.#deps;
    const id = stores.threads.idOf(ingest.thread);
    const thread = id === null ? null : stores.threads.get(id);
    const owner = this.#deps.owner();
    if (thread === null || owner === null) return this.#end(ingest, "thread_deleted");
    const step = this.#unstored.get(ingest.id) ?? (await steps.of(ingest, thread, how));
    // The thread or the user may have been deleted meanwhile.
    const isWanted = () => store.get(ingest.id) !== null;
    if (!isWanted()) this.#unstored.delete(ingest.id);
    else if (step === null) this.#end(ingest);
    else if ("until" in step) this.#wait(ingest, step);
    else {
      const done = (results: readonly IngestResult[]) => {
        if (isWanted()) this.#advance(ingest, step, results);
      };
      const stored = await storeProposals(owner, step, { ingest, thread, isWanted, done });
      if (stored.ok || !isWanted()) this.#unstored.delete(ingest.id);
      else {
        this.#unstored.set(ingest.id, step);
        this.#wait(ingest, { why: "storage", until: null, retries: true });
      }
    }
  }

  /** Saves the results of a step, and how far the thread is extracted. */
  #advance(
    ingest: StoredIngest,
    { by, progress, failed, usage }: Step,
    results: readonly IngestResult[],
  ): void {
    const { store, steps, transactions, alarms, now } = this.#deps;
    const { id, thread, state } = ingest;
    const before = steps.progressOf(ingest);
    const reached = { ...before, ...progress };
    const kinds = failed === undefined ? [] : (Object.keys(progress) as ExtractKind[]);
    const firstFailed = Object.fromEntries(kinds.map((kind) => [kind, before[kind]]));
    transactions.atomically(() => {
      if (by === "caller") store.clearExtracted(id);
      store.reach(thread, reached);
      store.update({
        id,
        dueAt: now(),
        state: {
          ...state,
          status: "running",
          progress: reached,
          ...(failed !== undefined && { why: failed }),
          failed: { ...firstFailed, ...state.failed },
          attempts: 0,
          results: [...state.results, ...results].slice(0, limits.ingestResults),
          counts: counted(state.counts, results),
          usage: usage === undefined ? state.usage : added(state.usage, usage),
        },
      });
      alarms.scheduleBy(now());
    });
  }

  /** Tries again later, or ends the ingest after the last attempt. */
  #wait(ingest: StoredIngest, { why, until, retries }: Wait): void {
    const { store, alarms, now } = this.#deps;
    const attempts = ingest.state.attempts + (retries ? 1 : 0);
    if (attempts >= ATTEMPTS) return this.#end(ingest, why);
    // Facts are done. The episode of a session that goes on is the matter of another ingest.
    if (why === "session" && !ingest.state.followsUp) return this.#followUp(ingest, until ?? now());
    const dueAt = until ?? now() + backOff(attempts);
    store.update({ ...ingest, dueAt, state: { ...ingest.state, status: "queued", why, attempts } });
    alarms.scheduleBy(dueAt);
  }

  /** Ends the ingest, and adds one that waits for the end of the thread's last session. */
  #followUp(ingest: StoredIngest, dueAt: number): void {
    const { store, transactions, alarms, now } = this.#deps;
    const { state } = ingest;
    transactions.atomically(() => {
      this.#end(ingest);
      const waiting: IngestState = {
        ...state,
        status: "queued",
        extract: ["episodes"],
        followsUp: true,
        results: [],
        counts: {},
        attempts: 0,
        createdAt: now(),
      };
      const [owner] = ingest.id.split(".");
      store.add({ id: `${owner}.${uuidv7({ msecs: now() })}`, thread: ingest.thread, dueAt, state: waiting });
      alarms.scheduleBy(dueAt);
    });
  }

  /** `why`: the reason of a partial end. Of earlier failures the last one is the reason. */
  #end(ingest: StoredIngest, why?: string): void {
    const { store, now } = this.#deps;
    const { why: before, ...state } = ingest.state;
    const reason = why ?? (Object.keys(state.failed).length > 0 ? before : undefined);
    this.#unstored.delete(ingest.id);
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

const isDue = (ingest: StoredIngest | null, now: number): ingest is StoredIngest =>
  ingest !== null && ingest.dueAt !== null && ingest.dueAt <= now;

function counted(
  counts: Readonly<Record<string, number>>,
  results: readonly IngestResult[],
): Record<string, number> {
  const sums = { ...counts };
  for (const { outcome } of results) sums[outcome] = (sums[outcome] ?? 0) + 1;
  return sums;
}

const added = (sum: Ingest["usage"], more: Ingest["usage"]): Ingest["usage"] => ({
  calls: sum.calls + more.calls,
  inputTokens: sum.inputTokens + more.inputTokens,
  outputTokens: sum.outputTokens + more.outputTokens,
});
