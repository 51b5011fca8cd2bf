import { DurableObject } from "cloudflare:workers";
import { type Bindings, type Ports, portsOf } from "../src/platform/bindings.ts";
import { within } from "../src/platform/objects-within.ts";
import { fail, ok } from "../src/domain/errors.ts";
import type { UserHash } from "../src/domain/ids.ts";
import type { Owner } from "../src/domain/memory/record.ts";
import { messagesJson } from "../src/domain/page-json.ts";
import type { UserSummary } from "../src/domain/schema/statistics.ts";
import type { Reindex } from "../src/domain/schema/reindex.ts";
import { Chores } from "./storage/chores.ts";
import type { Served } from "../src/contract/storage.ts";
import { assemble, type UserMemoryParts } from "./user-memory/assemble.ts";
import type { ContextRpc, UserMemoryRpc } from "../src/contract/user-memory.ts";
import { CATALOGUE_WITHIN_MS } from "./user-memory/core/owner-record.ts";

/** Ingests of a summary. */
const UNFINISHED = 50;

/** The arguments of a call, as `contract.ts` has them. */
type Args<Name extends keyof UserMemoryRpc> = Parameters<UserMemoryRpc[Name]>;

/**
 * The consistent store of one user: threads, entries and the search index; and the only writer of the user's memories in D1.
 * This class has the RPC surface and the alarm; its parts own the SQL. `contract.ts` types and documents each call.
 */
export class UserMemory extends DurableObject<Bindings> implements Served<UserMemoryRpc> {
  readonly #ports: Ports;
  readonly #parts: UserMemoryParts;
  readonly #chores: Chores;

