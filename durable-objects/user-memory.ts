import { DurableObject } from "cloudflare:workers";
import { type Bindings, type Ports, portsOf } from "../src/platform/bindings.ts";
import { within } from "../src/platform/objects-within.ts";
import { fail, ok } from "../src/domain/errors.ts";
import { messagesJson } from "../src/domain/page-json.ts";
import type { Reindex } from "../src/domain/schema/reindex.ts";
import { Chores } from "./storage/chores.ts";
import type { Served } from "../src/contract/storage.ts";
import { assemble, type UserMemoryParts } from "./user-memory/assemble.ts";
import type { ContextRpc, UserMemoryRpc } from "../src/contract/user-memory.ts";

/** Ingests of a summary. */
const UNFINISHED = 50;

/** The arguments of a call, as `contract.ts` has them. */
type Args<Name extends keyof UserMemoryRpc> = Parameters<UserMemoryRpc[Name]>;
type Answers = {
  [Name in keyof UserMemoryRpc]?: (
    parts: UserMemoryParts,
    ...args: Args<Name>
  ) => ReturnType<Served<UserMemoryRpc>[Name]>;
};

const ANSWERS = {
  // Entries
  setEntry: ({ entries, noteOwner }, write, owner) => {
    noteOwner(owner, "entry");
    return entries.set(write);
  },
  batchEntries: ({ entries, noteOwner }, operations, owner, once) => {
    if (operations.some(({ op }) => op === "set")) noteOwner(owner, "entry");
    return entries.batch(operations, once);
  },
  getEntry: ({ entries }, ...args) => entries.get(...args),
  deleteEntry: ({ entries }, ...args) => entries.delete(...args),
  deleteEntries: ({ entries }, ...args) => entries.deletePrefix(...args),
  listEntries: ({ entries }, ...args) => entries.list(...args),
  // Threads
  createThread: ({ conversations }, ...args) => conversations.create(...args),
  resumeThread: ({ conversations }, ...args) => conversations.resume(...args),
  getThread: ({ conversations }, ...args) => conversations.get(...args),
  listThreads: ({ conversations }, ...args) => conversations.list(...args),
  patchThread: ({ conversations }, ...args) => conversations.patch(...args),
  deleteThread: ({ conversations }, ...args) => conversations.delete(...args),
  forkThread: ({ conversations }, ...args) => conversations.fork(...args),
  appendMessages: ({ messages }, ...args) => messages.append(...args),
  readMessages: ({ messages }, ...args) => messages.read(...args),
  readMessagesJson: ({ messages }, id, query, separator) => {
    const page = messages.read(id, query);
    return page.ok ? ok(messagesJson(page.value, separator)) : page;
  },
  deleteMessage: ({ messages }, ...args) => messages.deleteMessage(...args),
  compactThread: ({ messages }, ...args) => messages.compact(...args),
  listCompactions: ({ messages }, ...args) => messages.compactions(...args),
  deleteCompaction: ({ messages }, ...args) => messages.deleteCompaction(...args),
  validateThread: ({ messages }, ...args) => messages.validate(...args),
  // Memories
  remember: ({ writer, citations, noteOwner }, owner, request) => {
    noteOwner(owner, "memory");
    return writer.remember(owner, { ...request, statedAt: citations.ofCall() });
  },
  patchMemory: ({ writer }, ...args) => writer.patch(...args),
  restoreMemory: ({ writer }, ...args) => writer.restore(...args),
  releaseMemory: ({ writer }, ...args) => writer.release(...args),
  reviewMemories: ({ review }, ...args) => review.many(...args),
  forget: ({ forgetter }, ...args) => forgetter.forget(...args),
  forgetMemories: ({ forgetter }, ...args) => forgetter.forgetMatching(...args),
  forgetAllMemories: ({ forgetter }, ...args) => forgetter.forgetAll(...args),
  memoryIdOf: ({ table }, ...args) => table.idOf(...args),
  indexingOf: ({ memoryIndex }, ...args) => memoryIndex.stateOf(...args),
  // Recall and reindex
  recall: ({ recall }, ...args) => recall.recall(...args),
  startReindex: (parts, owner) => {
    const { reindexer, embedding, index, vectors, alarms, now } = parts;
    reindexer.start(owner);
    const target = embedding.target();
    if (target !== null) {
      index.enqueue(target);
      vectors.putMessagesAgain(target.model);
    }
    alarms.scheduleBy(now());
    return reindexStateOf(parts);
  },
  reindexState: (parts) => reindexStateOf(parts),
  // Context
  context: ({ context }, ...args) => context.context(...args),
  searchLayers: ({ context }, ...args) => context.searchLayers(...args),
  contextItems: ({ context }, ...args) => context.contextItems(...args),
  readPrompted: ({ context }, ...args) => context.prompted(...args),
  putContextProfile: ({ contexts, noteOwner }, owner, { name, layers }) => {
    if (!contexts.putProfile(name, layers)) return fail("limit_reached");
    noteOwner(owner, "entry");
    return ok(null);
  },
  contextProfile: ({ contexts }, ...args) => contexts.profile(...args),
  listContextProfiles: ({ contexts }) => contexts.profiles(),
  deleteContextProfile: ({ contexts }, ...args) => contexts.deleteProfile(...args),
  // Ingest
  ingest: ({ ingests }, ...args) => ingests.ingest(...args),
  readIngest: ({ ingests }, ...args) => ingests.get(...args),
  retryIngest: ({ ingests }, ...args) => ingests.retry(...args),
  // Changes
  changes: ({ changes }, ...args) => changes.read(...args),
  wakeWebhook: ({ webhookDelivery }) => webhookDelivery.wake(),
  // Usage
  recallOutcome: ({ recallLog }, ...args) => recallLog.outcome(...args),
  memoryUsage: ({ recallLog }, ...args) => recallLog.list(...args),
  summary: ({ quota, index, ingests, table, dueMemories, webhookDelivery, now }) => {
    const webhook = webhookDelivery.state();
    return {
      ...quota.usage(),
      documents: index.freshness(),
      ingests: ingests.unfinished(UNFINISHED).map(({ id, threadId, status, why, createdAt }) => ({
        id,
        threadId,
        status,
        ...(why !== undefined && { why }),
        createdAt,
      })),
      quarantine: dueMemories.counts(table.clock.latest(now())),
      ...(webhook && { webhook }),
    };
  },
  // Export and import
  epoch: ({ erasureEpoch }) => erasureEpoch.current,
  exportPage: ({ exporter, retentionDrive }, place) => {
    const page = exporter.page(place);
    const retention = place === undefined ? retentionDrive.rules() : null;
    return page.ok && retention !== null ? ok({ ...page.value, retention }) : page;
  },
  importItems: async ({ importer, noteOwner }, owner, request) => {
    const imported = await importer.take(owner, request);
    // Only users that have data are listed.
    if (imported.ok && Object.keys(imported.value.counts.imported).length > 0) noteOwner(owner, "entry");
    return imported;
  },
  importMemories: ({ writer, erasureEpoch, noteOwner }, owner, request) => {
    if (request.epoch === erasureEpoch.current) noteOwner(owner, "memory");
    return writer.import(owner, request);
  },
  // Retention
  retention: ({ retentionDrive }, ...args) => retentionDrive.view(...args),
  setRetention: ({ retentionDrive, noteOwner }, owner, rules) => {
    if (owner !== null) noteOwner(owner, "entry");
    return retentionDrive.set(rules);
  },
  // Restore
  previewRestore: ({ restorer }, ...args) => restorer.preview(...args),
  beginRestore: ({ restorer }, ...args) => restorer.begin(...args),
  stepRestore: ({ restorer }, ...args) => restorer.step(...args),
  // Erasure
  eraseUser: ({ eraser }, ...args) => eraser.eraseUser(...args),
  eraseThread: ({ eraser }, ...args) => eraser.eraseThread(...args),
  eraseScope: ({ eraser }, ...args) => eraser.eraseScope(...args),
  erasureState: ({ eraser }, ...args) => eraser.state(...args),
  wakeErasures: async ({ alarms, eraser, erasureLog }, ids = []) => {
    // The alarm may be gone after its last retry, without a word to the object.
    await alarms.load();
    for (const id of ids) await eraser.takeOver(id);
    erasureLog.schedule();
  },
} satisfies Answers;

