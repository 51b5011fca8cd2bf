import { areSpeakers, sameOwners, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { fail, type Failure, invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import { continues } from "../../../src/domain/ingest/known-messages.ts";
import { mapKinds } from "../../../src/domain/ingest/proposal.ts";
import { type Range, within } from "../../../src/domain/ingest/ranges.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { Ingest, Ingested } from "../../../src/domain/schema/ingest.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { IngestRequest } from "../../../src/contract/user-memory.ts";
import type { Transactions } from "../core/transactions.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import { type Backlog, backlogOf } from "./backlog.ts";
import { NO_USAGE } from "./model-usage.ts";
import type { IngestRunner } from "./ingest-runner.ts";
import type { IngestState, IngestStore, StoredIngest } from "./ingest-store.ts";
import { changedIn, type Taken, takeOver, withoutAll } from "./thread-extent.ts";
import type { StepOutcomes } from "./step-outcomes.ts";
import { viewOf } from "./ingest-view.ts";
import { type Placed, placeMessages, storedTexts, textOf } from "./message-placement.ts";

type IngestServiceDependencies = {
  store: IngestStore;
  stores: ThreadStores;
  conversations: Pick<Conversations, "beginWith">;
  messages: Pick<ThreadMessages, "append" | "replace" | "deleteMessage">;
  runner: IngestRunner;
  outcomes: StepOutcomes;
  transactions: Transactions;
  languageModel: LanguageModel | null;
  alarms: AlarmScheduler;
  now: () => number;
};

/** The threads whose beginning is compared with that of a conversation without a session id. */
const COMPARED = 20;

/** Stores the messages of an ingest, and records the ingest. The runner extracts. */
export class IngestService {
  readonly #deps: IngestServiceDependencies;

  constructor(deps: IngestServiceDependencies) {
    this.#deps = deps;
  }

  /** Stores the new messages and the ingest in one transaction. With `waitMs`, returns after the extraction or that time. */
  async ingest(owner: Owner, request: IngestRequest, once?: IdempotencyKey): Promise<Result<Ingested>> {
    const started = await this.#start(owner, request, once);
    if (!started.ok) return started;
    const { ingestId } = started.value;
    if (request.waitMs === undefined) return started;
    await this.#deps.runner.runNow(ingestId, request.waitMs);
    const ingest = this.get(ingestId);
    if (!ingest.ok) return started;
    const { status, why } = ingest.value;
    return ok({ ...started.value, status, ...(why !== undefined && { why }) });
  }

  /** The failure `not_found` for an unknown ingest, and for one that ended more than a week ago. */
  get(id: string): Result<Ingest> {
    const ingest = this.#deps.store.get(id);
    return ingest === null ? fail("not_found") : ok(this.#viewOf(ingest));
  }

  /** The ingests under way, and those that ended as `partial`, the newest first. */
  unfinished(limit: number): Ingest[] {
    const views = this.#deps.store.unfinished(limit).map((ingest) => this.#viewOf(ingest));
    return views.filter(({ status }) => status !== "done");
  }

  /**
   * Extracts again what failed, and at once what waits. An ingest that ran without a model starts from its beginning if there is one
   * now.
   */
  retry(id: string): Result<Ingest> {
    const { store, transactions, outcomes, languageModel, alarms, now } = this.#deps;
    const ingest = store.get(id);
    if (ingest === null) return fail("not_found");
    const { status, model } = ingest.state;
    if (ingest.dueAt !== null && ingest.dueAt > now()) {
      // The cause of its waiting may have changed: the quota, say.
      store.update({ ...ingest, dueAt: now() });
      alarms.scheduleBy(now());
    }
    const isEnded = status === "partial" || (status === "done" && model === null && languageModel !== null);
    const queued = isEnded ? transactions.atomically(() => outcomes.queueAgain(ingest)) : ingest;
    return ok(this.#viewOf(queued));
  }

  async #start(owner: Owner, request: IngestRequest, once?: IdempotencyKey): Promise<Result<Ingested>> {
    const { threadId, session, newThreadId } = request;
    const { store, stores, conversations, transactions } = this.#deps;
    const existing = () => (threadId === undefined ? this.#threadOf(request) : stores.threads.get(threadId));
    const act = (thread: StoredThread) => this.#record(thread, request);
    const known = existing();
    if (known !== null) return transactions.run(once && { ...once, about: known.id }, () => act(known));
    if (threadId !== undefined || session === undefined) return fail("not_found");
    const options = { fields: {}, ...(once && { once }) };
    return conversations.beginWith<Ingested>(owner, newThreadId, options, (begin) => {
      // Another call may have begun the session meanwhile.
      const other = existing();
      if (other !== null) return act(other);
      const begun = begin();
      if (!begun.ok) return begun;
      store.begin(begun.value.n, session.key);
      return act(begun.value);
    });
  }

  /** The thread of a session, or of the conversation that the given one continues; null if there is none. */
  #threadOf({ session, bodies }: IngestRequest): StoredThread | null {
    if (session === undefined) return null;
    const { store, stores } = this.#deps;
    const threads = store.threadsOf(session.key, COMPARED).flatMap((n) => {
      const id = stores.threads.idOf(n);
      return (id === null ? null : stores.threads.get(id)) ?? [];
    });
    if (session.isNamed) return threads[0] ?? null;
    const texts = bodies.map(textOf);
    const isContinued = (thread: StoredThread) =>
      continues(texts, storedTexts(stores.reader, thread), thread.length);
    return threads.find(isContinued) ?? null;
  }

  /** Appends the new messages and adds the ingest, in the caller's transaction. */
  #record(thread: StoredThread, request: IngestRequest): Result<Ingested> {
    const { store, stores, runner, alarms, now } = this.#deps;
    // Before the messages: an instruction is marked if it is the owner's.
    const renamed = this.#setOwners(thread, request);
    if (!renamed.ok) return renamed;
    const placed = placeMessages(this.#deps, thread, request);
    if (!placed.ok) return placed;
    const { seqs, stored, changed } = placed.value;
    const unnamed = this.#ownersFailure(thread, request);
    if (unnamed !== null) return unnamed;
    const backlog = this.#backlogOf(thread, request, seqs);
    if (!backlog.ok) return backlog;
    const { kinds } = request;
    const taken = takeOver(this.#deps, thread, { kinds, ownersChanged: renamed.value });
    const to = stores.reader.lastSeq(thread);
    const isExtracted = kinds.every((kind) => taken.began[kind] >= to);
    const { other, redo } = this.#again(thread, request, { ...taken, stored, changed, isExtracted });
    const answer = { threadId: thread.id, stored, known: request.bodies.length - stored };
    if (other !== undefined && isExtracted && taken.owned.length === 0)
      return ok({ ingestId: other.id, ...answer, status: "queued" });
    const isDone = request.extracted === undefined && isExtracted && redo.length === 0;
    if (kinds.includes("episodes")) store.deleteFollowUp(thread.n);
    const state = this.#newState(request, { ...answer, to, began: taken.began, redo }, isDone);
    const dueAt = isDone ? null : now();
    store.add({ id: request.id, thread: thread.n, dueAt, state }, backlog.value);
    alarms.scheduleBy(dueAt ?? runner.nextDue());
    return ok({ ingestId: request.id, ...answer, status: state.status });
  }

  /**
   * Chooses the ranges to extract again. A call that brings nothing new tries failed ones: `other` is the newest ingest that does so already,
   * or does now.
   */
  #again(
    thread: StoredThread,
    request: IngestRequest,
    extent: Taken & Pick<Placed, "stored" | "changed"> & { isExtracted: boolean },
  ): { other?: StoredIngest | undefined; redo: Range[] } {
    const { owned, failed, stored, changed, isExtracted } = extent;
    if (changed.length > 0) return { redo: [...owned, ...withoutAll(changedIn(changed, request), owned)] };
    const isNew = stored > 0 || request.extracted !== undefined;
    const isRepeated = !isNew && (isExtracted || request.bodies.length > 0);
    const failedAgain = isRepeated ? within(failed, request) : [];
    const others = failedAgain.length === 0 ? [] : this.#ingestsWith(thread, request);
    for (const one of others) if (one.dueAt === null) this.#deps.outcomes.queueAgain(one);
    // The ingest in which it failed may be gone.
    return { other: others[0], redo: others.length === 0 ? [...owned, ...failedAgain] : owned };
  }

  /** Sets the names of the owner that the request gives; true if they are others than before. */
  #setOwners(thread: StoredThread, { owners, by }: IngestRequest): Result<boolean> {
    const known = thread.speakers ?? UNNAMED;
    if (owners === undefined || sameOwners(known.owners, owners)) return ok(false);
    if (!isPerson(by.trust))
      return fail("trust_too_low", {
        message: "A token of this trust does not say which names are the owner's.",
        details: [{ path: "body.owners", message: "needs a token of the trust `user` or `operator`" }],
      });
    this.#deps.stores.threads.setSpeakers(thread, { ...known, owners });
    return ok(true);
  }

  /** The failure where nobody in the thread has a name of the given owner; null otherwise. */
  #ownersFailure({ id }: StoredThread, { owners }: IngestRequest): Failure | null {
    if (owners === undefined) return null;
    if (areSpeakers(owners, this.#deps.stores.threads.get(id)?.speakers ?? UNNAMED)) return null;
    return invalidField(
      "body.owners",
      "names nobody: no user's message of this thread has one of these names",
    );
  }

  #newState(
    request: IngestRequest,
    extent: Pick<IngestState, "threadId" | "stored" | "known" | "to" | "began" | "redo">,
    isDone: boolean,
  ): IngestState {
    const { languageModel, now } = this.#deps;
    return {
      ...extent,
      ...(isDone ? { status: "done", finishedAt: now() } : { status: "queued" }),
      extract: [...request.kinds],
      model: languageModel?.name ?? null,
      by: request.by,
      scope: request.scope ?? null,
      progress: extent.began,
      failed: [],
      ignoresMarks: false,
      attempts: 0,
      endsSessions: request.waitMs !== undefined,
      followsUp: false,
      results: [],
      counts: {},
      usage: NO_USAGE,
      createdAt: now(),
    };
  }

  /** The ingests of a thread in which some of these kinds failed, or are tried again; the newest first. */
  #ingestsWith(thread: StoredThread, { kinds }: IngestRequest): StoredIngest[] {
    return this.#deps.store
      .withFailures(thread.n)
      .filter(({ state: { failed, redo } }) => within([...failed, ...redo], { kinds }).length > 0);
  }

  /** The memories of the caller's own model, with the seqs of their sources. */
  #backlogOf(
    thread: StoredThread,
    { threadId, extracted }: IngestRequest,
    seqs: readonly number[],
  ): Result<Backlog | undefined> {
    if (extracted === undefined) return ok(undefined);
    const { lineage } = this.#deps.stores;
    const { facts = [], episodes = [], procedures = [] } = extracted;
    let unknown: string | undefined;
    const inSeqs = mapKinds({ facts, episodes, procedures }, (list, kind) =>
      list.map((one, i) => {
        const sources = one.sources.map((source, j) => {
          // A given message may have been deleted here: what cites it is a result that failed.
          const seq = threadId === undefined ? seqs[source] : source;
          if (seq === undefined || (threadId !== undefined && lineage.position(thread, seq) === null))
            unknown ??= `body.extracted.${kind}[${i}].sources[${j}]`;
          return seq ?? 0;
        });
        return { ...one, sources };
      }),
    );
    return unknown === undefined
      ? ok(backlogOf(inSeqs))
      : invalidField(unknown, "is no message of this thread");
  }

  #viewOf(ingest: StoredIngest): Ingest {
    const { store, runner } = this.#deps;
    const marks = store.extent(ingest.thread)?.marks;
    return viewOf(ingest, { marks, isRunning: runner.isRunning(ingest.id) });
  }
}
