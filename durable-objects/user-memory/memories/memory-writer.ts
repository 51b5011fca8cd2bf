import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { Precondition } from "../../../src/domain/conditions.ts";
import type { Embedder, TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import { embedOne } from "../../../src/platform/embeddings/embed.ts";
import { identityOf, textOf } from "../../../src/domain/memory/identity.ts";
import {
  bodyOf,
  type Candidate,
  contentOf,
  memoryOf,
  type Owner,
} from "../../../src/domain/memory/record.ts";
import {
  currentOf,
  endSummarised,
  patchedText,
  patchIn,
  rememberIn,
  restoreIn,
  revive,
  states,
  targetOf,
} from "../../../src/domain/memory/rules.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import type { ImportedVersion } from "../../../src/domain/transfer/memory-lines.ts";
import type { ForgetMemoriesBody, Forgotten } from "../../../src/domain/schema/memory-filter.ts";
import type { PatchMemoryBody, RememberBody } from "../../../src/domain/schema/memory.ts";
import type { Rules } from "../../../src/domain/memory/predicates.ts";
import { isPerson, leastOf } from "../../../src/domain/memory/trust.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { AuditLog } from "../../../src/platform/d1/audit-log.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { PredicateRules } from "../../../src/platform/d1/predicate-rules.ts";
import { rulingOf } from "../../../src/platform/prepare-memories.ts";
import { turn } from "../../../src/platform/turn.ts";
import { storageFailureOf } from "../../../src/platform/storage-failure.ts";
import { importIn } from "./memory-import.ts";
import { conditionFailure, DecidedWrites, namedIn, NOT_DELETED, NOT_NOTED } from "./decided-writes.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { SimilarMemories } from "./similar-memories.ts";
import { Review } from "./review.ts";
import { Summaries } from "./summaries.ts";
import { WaitingMemories } from "./waiting-memories.ts";
import { logUnconfirmed, PendingWrites, type PendingWritesDependencies } from "./pending-writes.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type {
  Imported,
  MemoryChange,
  Prepared,
  Released,
  Remembered,
  ReviewedMany,
  ReviewRequest,
} from "../../../src/contract/user-memory.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type MemoryWriterDependencies = Omit<PendingWritesDependencies, "nextExpiry"> & {
  embedder: Embedder;
  quota: QuotaGuard;
  similar: SimilarMemories;
  predicates: Pick<PredicateRules, "rules">;
  auditLog: Pick<AuditLog, "add">;
  quarantineMs: number;
};
/** Memories that one intent deletes, or that one alarm takes as expired. */
const FORGET_SLICE = 1000;

/** Messages that the facts of one write cite, and that are read for them: each may be long. */
const CITATIONS = 32;

/** The one writer of a user's memories. It decides each write on the stored rows, one after another. */
export class MemoryWriter implements Erasable {
  readonly #deps: MemoryWriterDependencies;
  readonly #pending: PendingWrites;
  readonly #writes: DecidedWrites;
  readonly #similar: SimilarMemories;
  readonly #summaries: Summaries;
  readonly #waiting: WaitingMemories;
  readonly #review: Review;

