import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { holds, type Precondition } from "../../../src/domain/conditions.ts";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { Memory } from "../../../src/domain/schema/memory.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { Remembered } from "../../../src/contract/user-memory.ts";
import { resolveReference, type Reference, referenceTo } from "./answer-reference.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { PendingWrites, PendingWritesDependencies } from "./pending-writes.ts";

type DecidedWritesDependencies = Pick<
  PendingWritesDependencies,
  "table" | "index" | "transactions" | "answers" | "alarms" | "erasureEpoch" | "now"
> & { quota: Pick<QuotaGuard, "memoriesFailure"> };

/** A decided write: its answer, the memories in the answer, and vectors by version. */
export type Decided<T> = {
  answer: T;
  memoryIds: readonly string[];
  /** Versions that each memory of the answer ended. */
  superseded?: readonly (readonly number[])[];
  /** Versions whose text was embedded already. */
  vectors: ReadonlyMap<number, TextEmbedding>;
};

const UNCERTAIN = "The database did not confirm the write. Try again: the same write is never done twice.";
export const NOT_NOTED = "The database does not answer, and nothing was stored. Try again.";

export const NOT_DELETED =
  "Recall no longer finds the memories. The database has not confirmed their deletion yet, and Cairn tries again.";

/** Null if the condition holds. `path`: its place in the body, unless it is a header. */
export const conditionFailure = (
  condition: Precondition,
  current: MemoryRow | null,
  path?: string,
): Failure | null => {
  if (holds(condition, current === null ? null : String(current.version))) return null;
  const found = current === null ? "there is none" : `its version is "${current.version}"`;
  return fail("precondition_failed", {
    message: `The memory does not meet the condition: ${found}.`,
    ...(path !== undefined && { details: [{ path, message: `does not hold: ${found}` }] }),
  });
};

/** The failure with a prefix before the path of each field. */
export const withPathPrefix = (failure: Failure, prefix: string): Failure => ({
  ...failure,
  ...(failure.details && {
    details: failure.details.map((detail) => ({ ...detail, path: `${prefix}.${detail.path}` })),
  }),
});

/** The facts that a write ended, as its answer names them. */
export const namedIn = (ended: readonly MemoryRow[]): Pick<Remembered, "superseded"> =>
  ended.length === 0 ? {} : { superseded: ended.map(({ id, text }) => ({ id, text })) };

/** Decides writes on the stored rows, one after another, and applies each. Rejects a write that arrived before an erasure. */
export class DecidedWrites implements Erasable {
  readonly #deps: DecidedWritesDependencies;
  readonly #pending: PendingWrites;
  /** Scopes erased since the object started, each with the number of its erasure. */
  readonly #erasedScopes = new Map<string, number>();
  #scopeErasures = 0;

  constructor(deps: DecidedWritesDependencies, pending: PendingWrites) {
    this.#deps = deps;
    this.#pending = pending;
  }

  /** Decides a write in its turn, and applies it. `decide` answers "again" to get a new draft. */
  write<T extends Memory | Remembered[]>(
    owner: Owner,
    { once, noted }: { once: IdempotencyKey | undefined; noted?: ((answer: T) => void) | undefined },
    decide: (draft: MemoryDraft) => Promise<Result<Decided<T>> | "again">,
  ): Promise<Result<T>> {
    const { current: epoch } = this.#deps.erasureEpoch;
    const arrived = this.#scopeErasures;
    return this.#pending.inTurn(async () => {
      const known = this.#replay<T>(once);
      if (known !== null) return known;
      const decided = await this.#decide({ once, epoch, arrived }, decide);
      if ("result" in decided) return decided.result;
      const { answer, memoryIds, superseded, vectors, draft } = decided;
      const { put, forget } = draft.write;
      const { transactions, answers, alarms, now } = this.#deps;
      const kept = once && {
        once,
        answer: referenceTo(answer, draft, superseded),
        memoryIds: [...memoryIds],
      };
      if (put.length === 0 && forget.length === 0) {
        transactions.atomically(() => {
          if (kept !== undefined) answers.saveOf(kept, now());
          noted?.(answer);
        });
        if (kept !== undefined) alarms.scheduleBy(answers.nextDue(now()));
        return ok(this.#withIndexing(answer));
      }
      const intent = transactions.atomically(() => {
        noted?.(answer);
        return this.#pending.note({ owner, put, forget, ...(kept && { answer: kept }) });
      });
      const outcome = await this.#pending.apply(intent, { vectors, first: true });
      const isCertain = outcome === "done" || (outcome === "pending" && noted !== undefined);
      return isCertain ? ok(this.#withIndexing(answer)) : this.failureOf(outcome);
    });
  }

