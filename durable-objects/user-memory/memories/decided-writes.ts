import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { holds, type Precondition } from "../../../src/domain/conditions.ts";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { Remembered } from "../../../src/contract/user-memory.ts";
import {
  type AnsweredRow,
  answerOf,
  type SavedAnswer,
  referenceTo,
  resolveReferences,
} from "./answer-reference.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { PendingWrites, PendingWritesDependencies } from "./pending-writes.ts";

type DecidedWritesDependencies = Pick<
  PendingWritesDependencies,
  "table" | "index" | "transactions" | "answers" | "alarms" | "erasureEpoch" | "now"
> & { quota: Pick<QuotaGuard, "memoriesFailure"> };

export type Decided = {
  rows: readonly AnsweredRow[];
  /** Other ids of the memories in the answer. */
  formerIds?: readonly string[];
  /** By version: the text was embedded already. */
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
  const actual = current === null ? "there is none" : `its version is "${current.version}"`;
  return fail("precondition_failed", {
    message: `The memory does not meet the condition: ${actual}.`,
    ...(path !== undefined && { details: [{ path, message: `does not hold: ${actual}` }] }),
  });
};

/** The failure with a prefix before the path of each field. */
export const withPathPrefix = (failure: Failure, prefix: string): Failure => ({
  ...failure,
  ...(failure.details && {
    details: failure.details.map((detail) => ({ ...detail, path: `${prefix}.${detail.path}` })),
  }),
});

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
  write(
    owner: Owner,
    {
      once,
      noted,
    }: { once?: IdempotencyKey | undefined; noted?: ((answer: Remembered[]) => void) | undefined },
    decide: (draft: MemoryDraft) => Promise<Result<Decided> | "again">,
  ): Promise<Result<Remembered[]>> {
    const { current: epoch } = this.#deps.erasureEpoch;
    const arrived = this.#scopeErasures;
    return this.#pending.inTurn(async () => {
      const known = this.#replay(once);
      if (known !== null) return known;
      const decided = await this.#decide({ once, epoch, arrived }, decide);
      if ("result" in decided) return decided.result;
      const { rows, formerIds = [], vectors, draft } = decided;
      // A later memory of the same write may have changed it.
      const last = rows.map((one) => ({
        ...one,
        row: draft.version(one.row.id, one.row.version) ?? one.row,
      }));
      const answer = last.map(answerOf);
      const { put, forget } = draft.write;
      const { transactions, answers, alarms, now } = this.#deps;
      const memoryIds = [...formerIds, ...last.map(({ row }) => row.id)];
      const saved = once && { once, answer: last.map(referenceTo), memoryIds };
      if (put.length === 0 && forget.length === 0) {
        transactions.atomically(() => {
          if (saved !== undefined) answers.saveOf(saved, now());
          noted?.(answer);
        });
        if (saved !== undefined) alarms.scheduleBy(answers.nextDue(now()));
        return ok(this.#withIndexing(answer));
      }
      const intent = transactions.atomically(() => {
        noted?.(answer);
        return this.#pending.note({ owner, put, forget, ...(saved && { answer: saved }) });
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
  async #decide(
    { once, epoch, arrived }: { once: IdempotencyKey | undefined; epoch: number; arrived: number },
    decide: (draft: MemoryDraft) => Promise<Result<Decided> | "again">,
  ): Promise<(Decided & { draft: MemoryDraft }) | { result: Result<Remembered[]> }> {
    const { table, erasureEpoch, now } = this.#deps;
    for (;;) {
      // No write is accepted while an older one is pending: retries would pile up.
      if (!(await this.#pending.flush())) return { result: this.#pending.pendingFailure(NOT_NOTED) };
      // A write from before an erasure must not come after it.
      if (epoch !== erasureEpoch.current) return { result: fail("erased_meanwhile") };
      // The pending write may have been the same request.
      const answered = this.#replay(once);
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
  #replay(once: IdempotencyKey | undefined): Result<Remembered[]> | null {
    const { answers, table, now } = this.#deps;
    const saved = answers.replay<SavedAnswer>(once, now());
    if (saved === null || !saved.ok) return saved;
    const answer = resolveReferences(saved.value, (versions) => table.numbered(versions));
    return answer && ok(this.#withIndexing(answer));
  }

  /** The answer, with `indexing` in each memory. */
  #withIndexing(answer: readonly Remembered[]): Remembered[] {
    const waiting = this.#deps.index.waiting(answer.map(({ memory }) => memory.version));
    return answer.map(({ memory, ...rest }) => {
      const indexing = waiting.has(memory.version) ? "lexical" : "full";
      return { memory: { ...memory, indexing }, ...rest };
    });
  }

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