  constructor(deps: MemoryWriterDependencies) {
    this.#deps = deps;
    const all = { ...deps, nextExpiry: () => this.#nextExpiry() };
    this.#pending = new PendingWrites(all);
    this.#waiting = new WaitingMemories({ ...deps, log: this.#pending.log });
    this.#writes = new DecidedWrites(all, this.#pending);
    this.#similar = deps.similar;
    this.#summaries = new Summaries(deps.table, this.#pending.log);
    this.#review = new Review({
      ...deps,
      writes: this.#writes,
      pending: this.#pending,
      refusal: (draft) => this.#refusal(draft),
      forget: async (owner, ids) => {
        const keepEntries = { keepEntries: true };
        this.#forgetSlices(owner, this.#forgottenWith(ids, keepEntries), keepEntries);
        const settled = await this.#pending.flush();
        if (settled) await this.#revive(owner);
        return settled;
      },
    });
  }

  /**
   * All of them or none. `statedAt`: the time of the message that a fact cites, if its owner states it there; null otherwise.
   * `isWanted`: none if it is false when the write has its turn. `noted`: called in the transaction that notes the write; it succeeds
   * then also while D1 has not confirmed it.
   */
  remember(
    owner: Owner,
    {
      memories,
      once,
      statedAt = () => null,
      isWanted = () => true,
      noted,
    }: {
      memories: readonly Prepared[];
      once?: IdempotencyKey;
      statedAt?: (body: RememberBody) => number | null;
      isWanted?: () => boolean;
      noted?: (remembered: readonly Remembered[]) => void;
    },
  ): Promise<Result<Remembered[]>> {
    return this.#writes.write<Remembered[]>(owner, { once, noted }, async (draft) => {
      if (!isWanted()) return fail("not_found");
      const ended: (readonly MemoryRow[])[] = [];
      const remembered: (Omit<Remembered, "memory"> & { row: MemoryRow })[] = [];
      const candidates = memories.map((one) => this.#restating(one, draft.time));
      let citations = 0;
      draft.readTexts(candidates.map(({ identity }) => identity.dedupeKey));
      for (const [i, candidate] of candidates.entries()) {
        // The checks of a long message take a while: other calls run between two.
        if (citations > 0) await turn();
        const path = memories.length === 1 ? "body" : `body.memories[${i}]`;
        const { condition } = candidate;
        const conditionPath = memories.length === 1 ? undefined : `${path}.ifVersion`;
        const unmet = condition && conditionFailure(condition, targetOf(draft, candidate), conditionPath);
        if (unmet) return unmet;
        const waited = candidate.waited === undefined ? null : currentOf(draft, candidate.waited);
        // A person may have corrected it: then it is theirs.
        if (candidate.waited !== undefined && (waited?.status !== "quarantined" || isPerson(waited.trust)))
          return fail("not_found");
        if (waited !== null) draft.forget(waited.id);
        const by =
          waited === null || candidate.status === "quarantined"
            ? candidate.by
            : { ...candidate.by, waitedAs: waited.id };
        const ruled = rememberIn(draft, owner, {
          ...candidate,
          by,
          statedAt: () => (citations++ < CITATIONS ? statedAt(candidate.body) : null),
        });
        if (!ruled.ok) return withPathPrefix(ruled, path);
        const similar =
          candidate.body.dedupe === "suggest" ? this.#similar.similarTo(candidate, draft.time) : undefined;
        const others = similar?.filter(({ id }) => id !== ruled.value.row.id);
        const { row, created, replaced = false, ended: before = [] } = ruled.value;
        remembered.push({
          row,
          created,
          ...(replaced && { replaced }),
          ...(others && { similar: others }),
          ...namedIn(before),
        });
        ended.push(before);
      }
      const refused = this.#refusal(draft);
      if (refused !== null) return refused;
      return ok({
        // A later memory of the same call may have changed it.
        answer: remembered.map(({ row, ...rest }) => ({
          memory: memoryOf(draft.version(row.id, row.version) ?? row),
          ...rest,
        })),
        memoryIds: remembered.map(({ row }) => row.id),
        superseded: ended.map((rows) => rows.map(({ version }) => version)),
        // A stored memory may have kept its own text.
        vectors: new Map(
          remembered.flatMap(({ row }, i) => {
            const candidate = candidates[i];
            const same = candidate && embeddedText(contentOf(candidate)) === embeddedText(row);
            return same ? [[row.version, candidate.vector]] : [];
          }),
        ),
      });
    });
  }

  /**
   * A candidate that restates a stored memory, as that memory: its text, its triple and its trust stay, since the candidate has
   * confirmed no word of them. Its vector is that of the stored text, which a new version copies.
   */
  #restating(candidate: Prepared, now: number): Prepared {
    const { body, identity, status } = candidate;
    if (body.dedupe !== "merge" || status !== "active" || identity.id !== null) return candidate;
    const stored = this.#similar.restated(candidate, now);
    if (stored === null || stored.text === body.text) return candidate;
    const { subject: _subject, predicate: _predicate, object: _object, cardinality: _many, ...rest } = body;
    return {
      ...candidate,
      body: { ...rest, text: stored.text },
      by: { ...candidate.by, trust: leastOf(candidate.by.trust, stored.trust) },
      identity: { ...identity, dedupeKey: stored.dedupeKey },
      vector: { ...candidate.vector, vector: "failed" },
    };
  }

  /**
   * Stores the summary of some episodes, and ends them. Nothing if one of them has changed: `precondition_failed`.
   */
  summarise(
    owner: Owner,
    { summary, episodes }: { summary: Prepared; episodes: readonly Pick<MemoryRow, "id" | "version">[] },
  ): Promise<Result<Remembered[]>> {
    return this.#writes.write<Remembered[]>(owner, { once: undefined }, async (draft) => {
      const current = episodes.map(({ id, version }) => {
        const row = currentOf(draft, id);
        return row?.version === version ? row : null;
      });
      if (current.includes(null)) return fail("precondition_failed");
      const ruled = rememberIn(draft, owner, summary);
      if (!ruled.ok) return ruled;
      const { row, created } = ruled.value;
      for (const episode of current) if (episode !== null) endSummarised(draft, episode, row.id);
      const refused = this.#refusal(draft);
      if (refused !== null) return refused;
      return ok({
        answer: [{ memory: memoryOf(row), created }],
        memoryIds: [row.id],
        vectors: new Map([[row.version, summary.vector]]),
      });
    });
  }

  /** Makes the episodes live again whose summary is gone. */
  reviveEpisodes(owner: Owner): Promise<void> {
    return this.#pending.inTurn(async () => {
      if (!(await this.#pending.flush())) return;
      this.#summaries.findGone(FORGET_SLICE);
      await this.#revive(owner);
    });
  }

  /** The id of the live memory that states the same as a candidate; null without one. */
  async knownAs({ hash }: Owner, given: Candidate): Promise<string | null> {
    const { table, now } = this.#deps;
    const { body } = given;
    const identity = await identityOf(hash, { ...body, text: textOf(body) }, false);
    const candidate = { ...given, identity, status: "active" as const };
    const row = targetOf(new MemoryDraft(table, table.next(now())), candidate);
    return row !== null && states(row, candidate) ? row.id : null;
  }

  /** The failure of the quota that the draft exceeds, or null. */
  #refusal({ write: { put, forget } }: MemoryDraft): Failure | null {
    const { quota, table } = this.#deps;
    // Every correction adds a version.
    const last = table.lastVersion();
    if (!put.some(({ version }) => version > last)) return null;
    return quota.memoriesFailure(() => {
      const added = [...new Set(put.map(({ id }) => id))].filter((id) => !table.has(id));
      return added.length - forget.filter((id) => table.has(id)).length;
    });
  }

  patch(
    owner: Owner,
    id: string,
    { body, ...change }: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Released>> {
    return this.#change(owner, id, change, async (draft, current) => {
      const rules = await this.#rulesFor(bodyOf(current));
      if (!rules.ok) return rules;
      const ruling = rulingOf(bodyOf(current), rules.value);
      const object = body.object ?? current.object;
      const changed = {
        ...bodyOf(current),
        ...(object !== null && { object }),
        text: patchedText(current, body),
      };
      const { dedupeKey } = await identityOf(owner.hash, changed, false);
      const patched = patchIn(draft, current, { body, dedupeKey, by: change.by, ruling });
      return patched.ok ? patched : withPathPrefix(patched, "body");
    });
  }

  restore(
    owner: Owner,
    id: string,
    { version, ...change }: MemoryChange & { version: number },
  ): Promise<Result<Released>> {
    return this.#change(owner, id, change, async (draft, current) => {
      const rules = await this.#rulesFor(bodyOf(current));
      if (!rules.ok) return rules;
      const past = draft.version(current.id, version);
      if (past === null)
        return fail("not_found", {
          details: [{ path: "body.version", message: "is no version of this memory" }],
        });
      const ruling = rulingOf(bodyOf(current), rules.value);
      return restoreIn(draft, current, { past, by: change.by, ruling });
    });
  }

  /**
   * Makes a quarantined memory active, with the trust of the caller, who is a person or a backend. It gets the id of its name, or
   * of the memory that it merges with, if any.
   */
  release(owner: Owner, id: string, change: MemoryChange): Promise<Result<Released>> {
    return this.#change(owner, id, change, async (draft, current) => {
      const rules = await this.#rulesFor(bodyOf(current));
      if (!rules.ok) return rules;
      return this.#review.decideRelease(draft, owner, { current, by: change.by, rules: rules.value });
    });
  }

  /** Releases or rejects many memories, each with an outcome of its own. */
  reviewMany(owner: Owner, request: ReviewRequest): Promise<Result<ReviewedMany>> {
    return this.#review.many(owner, request);
  }

  /** The tenant's rules; none for a memory without a predicate. */
  async #rulesFor({ subject, predicate }: RememberBody): Promise<Result<Rules>> {
    const isTriple = subject !== undefined && predicate !== undefined;
    return isTriple ? d1Result(() => this.#deps.predicates.rules()) : ok(new Map());
  }

  /** Removes the memory from recall before anything is awaited. False if there is no such memory. */
  forget(owner: Owner, given: string, condition: Precondition = {}): Promise<Result<boolean>> {
    const former = this.#deps.table.releasedAs(given);
    const id = this.#deps.table.has(given) ? given : (former ?? given);
    const known = this.#deps.table.has(id) || this.#pending.log.hasPendingFor(id);
    if (condition.ifMatch !== undefined) {
      const { table, now } = this.#deps;
      const current = currentOf(new MemoryDraft(table, table.latest(now())), id);
      const unmet = conditionFailure(condition, current);
      if (unmet !== null) return Promise.resolve(current === null ? fail("not_found") : unmet);
    }
    if (known) this.#forgetSlices(owner, this.#forgottenWith([id]), {});
    return this.#pending.inTurn(async () => {
      let settled = await this.#pending.flush();
      // A pending release of it may have been applied now.
      const became = this.#deps.table.releasedAs(given);
      if (known && became !== null && became !== id && became !== former) {
        this.#forgetSlices(owner, this.#forgottenWith([became]), {});
        settled = await this.#pending.flush();
      }
      if (this.#pending.log.hasPendingFor(id)) return this.#pending.pendingFailure(NOT_DELETED);
      if (settled) await this.#revive(owner);
      return known ? ok(true) : this.#deleteUnindexed(owner, id);
    });
  }

  /** Deletes every memory that matches, or only lists them (`dryRun`). */
  async forgetMatching(
    owner: Owner,
    { filter, dryRun = false, keepEntries = false }: ForgetMemoriesBody,
  ): Promise<Result<Forgotten>> {
    const ids = new Set<string>();
    const answer = () => ok({ count: ids.size, ids: [...ids].slice(0, limits.page) });
    const find = () => {
      const { table, now } = this.#deps;
      const found = this.#forgottenWith(table.matching(filter, table.latest(now())), { keepEntries });
      for (const id of found) ids.add(id);
      return found;
    };
    if (dryRun) {
      find();
      return answer();
    }
    const forgotten = await this.forgetFound(owner, find, { keepEntries });
    return forgotten.ok ? answer() : forgotten;
  }

  /** Deletes the found memories at once. Repeats until none is found and D1 has confirmed the deletions. */
  forgetFound(
    owner: Owner,
    find: () => string[],
    how: { keepEntries?: boolean } = {},
  ): Promise<Result<null>> {
    this.#forgetSlices(owner, find(), how);
    return this.#pending.inTurn(async () => {
      for (;;) {
        if (!(await this.#pending.flush())) return this.#pending.pendingFailure(NOT_DELETED);
        // Writes that were pending at the first search are applied now.
        const more = find();
        if (more.length === 0) break;
        this.#forgetSlices(owner, more, how);
      }
      await this.#revive(owner);
      return ok(null);
    });
  }

  /** Puts memories with their history; see `importIn`. The alarm embeds them. */
  import(
    owner: Owner,
    { epoch, memories }: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<Imported>> {
    const arrived = this.#writes.scopeErasures;
    return this.#pending.inTurn(async () => {
      const { table, transactions, quota, erasureEpoch, now } = this.#deps;
      if (!(await this.#pending.flush())) return this.#pending.pendingFailure(NOT_NOTED);
      if (epoch !== erasureEpoch.current) return fail("erased_meanwhile");
      const time = table.next(now());
      const refusal = (more: number) => quota.memoriesFailure(() => more);
      const { put, ...counted } = importIn(table, owner, { memories, now: time, refusal });
      if (put.length === 0) return ok(counted);
      if (this.#writes.isErased(put, arrived)) return fail("erased_meanwhile");
      const outcome = await this.#pending.apply(
        transactions.atomically(() => this.#pending.note({ owner, put, forget: [] })),
        { first: true },
      );
      return outcome === "done" ? ok(counted) : this.#writes.failureOf(outcome);
    });
  }

  /** All memories and intents are gone, and writes that are being decided start again; of a scope, waiting writes are rejected. */
  erase(data: ErasedData): void {
    if (data.what === "scope") return this.#writes.rejectWritesTo(data.scope);
    this.#pending.forgetCount++;
    this.#pending.log.clearEverything();
    this.#deps.table.forgetOwner();
  }

  /** These memories, the summaries of them, and, unless entries are kept, the other memories that name their entries. */
  #forgottenWith(ids: readonly string[], { keepEntries = false } = {}): string[] {
    const { table, now } = this.#deps;
    const all = keepEntries ? ids : table.withSameEntries(ids, now());
    return [...new Set([...all, ...this.#summaries.of(all)])];
  }

  #forgetSlices(owner: Owner, ids: readonly string[], how: { keepEntries?: boolean }): void {
    this.#summaries.forgetting(ids);
    for (let i = 0; i < ids.length; i += FORGET_SLICE)
      this.#pending.forget(owner, ids.slice(i, i + FORGET_SLICE), how);
  }

  /** Makes the episodes of forgotten summaries live again. In turn, with no write pending. */
  async #revive(owner: Owner): Promise<void> {
    const { table, transactions, now } = this.#deps;
    const draft = new MemoryDraft(table, table.next(now()));
    for (const id of this.#summaries.takeNoted()) {
      const row = currentOf(draft, id);
      const summary = row?.provenance?.summarisedBy;
      if (row !== null && summary !== undefined && !table.has(summary)) revive(draft, row);
    }
    const { put } = draft.write;
    if (put.length === 0) return;
    await this.#pending.apply(
      transactions.atomically(() => this.#pending.note({ owner, put, forget: [] })),
      { first: true },
    );
  }

  /** Deletes all memories of the user. */
  forgetAll(owner: Owner): Promise<Result<null>> {
    this.#pending.forget(owner, "all");
    return this.#pending.inTurn(async () =>
      (await this.#pending.flush()) ? ok(null) : this.#pending.pendingFailure(NOT_DELETED),
    );
  }

  /** Repeats pending writes, deletes expired memories, and ends waits in quarantine, if due. For the alarm. */
  async run(): Promise<void> {
    const { table, now } = this.#deps;
    const due = this.nextDue();
    if (due === null || due > now()) return;
    await this.#pending.inTurn(async () => {
      // A pending write may replace an expired memory.
      const settled = await this.#pending.flush();
      const expired = table.expired(now(), FORGET_SLICE).filter((id) => !this.#pending.log.hasPendingFor(id));
      const over = [...expired, ...this.#waiting.listed(now(), FORGET_SLICE)];
      const owner = table.owner();
      if (owner === null) return;
      // Its entry has an expiry of its own, which a read may have extended.
      this.#forgetSlices(owner, this.#forgottenWith(over, { keepEntries: true }), { keepEntries: true });
      if (await this.#pending.flush()) await this.#revive(owner);
      if (settled) await this.#endWaits(owner);
      // An erasure that D1 lacks holds up all writes, and none of them says when to try again.
      else if (this.#pending.log.nextDue() === null) throw new Error("D1 lacks an erasure of this user");
    });
  }

  /** Expires a slice of the memories that wait for too long. In turn, with no write pending. */
  async #endWaits(owner: Owner): Promise<void> {
    const { transactions, now } = this.#deps;
    if (!(await this.#pending.flush())) return;
    // At once with the note: a memory that is deleted in between would come back.
    const put = this.#waiting.late(now());
    if (put.length === 0) return;
    const intent = transactions.atomically(() => this.#pending.note({ owner, put, forget: [] }));
    const outcome = await this.#pending.apply(intent, { first: true });
    const expired = put.filter(({ correctedAt }) => correctedAt === null).length;
    // One that stays pending is carried out later, and noted now.
    if (outcome === "done" || outcome === "pending") await this.#waiting.note(owner, expired, now());
    // The next try waits for longer and longer: these memories are due all the time.
    else throw new Error(`D1 did not take the end of waits in quarantine: ${outcome}`);
  }

  /** The time of the next retry, expiry or end of a wait; null if there is none. */
  nextDue(): number | null {
    // Expired memories are hidden already, so they wait for a pending write.
    return this.#pending.log.nextDue() ?? this.#nextExpiry();
  }

  #nextExpiry(): number | null {
    const due = [this.#deps.table.nextExpiry(), this.#waiting.nextDue()].filter((one) => one !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** Counts what waits for review. */
  waiting(): ReturnType<WaitingMemories["counts"]> {
    const { table, now } = this.#deps;
    return this.#waiting.counts(table.latest(now()));
  }

  /** The memory that has this id, or that one became which waited under it; null if there is none. */
  idOf(id: string): string | null {
    return this.#deps.table.idOf(id);
  }

  /** The memory as it is stored; null without one. `pending`: a write of it may still change that. */
  stored(id: string): MemoryRow | "pending" | null {
    if (this.isBeingDeleted(id)) return "pending";
    const { table, now } = this.#deps;
    return currentOf(new MemoryDraft(table, table.latest(now())), id);
  }

  /** True if the memory's deletion is pending: D1 may still have it. */
  isBeingDeleted(id: string): boolean {
    return this.#pending.log.hasPendingFor(id) || this.#pending.log.forgetsAll();
  }

  /** The lowest version that a pending write puts; Infinity without one. */
  firstPending(): number {
    return this.#pending.log.firstVersion();
  }

  /** Runs between writes, when none is pending. False if one stays pending. */
  betweenWrites(act: () => Promise<void>): Promise<boolean> {
    return this.#pending.inTurn(async () => {
      const settled = await this.#pending.flush();
      if (settled) await act();
      return settled;
    });
  }

  /** One change of one stored memory. */
  async #change(
    owner: Owner,
    id: string,
    { condition, once }: MemoryChange,
    decide: (
      draft: MemoryDraft,
      current: MemoryRow,
    ) => Promise<Result<{ row: MemoryRow; ended?: readonly MemoryRow[] }>>,
  ): Promise<Result<Released>> {
    return this.#writes.write<Released>(owner, { once }, async (draft) => {
      const current = currentOf(draft, this.#deps.table.idOf(id) ?? id);
      if (current === null) return fail("not_found");
      const unmet = conditionFailure(condition, current);
      if (unmet !== null) return unmet;
      const decided = await decide(draft, current);
      if (!decided.ok) return decided;
      const refused = this.#refusal(draft);
      if (refused !== null) return refused;
      const { row, ended = [] } = decided.value;
      const { version, id: changedId } = row;
      const text = embeddedText(row);
      const vectors = new Map<number, TextEmbedding>();
      // A quarantined memory has no vector yet.
      if (text !== embeddedText(current) || current.status !== row.status)
        vectors.set(version, await embedOne(this.#deps.embedder, text));
      return ok({
        answer: { ...memoryOf(row), ...namedIn(ended) },
        memoryIds: [current.id, changedId],
        superseded: [ended.map((one) => one.version)],
        vectors,
      });
    });
  }

  /** Deletes a memory that only D1 has: a write whose answer was lost may leave one. */
  async #deleteUnindexed(owner: Owner, id: string): Promise<Result<boolean>> {
    try {
      const there = await this.#deps.records.history(owner.hash, id, { limit: 1 });
      if (there.length === 0) return ok(false);
    } catch (error) {
      logUnconfirmed("a read before forgetting", error);
      return fail(storageFailureOf(error) ?? "storage_unavailable");
    }
    this.#pending.forget(owner, [id]);
    return (await this.#pending.flush()) ? ok(true) : this.#pending.pendingFailure(NOT_DELETED);
  }
}

/** The failure with a prefix before the path of each field. */
const withPathPrefix = (failure: Failure, prefix: string): Failure => ({
  ...failure,
  ...(failure.details && {
    details: failure.details.map((detail) => ({ ...detail, path: `${prefix}.${detail.path}` })),
  }),
});