  constructor(ctx: DurableObjectState, env: Bindings, ports: Ports = portsOf(env)) {
    super(ctx, env);
    this.#ports = ports;
    const users = within(env.USER_MEMORY, env.JURISDICTION);
    // The stub types of workers-types fail on the recursive type of a JSON value.
    this.#parts = assemble(ctx, ports, (owner) => users().getByName(owner) as unknown as ContextRpc);
    this.#chores = new Chores(
      {
        sql: ctx.storage.sql,
        alarms: this.#parts.alarms,
        now: ports.now,
        onFailure: (chore) => ports.metrics?.write({ kind: "chore", name: chore, code: "failed" }),
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

  // Entries

  getEntry(...args: Args<"getEntry">) {
    return this.#parts.entries.get(...args);
  }

  setEntry(...[write, owner]: Args<"setEntry">) {
    this.#noteOwner(owner, "entry");
    return this.#parts.entries.set(write);
  }

  deleteEntry(...args: Args<"deleteEntry">) {
    return this.#parts.entries.delete(...args);
  }

  deleteEntries(...args: Args<"deleteEntries">) {
    return this.#parts.entries.deletePrefix(...args);
  }

  listEntries(...args: Args<"listEntries">) {
    return this.#parts.entries.list(...args);
  }

  batchEntries(...[operations, owner, once]: Args<"batchEntries">) {
    if (operations.some(({ op }) => op === "set")) this.#noteOwner(owner, "entry");
    return this.#parts.entries.batch(operations, once);
  }

  // Threads

  createThread(...args: Args<"createThread">) {
    return this.#parts.conversations.create(...args);
  }

  resumeThread(...args: Args<"resumeThread">) {
    return this.#parts.conversations.resume(...args);
  }

  getThread(...args: Args<"getThread">) {
    return this.#parts.conversations.get(...args);
  }

  listThreads(...args: Args<"listThreads">) {
    return this.#parts.conversations.list(...args);
  }

  patchThread(...args: Args<"patchThread">) {
    return this.#parts.conversations.patch(...args);
  }

  deleteThread(...args: Args<"deleteThread">) {
    return this.#parts.conversations.delete(...args);
  }

  forkThread(...args: Args<"forkThread">) {
    return this.#parts.conversations.fork(...args);
  }

  appendMessages(...args: Args<"appendMessages">) {
    return this.#parts.messages.append(...args);
  }

  readMessages(...args: Args<"readMessages">) {
    return this.#parts.messages.read(...args);
  }

  readMessagesJson(...[id, query, separator]: Args<"readMessagesJson">) {
    const page = this.#parts.messages.read(id, query);
    return page.ok ? ok(messagesJson(page.value, separator)) : page;
  }

  deleteMessage(...args: Args<"deleteMessage">) {
    return this.#parts.messages.deleteMessage(...args);
  }

  compactThread(...args: Args<"compactThread">) {
    return this.#parts.messages.compact(...args);
  }

  listCompactions(...args: Args<"listCompactions">) {
    return this.#parts.messages.compactions(...args);
  }

  deleteCompaction(...args: Args<"deleteCompaction">) {
    return this.#parts.messages.deleteCompaction(...args);
  }

  validateThread(...args: Args<"validateThread">) {
    return this.#parts.messages.validate(...args);
  }

  // Memories

  remember(...[owner, request]: Args<"remember">) {
    this.#noteOwner(owner, "memory");
    const { writer, citations } = this.#parts;
    return writer.remember(owner, { ...request, statedAt: citations.ofCall() });
  }

  patchMemory(...args: Args<"patchMemory">) {
    return this.#parts.writer.patch(...args);
  }

  restoreMemory(...args: Args<"restoreMemory">) {
    return this.#parts.writer.restore(...args);
  }

  releaseMemory(...args: Args<"releaseMemory">) {
    return this.#parts.writer.release(...args);
  }

  reviewMemories(...args: Args<"reviewMemories">) {
    return this.#parts.review.many(...args);
  }

  forget(...args: Args<"forget">) {
    return this.#parts.forgetter.forget(...args);
  }

  forgetMemories(...args: Args<"forgetMemories">) {
    return this.#parts.forgetter.forgetMatching(...args);
  }

  forgetAllMemories(...args: Args<"forgetAllMemories">) {
    return this.#parts.forgetter.forgetAll(...args);
  }

  memoryIdOf(...args: Args<"memoryIdOf">) {
    return this.#parts.table.idOf(...args);
  }

  indexingOf(...args: Args<"indexingOf">) {
    return this.#parts.memoryIndex.stateOf(...args);
  }

  // Recall and reindex

  recall(...args: Args<"recall">) {
    return this.#parts.recall.recall(...args);
  }

  startReindex(owner: UserHash): Reindex {
    const { reindexer, embedding, index, vectors, alarms } = this.#parts;
    reindexer.start(owner);
    const target = embedding.target();
    if (target !== null) {
      index.enqueue(target);
      vectors.putMessagesAgain(target.model);
    }
    alarms.scheduleBy(this.#ports.now());
    return this.reindexState();
  }

  reindexState(): Reindex {
    const { reindexer, index, vectors } = this.#parts;
    const vectorize = vectors.outbox.bound ? { vectorize: vectors.outbox.pending() } : {};
    return { ...reindexer.state(), pending: index.freshness().pending, ...vectorize };
  }

  // Context

  context(...args: Args<"context">) {
    return this.#parts.context.context(...args);
  }

  searchLayers(...args: Args<"searchLayers">) {
    return this.#parts.context.searchLayers(...args);
  }

  contextItems(...args: Args<"contextItems">) {
    return this.#parts.context.contextItems(...args);
  }

  readPrompted(...args: Args<"readPrompted">) {
    return this.#parts.context.prompted(...args);
  }

  contextProfile(...args: Args<"contextProfile">) {
    return this.#parts.contexts.profile(...args);
  }

  listContextProfiles() {
    return this.#parts.contexts.profiles();
  }

  putContextProfile(...[owner, { name, layers }]: Args<"putContextProfile">) {
    if (!this.#parts.contexts.putProfile(name, layers)) return fail("limit_reached");
    this.#noteOwner(owner, "entry");
    return ok(null);
  }

  deleteContextProfile(...args: Args<"deleteContextProfile">) {
    this.#parts.contexts.deleteProfile(...args);
  }

  // Ingest

  ingest(...args: Args<"ingest">) {
    return this.#parts.ingests.ingest(...args);
  }

  readIngest(...args: Args<"readIngest">) {
    return this.#parts.ingests.get(...args);
  }

  retryIngest(...args: Args<"retryIngest">) {
    return this.#parts.ingests.retry(...args);
  }

  // Changes

  changes(...args: Args<"changes">) {
    return this.#parts.changes.read(...args);
  }

  wakeWebhook(): boolean {
    return this.#parts.webhookDelivery.wake();
  }

  // Usage

  summary(): UserSummary {
    const { quota, index, ingests, table, dueMemories, webhookDelivery } = this.#parts;
    const webhook = webhookDelivery.state();
    return {
      ...quota.held(),
      documents: index.freshness(),
      ingests: ingests.unfinished(UNFINISHED).map(({ id, threadId, status, why, createdAt }) => ({
        id,
        threadId,
        status,
        ...(why !== undefined && { why }),
        createdAt,
      })),
      quarantine: dueMemories.counts(table.clock.latest(this.#ports.now())),
      ...(webhook && { webhook }),
    };
  }

  recallOutcome(...args: Args<"recallOutcome">) {
    return this.#parts.recallLog.outcome(...args);
  }

  memoryUsage(...args: Args<"memoryUsage">) {
    return this.#parts.recallLog.list(...args);
  }

  // Export and import

  exportPage(...args: Args<"exportPage">) {
    const page = this.#parts.exporter.page(...args);
    const retention = args[0] === undefined ? this.#parts.retentionDrive.rules() : null;
    return page.ok && retention !== null ? ok({ ...page.value, retention }) : page;
  }

  epoch(): number {
    return this.#parts.erasureEpoch.current;
  }

  async importItems(...[owner, given]: Args<"importItems">) {
    const taken = await this.#parts.importer.take(owner, given);
    // Only users that have data are listed.
    if (taken.ok && Object.keys(taken.value.counts.imported).length > 0) this.#noteOwner(owner, "entry");
    return taken;
  }

  importMemories(...[owner, given]: Args<"importMemories">) {
    if (given.epoch === this.epoch()) this.#noteOwner(owner, "memory");
    return this.#parts.writer.import(owner, given);
  }

  // Retention

  retention(...args: Args<"retention">) {
    return this.#parts.retentionDrive.view(...args);
  }

  setRetention(...[owner, given]: Args<"setRetention">) {
    if (owner !== null) this.#noteOwner(owner, "entry");
    return this.#parts.retentionDrive.set(given);
  }

  // Restore

  previewRestore(...args: Args<"previewRestore">) {
    return this.#parts.restorer.preview(...args);
  }

  beginRestore(...args: Args<"beginRestore">) {
    return this.#parts.restorer.begin(...args);
  }

  restart() {
    this.ctx.abort("the object begins anew with an earlier state");
  }

  stepRestore(...args: Args<"stepRestore">) {
    return this.#parts.restorer.step(...args);
  }

  // Erasure

  eraseUser(...args: Args<"eraseUser">) {
    return this.#parts.eraser.eraseUser(...args);
  }

  eraseThread(...args: Args<"eraseThread">) {
    return this.#parts.eraser.eraseThread(...args);
  }

  eraseScope(...args: Args<"eraseScope">) {
    return this.#parts.eraser.eraseScope(...args);
  }

  erasureState(...args: Args<"erasureState">) {
    return this.#parts.erasures.state(...args);
  }

  async wakeErasures(...[ids = []]: Args<"wakeErasures">) {
    const { alarms, erasures, erasureDrive } = this.#parts;
    // The alarm may be gone after its last retry, without a word to the object.
    await alarms.load();
    for (const id of ids) await erasures.takeOver(id);
    alarms.scheduleBy(erasureDrive.nextDue());
  }

  #noteOwner(owner: Owner, by: keyof typeof CATALOGUE_WITHIN_MS): void {
    this.#parts.alarms.scheduleBy(this.#parts.owner.note(owner, this.#ports.now() + CATALOGUE_WITHIN_MS[by]));
  }

  override alarm(): Promise<void> {
    return this.#chores.run();
  }
}