  /** The failure of a write that D1 does not have. */
  failureOf(outcome: "refused" | "full" | "stale" | "pending"): Failure {
    if (outcome === "pending") return this.#pending.pendingFailure(UNCERTAIN);
    if (outcome === "stale") return this.#pending.pendingFailure(NOT_NOTED);
    return fail(outcome === "full" ? "storage_full" : "internal");
  }

  /** Decides a write when no older one is pending; or returns the result that needs none. */
  async #decide<T extends Memory | Remembered[]>(
    { once, epoch, arrived }: { once: IdempotencyKey | undefined; epoch: number; arrived: number },
    decide: (draft: MemoryDraft) => Promise<Result<Decided<T>> | "again">,
  ): Promise<(Decided<T> & { draft: MemoryDraft }) | { result: Result<T> }> {
    const { table, erasureEpoch, now } = this.#deps;
    for (;;) {
      // No write is accepted while an older one is pending: retries would pile up.
      if (!(await this.#pending.flush())) return { result: this.#pending.pendingFailure(NOT_NOTED) };
      // A write from before an erasure must not come after it.
      if (epoch !== erasureEpoch.current) return { result: fail("erased_meanwhile") };
      // The pending write may have been the same request.
      const answered = this.#replay<T>(once);
      if (answered !== null) return { result: answered };
      const forgetCount = this.#pending.forgetCount;
      const draft = new MemoryDraft(table, table.clock.next(now()));
      const decided = await decide(draft);
      // A deletion during the embedding must hold, so the write is decided again.
      if (forgetCount !== this.#pending.forgetCount || decided === "again") continue;
      if (!decided.ok) return { result: decided };
      const exceeded = this.#quotaFailure(draft.write);
      if (exceeded !== null) return { result: exceeded };
      if (this.isErased(draft.write.put, arrived)) return { result: fail("erased_meanwhile") };
      return { ...decided.value, draft };
    }
  }

  /** The answer of the first request with this key; null if a memory in it is deleted. */
  #replay<T extends Memory | Remembered[]>(once: IdempotencyKey | undefined): Result<T> | null {
    const { answers, table, now } = this.#deps;
    const kept = answers.replay<Reference>(once, now());
    if (kept === null || !kept.ok) return kept;
    const answer = resolveReference(kept.value, (versions) => table.numbered(versions));
    // The same operation made the reference, so the shapes agree.
    return answer === null ? null : ok(this.#withIndexing(answer as T));
  }

  /** The answer, with `indexing` in each memory. */
  #withIndexing<T extends Memory | Remembered[]>(answer: T): T {
    const memories: readonly Memory[] = Array.isArray(answer) ? answer.map((one) => one.memory) : [answer];
    const waiting = this.#deps.index.waiting(memories.map(({ version }) => version));
    const add = (memory: Memory): Memory => ({
      ...memory,
      indexing: waiting.has(memory.version) ? "lexical" : "full",
    });
    // The same shape, with one field more in each memory.
    return (
      Array.isArray(answer) ? answer.map((one) => ({ ...one, memory: add(one.memory) })) : add(answer)
    ) as T;
  }

  /** The number of the last erasure of a scope. */
  get scopeErasures(): number {
    return this.#scopeErasures;
  }

  /** All memories and intents are gone, and writes that are being decided start again; of a scope, waiting writes are rejected. */
  erase(data: ErasedData): void {
    if (data.what === "scope") {
      this.#erasedScopes.set(data.scope, ++this.#scopeErasures);
      return;
    }
    this.#pending.forgetCount++;
    this.#pending.log.clearEverything();
    this.#deps.table.clock.forgetOwner();
  }

  /** The failure of the quota that a write exceeds, or null. */
  #quotaFailure({ put, forget }: MemoryDraft["write"]): Failure | null {
    const { quota, table } = this.#deps;
    // Every correction adds a version.
    const last = table.clock.lastVersion();
    if (!put.some(({ version }) => version > last)) return null;
    return quota.memoriesFailure(() => {
      const added = [...new Set(put.map(({ id }) => id))].filter((id) => !table.has(id));
      return added.length - forget.filter((id) => table.has(id)).length;
    });
  }

  /** True if a row is in a scope that was erased after erasure number `since`. */
  isErased(put: readonly MemoryRow[], since: number): boolean {
    return put.some(({ scope }) => scope !== null && (this.#erasedScopes.get(scope) ?? 0) > since);
  }
}
