import { type Condition, holds } from "../../../src/domain/conditions.ts";
import type { Embedder, QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import { embedOne } from "../../../src/platform/embeddings/embed.ts";
import { identityOf } from "../../../src/domain/memory/identity.ts";
import {
  bodyOf,
  contentOf,
  memoryOf,
  type Owner,
  releasedBodyOf,
} from "../../../src/domain/memory/record.ts";
import {
  currentOf,
  patchedText,
  patchIn,
  releaseIn,
  rememberIn,
  restoreIn,
  targetOf,
} from "../../../src/domain/memory/rules.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import type { ImportedVersion } from "../../../src/domain/transfer/memory-lines.ts";
import type {
  ForgetMemoriesBody,
  Forgotten,
  MemoryFilter,
} from "../../../src/domain/schema/memory-filter.ts";
import type { Memory, PatchMemoryBody } from "../../../src/domain/schema/memory.ts";
import { limits } from "../../../src/domain/limits.ts";
import { storageFailureOf } from "../../../src/platform/storage-failure.ts";
import { importIn } from "./memory-import.ts";
import { MemoryDraft } from "./memory-draft.ts";
import { logUnconfirmed, PendingWrites, type PendingWritesDependencies } from "./pending-writes.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import { resolveReference, type Reference, referenceTo } from "./answer-reference.ts";
import type { Once } from "../../storage/contract.ts";
import type { ImportedMemories, MemoryChange, Prepared, Remembered } from "../contract.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type Parts = PendingWritesDependencies & { embedder: Embedder; quota: QuotaGuard };
/** What a write makes of the memories, and what its caller is told of it. */
type Decided<T> = {
  answer: T;
  memoryIds: readonly string[];
  /** Of versions whose text was embedded already. */
  vectors: ReadonlyMap<number, QueryVector>;
};

/** `path`: of the condition, where it is in the body. */
const unmet = (current: MemoryRow | null, path?: string): Failure => {
  const found = current === null ? "there is none" : `its version is "${current.version}"`;
  return fail("precondition_failed", {
    message: `The memory is not as the condition demands: ${found}.`,
    ...(path !== undefined && { details: [{ path, message: `does not hold: ${found}` }] }),
  });
};

/** Memories that one intent forgets, and that one alarm finds to have expired. */
const FORGET_SLICE = 1000;

const UNCERTAIN =
  "The database did not confirm the write, so it is not certain yet. Try again: the same write is never done twice.";
const NOT_NOTED = "The database does not answer, and nothing was stored. Try again.";
const NOT_DELETED =
  "What was to be forgotten is gone from recall. The database has not confirmed its deletion yet; Cairn goes on trying.";

/**
 * The one writer of a user's memories: decides what a write makes of what is stored, in its turn and behind all writes
 * that are still open, and hands that to `PendingWrites`.
 */
export class MemoryWriter {
  readonly #parts: Parts;
  readonly #pending: PendingWrites;
  /** The scopes that were erased since the object is awake, each with its place among these erasures. */
  readonly #erasedScopes = new Map<string, number>();
  #scopeErasures = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#pending = new PendingWrites(parts);
  }

  /** All of them or none. */
  remember(
    owner: Owner,
    { memories, once }: { memories: readonly Prepared[]; once?: Once },
  ): Promise<Result<Remembered[]>> {
    return this.#write(owner, once, async (draft) => {
      const remembered: { row: MemoryRow; created: boolean }[] = [];
      for (const [i, candidate] of memories.entries()) {
        const target = candidate.condition === undefined ? null : targetOf(draft, candidate);
        if (!holds(candidate.condition ?? {}, target === null ? null : String(target.version)))
          return unmet(target, memories.length === 1 ? undefined : `body.memories[${i}].ifVersion`);
        const ruled = rememberIn(draft, owner, candidate);
        if (!ruled.ok) return placed(ruled, memories.length === 1 ? "body" : `body.memories[${i}]`);
        remembered.push(ruled.value);
      }
      const refused = this.#refusal(draft);
      if (refused !== null) return refused;
      return ok({
        // What a later one of the same call has made of it is what is there.
        answer: remembered.map(({ row, created }) => ({
          memory: memoryOf(draft.version(row.id, row.version) ?? row),
          created,
        })),
        memoryIds: remembered.map(({ row }) => row.id),
        // A memory that was there may have kept a text of its own.
        vectors: new Map(
          remembered.flatMap(({ row }, i) => {
            const candidate = memories[i];
            const same = candidate && embeddedText(contentOf(candidate)) === embeddedText(row);
            return same ? [[row.version, candidate.vector]] : [];
          }),
        ),
      });
    });
  }

  /** Why what the draft adds is more than the user may hold, or null. */
  #refusal({ write: { put, forget } }: MemoryDraft): Failure | null {
    const { quota, table } = this.#parts;
    // Every correction is kept: a new version adds, whatever it says.
    const last = table.lastVersion();
    if (!put.some(({ version }) => version > last)) return null;
    if (!quota.bounds("memories", "bytes")) return quota.refusesGrowth();
    const added = [...new Set(put.map(({ id }) => id))].filter((id) => !table.has(id));
    return quota.refusesMemories(added.length - forget.filter((id) => table.has(id)).length);
  }

  patch(
    owner: Owner,
    id: string,
    { body, ...change }: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Memory>> {
    return this.#change(owner, id, change, async (draft, current) => {
      const named = { ...bodyOf(current), text: patchedText(current, body) };
      const { dedupeKey } = await identityOf(owner.hash, named, false);
      return patchIn(draft, current, { body, dedupeKey });
    });
  }

  restore(
    owner: Owner,
    id: string,
    { version, ...change }: MemoryChange & { version: number },
  ): Promise<Result<Memory>> {
    return this.#change(owner, id, change, async (draft, current) => {
      const past = draft.version(id, version);
      if (past === null)
        return fail("not_found", {
          details: [{ path: "body.version", message: "is no version of this memory" }],
        });
      return ok(restoreIn(draft, current, past));
    });
  }

  /** Makes a quarantined memory an active one, which may have another id: that of what it takes the place of. */
  release(owner: Owner, id: string, change: MemoryChange): Promise<Result<Memory>> {
    return this.#change(owner, id, change, async (draft, current) => {
      if (current.status === "active") return ok(current);
      const body = releasedBodyOf(current, draft.time);
      const identity = await identityOf(owner.hash, body, false);
      return releaseIn(draft, owner, current, { body, identity, status: "active" });
    });
  }

  /** Gone from recall before anything is awaited, whatever D1 does. False if there is no such memory. */
  forget(owner: Owner, id: string, condition: Condition = {}): Promise<Result<boolean>> {
    const known = this.#parts.table.has(id) || this.#pending.hasPendingFor(id);
    if (condition.ifMatch !== undefined) {
      const current = currentOf(this.#draft(), id);
      if (!holds(condition, current === null ? null : String(current.version)))
        return Promise.resolve(current === null ? fail("not_found") : unmet(current));
    }
    if (known) this.#pending.forget(owner, this.#parts.table.withSameEntries([id], this.#parts.now()));
    return this.#pending.inTurn(async () => {
      await this.#pending.flush();
      if (this.#pending.hasPendingFor(id)) return this.#pending.pendingFailure(NOT_DELETED);
      return known ? ok(true) : this.#deleteUnindexed(owner, id);
    });
  }

  /** Forgets every memory that the filter means, or only tells which these are. */
  async forgetMatching(
    owner: Owner,
    { filter, dryRun = false, keepEntries = false }: ForgetMemoriesBody,
  ): Promise<Result<Forgotten>> {
    const ids = new Set<string>();
    const answer = () => ok({ count: ids.size, ids: [...ids].slice(0, limits.page) });
    const find = () => {
      const matching = this.#matching(filter);
      const found = keepEntries ? matching : this.#parts.table.withSameEntries(matching, this.#parts.now());
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

  /** Forgets what is found, at once, and until nothing more is found and D1 has confirmed it. */
  forgetFound(
    owner: Owner,
    find: () => string[],
    how: { keepEntries?: boolean } = {},
  ): Promise<Result<null>> {
    this.#forgetSlices(owner, find(), how);
    return this.#pending.inTurn(async () => {
      for (;;) {
        if (!(await this.#pending.flush())) return this.#pending.pendingFailure(NOT_DELETED);
        // What was not certain, or on its way, when it was asked for is known by now.
        const more = find();
        if (more.length === 0) return ok(null);
        this.#forgetSlices(owner, more, how);
      }
    });
  }

  /** Puts memories with their history, as they were elsewhere; see `importIn`. Their vectors come with the alarm. */
  import(
    owner: Owner,
    { epoch, memories }: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<ImportedMemories>> {
    const arrived = this.#scopeErasures;
    return this.#pending.inTurn(async () => {
      const { table, transactions, quota, generation, now } = this.#parts;
      if (!(await this.#pending.flush())) return this.#pending.pendingFailure(NOT_NOTED);
      if (epoch !== generation.epoch) return fail("erased_meanwhile");
      const time = table.tick(now());
      const refusal = (more: number) =>
        quota.bounds("memories", "bytes") ? quota.refusesMemories(more) : quota.refusesGrowth();
      const { put, ...counted } = importIn(table, owner, { memories, now: time, refusal });
      if (put.length === 0) return ok(counted);
      if (this.#isErased(put, arrived)) return fail("erased_meanwhile");
      const outcome = await this.#pending.apply(
        transactions.atomically(() => this.#pending.note({ owner, put, forget: [] })),
        { first: true },
      );
      return outcome === "done" ? ok(counted) : this.#undone(outcome);
    });
  }

  /** Says that all memories were taken away, with what was open: what is decided on them is to be decided anew. */
  erased(): void {
    this.#pending.forgotten();
    this.#parts.table.forgetOwner();
  }

  /** Says that a scope is erased: what waits here to write to it is not written. */
  erasesScope(scope: string): void {
    this.#erasedScopes.set(scope, ++this.#scopeErasures);
  }

  /** Whether one of these rows is in a scope that was erased after so many erasures. */
  #isErased(put: readonly MemoryRow[], since: number): boolean {
    return put.some(({ scope }) => scope !== null && (this.#erasedScopes.get(scope) ?? 0) > since);
  }

  #matching(filter: MemoryFilter): string[] {
    const { table, now } = this.#parts;
    return table.matching(filter, Math.max(now(), table.lastWrite()));
  }

  #forgetSlices(owner: Owner, ids: readonly string[], how: { keepEntries?: boolean }): void {
    for (let i = 0; i < ids.length; i += FORGET_SLICE)
      this.#pending.forget(owner, ids.slice(i, i + FORGET_SLICE), how);
  }

  /** Forgets all memories of the user. */
  forgetAll(owner: Owner): Promise<Result<null>> {
    this.#pending.forgetAll(owner);
    return this.#pending.inTurn(async () =>
      (await this.#pending.flush()) ? ok(null) : this.#pending.pendingFailure(NOT_DELETED),
    );
  }

  /** Carries out what is still open and due, and forgets what has expired, for the alarm. */
  async alarm(): Promise<void> {
    const { table, now } = this.#parts;
    const due = this.nextDue();
    if (due === null || due > now()) return;
    await this.#pending.inTurn(async () => {
      // First what is open, which may put a memory in the place of one that has expired.
      await this.#pending.flush();
      const expired = table.expired(now(), FORGET_SLICE).filter((id) => !this.#pending.hasPendingFor(id));
      const owner = table.owner();
      if (owner === null || expired.length === 0) return;
      // The entry that it named has an expiry of its own, which a read may have put off.
      this.#pending.forget(owner, expired, { keepEntries: true });
      await this.#pending.flush();
    });
  }

  /** When the alarm should try what is still open, or forget what has expired; null if never. */
  nextDue(): number | null {
    // What has expired is hidden already, and waits for the next try of what is open.
    return this.#pending.nextDue() ?? this.#parts.table.nextExpiry();
  }

  /** Whether a memory is to be deleted, and D1 may still have it. */
  isLeaving(id: string): boolean {
    return this.#pending.hasPendingFor(id) || this.#pending.forgetsAll();
  }

  /** Does something between writes, once nothing is open; false if something stays so. */
  betweenWrites(act: () => Promise<void>): Promise<boolean> {
    return this.#pending.inTurn(async () => {
      const settled = await this.#pending.flush();
      if (settled) await act();
      return settled;
    });
  }

  #draft(): MemoryDraft {
    const { table, now } = this.#parts;
    return new MemoryDraft(table, Math.max(now(), table.lastWrite()));
  }

  /** One change of one memory that is there. */
  async #change(
    owner: Owner,
    id: string,
    { condition, once }: MemoryChange,
    decide: (draft: MemoryDraft, current: MemoryRow) => Promise<Result<MemoryRow>>,
  ): Promise<Result<Memory>> {
    return this.#write<Memory>(owner, once, async (draft) => {
      const current = currentOf(draft, id);
      if (current === null) return fail("not_found");
      if (!holds(condition, String(current.version))) return unmet(current);
      const row = await decide(draft, current);
      if (!row.ok) return row;
      const refused = this.#refusal(draft);
      if (refused !== null) return refused;
      const { version, id: changedId } = row.value;
      const text = embeddedText(row.value);
      const vectors = new Map<number, QueryVector>();
      // What is quarantined has no vector yet.
      if (text !== embeddedText(current) || current.status !== row.value.status)
        vectors.set(version, await embedOne(this.#parts.embedder, text));
      return ok({ answer: memoryOf(row.value), memoryIds: [id, changedId], vectors });
    });
  }

  /** Decides on a write in its turn, and carries it out. */
  #write<T extends Memory | Remembered[]>(
    owner: Owner,
    once: Once | undefined,
    decide: (draft: MemoryDraft) => Promise<Result<Decided<T>>>,
  ): Promise<Result<T>> {
    const { epoch } = this.#parts.generation;
    const arrived = this.#scopeErasures;
    return this.#pending.inTurn(async () => {
      const known = this.#before<T>(once);
      if (known !== null) return known;
      const decided = await this.#decide({ once, epoch, arrived }, decide);
      if ("told" in decided) return decided.told;
      const { answer, memoryIds, vectors, draft } = decided;
      const { put, forget } = draft.write;
      if (put.length === 0 && forget.length === 0) return ok(this.#told(answer));
      const reference = referenceTo(answer, draft);
      const kept = once && { answer: { once, answer: reference, memoryIds: [...memoryIds] } };
      const noted = this.#parts.transactions.atomically(() =>
        this.#pending.note({ owner, put, forget, ...kept }),
      );
      const outcome = await this.#pending.apply(noted, { vectors, first: true });
      return outcome === "done" ? ok(this.#told(answer)) : this.#undone(outcome);
    });
  }

  /** What is told of a write that did not get through. */
  #undone(outcome: "refused" | "full" | "stale" | "pending"): Failure {
    if (outcome === "pending") return this.#pending.pendingFailure(UNCERTAIN);
    if (outcome === "stale") return this.#pending.pendingFailure(NOT_NOTED);
    return fail(outcome === "full" ? "storage_full" : "internal");
  }

  /** What a write makes of what is stored, once nothing older is open; or what its caller is told without it. */
  async #decide<T extends Memory | Remembered[]>(
    { once, epoch, arrived }: { once: Once | undefined; epoch: number; arrived: number },
    decide: (draft: MemoryDraft) => Promise<Result<Decided<T>>>,
  ): Promise<(Decided<T> & { draft: MemoryDraft }) | { told: Result<T> }> {
    const { table, generation, now } = this.#parts;
    for (;;) {
      // Nothing new is noted while older writes cannot be carried out: a caller's retries would pile up.
      if (!(await this.#pending.flush())) return { told: this.#pending.pendingFailure(NOT_NOTED) };
      // What came before an erasure is not to be there after it.
      if (epoch !== generation.epoch) return { told: fail("erased_meanwhile") };
      // What was open may have been the same request.
      const settled = this.#before<T>(once);
      if (settled !== null) return { told: settled };
      const forgetCount = this.#pending.forgetCount;
      const draft = new MemoryDraft(table, table.tick(now()));
      const decided = await decide(draft);
      // What was forgotten while a text was embedded is not to come back: it is decided on what is left.
      if (forgetCount !== this.#pending.forgetCount) continue;
      if (!decided.ok) return { told: decided };
      if (this.#isErased(draft.write.put, arrived)) return { told: fail("erased_meanwhile") };
      return { ...decided.value, draft };
    }
  }

  /** What this request was answered before. Unless all that it tells of is still there, it is as good as new. */
  #before<T extends Memory | Remembered[]>(once: Once | undefined): Result<T> | null {
    const { answers, table, now } = this.#parts;
    const kept = answers.before<Reference>(once, now());
    if (kept === null || !kept.ok) return kept;
    const answer = resolveReference(kept.value, (versions) => table.numbered(versions));
    // A reference has the shape of what it was made from, by the same operation.
    return answer === null ? null : ok(this.#told(answer as T));
  }

  /** An answer with how far each of its memories is found. */
  #told<T extends Memory | Remembered[]>(answer: T): T {
    const told = (memory: Memory): Memory => ({
      ...memory,
      indexing: this.#parts.index.stateOf(memory.version),
    });
    // The same shape, with one field more in each memory.
    return (
      Array.isArray(answer) ? answer.map((one) => ({ ...one, memory: told(one.memory) })) : told(answer)
    ) as T;
  }

  /** A memory that only D1 has, as a write may leave it whose answer was lost. */
  async #deleteUnindexed(owner: Owner, id: string): Promise<Result<boolean>> {
    try {
      const there = await this.#parts.records.history(owner.hash, id, { limit: 1 });
      if (there.length === 0) return ok(false);
    } catch (error) {
      logUnconfirmed("a read before forgetting", error);
      return fail(storageFailureOf(error) ?? "storage_unavailable");
    }
    this.#pending.forget(owner, [id]);
    return (await this.#pending.flush()) ? ok(true) : this.#pending.pendingFailure(NOT_DELETED);
  }
}

/** The failure with the paths of its fields under where its memory is in the body. */
const placed = (failure: Failure, prefix: string): Failure => ({
  ...failure,
  ...(failure.details && {
    details: failure.details.map((detail) => ({ ...detail, path: `${prefix}.${detail.path}` })),
  }),
});