function reindexStateOf({ reindexer, index, vectors }: UserMemoryParts): Reindex {
  const vectorize = vectors.outbox.bound ? { vectorize: vectors.outbox.pending() } : {};
  return { ...reindexer.state(), pending: index.freshness().pending, ...vectorize };
}

type Answered = {
  [Name in keyof typeof ANSWERS]: (...args: Args<Name>) => ReturnType<(typeof ANSWERS)[Name]>;
};
/** The base class with a method for each of these, which `UserMemory` adds. */
type WithAnswers = new (ctx: DurableObjectState, env: Bindings) => DurableObject<Bindings> & Answered;

/**
 * The consistent store of one user: threads, entries and the search index; and the only writer of the user's memories in D1.
 * This class has the RPC surface and the alarm; its parts own the SQL. `contract.ts` types and documents each call.
 */
export class UserMemory extends (DurableObject as WithAnswers) implements Served<UserMemoryRpc> {
  readonly #parts: UserMemoryParts;
  readonly #chores: Chores;

  static {
    type Answer = (parts: UserMemoryParts, ...args: never[]) => unknown;
    // RPC reaches the methods of a prototype.
    for (const [name, answer] of Object.entries<Answer>(ANSWERS))
      Object.defineProperty(this.prototype, name, {
        // As of a method that the class declares.
        configurable: true,
        writable: true,
        value(this: UserMemory, ...args: never[]) {
          return answer(this.#parts, ...args);
        },
      });
  }

  constructor(ctx: DurableObjectState, env: Bindings, ports: Ports = portsOf(env)) {
    super(ctx, env);
    const users = within(env.USER_MEMORY, env.JURISDICTION);
    // The stub types of workers-types fail on the recursive type of a JSON value.
    this.#parts = assemble(ctx, ports, (owner) => users().getByName(owner) as unknown as ContextRpc);
    this.#chores = new Chores(
      {
        sql: ctx.storage.sql,
        alarms: this.#parts.alarms,
        now: ports.now,
        onFailure: (chore) => ports.metrics?.write({ kind: "chore", name: chore, code: "failed" }),
        onRun: (alarm) => {
          if (ports.traces !== null) ctx.waitUntil(ports.traces.sendAlarm(alarm));
        },
      },
      this.#parts.chores,
    );
    void ctx.blockConcurrencyWhile(async () => {
      const { alarms, embedding, index, resumable } = this.#parts;
      await alarms.load();
      // The first recall or alarm enqueues for the first model; this enqueues for a changed one.
      const target = embedding.target();
      if (target !== null && index.differsFrom(target) && index.enqueue(target))
        alarms.scheduleBy(ports.now());
      // Work that a migration began, or that an alarm left after its last retry.
      for (const chore of Object.values(resumable)) alarms.scheduleBy(chore.nextDue(ports.now()));
    });
  }

  restart(...[token]: Args<"restart">) {
    // A late call ends no later session, and with it nobody's call. A Worker of the former version names no restore.
    if (token !== undefined && !this.#parts.restorer.waits(token)) return;
    this.ctx.abort("the object begins anew with an earlier state");
  }

  override alarm(): Promise<void> {
    return this.#chores.run();
  }
}
