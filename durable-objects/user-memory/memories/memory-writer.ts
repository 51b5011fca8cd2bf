import type { Embedder, TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { embedOne } from "../../../src/platform/embeddings/embed.ts";
import { identityOf, textOf } from "../../../src/domain/memory/identity.ts";
import { bodyOf, type NewMemory, type Owner } from "../../../src/domain/memory/record.ts";
import { patchedText, patchIn, restoreIn } from "../../../src/domain/memory/corrections.ts";
import { states, targetOf } from "../../../src/domain/memory/stored-match.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import type { ImportedVersion } from "../../../src/domain/transfer/memory-lines.ts";
import type { PatchMemoryBody, RememberBody } from "../../../src/domain/schema/memory.ts";
import type { RulesByPredicate } from "../../../src/domain/memory/predicates.ts";
import { leastOf } from "../../../src/domain/memory/trust.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { PredicateRules } from "../../../src/platform/d1/predicate-rules.ts";
import { rulingOf } from "../../../src/platform/prepare-memories.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import { importIn } from "./memory-import.ts";
import { conditionFailure, type DecidedWrites, NOT_NOTED, withPathPrefix } from "./decided-writes.ts";
import { MemoryDraft } from "./memory-draft.ts";
import { type RememberedRow, rememberOne, type StatedAt, vectorsOf } from "./memory-remember.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { decideRelease, type ReleasedRow } from "./review.ts";
import type { SimilarMemories } from "./similar-memories.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type {
  Imported,
  MemoryChange,
  Prepared,
  Released,
  Remembered,
} from "../../../src/contract/user-memory.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type MemoryWriterDependencies = {
  table: MemoryTable;
  pending: PendingWrites;
  writes: DecidedWrites;
  similar: SimilarMemories;
  embedder: Embedder;
  predicates: Pick<PredicateRules, "rules">;
  quota: Pick<QuotaGuard, "memoriesFailure">;
  erasureEpoch: Pick<ErasureEpoch, "current">;
  now: () => number;
};
/** Messages that the facts of one write cite, and that are read for them: each may be long. */
const CITATIONS = 32;

/** The one writer of a user's memories. It decides each write on the stored rows, one after another. */
export class MemoryWriter {
  readonly #deps: MemoryWriterDependencies;

  constructor(deps: MemoryWriterDependencies) {
    this.#deps = deps;
  }

  /**
   * All of them or none. `isWanted`: none if it is false when the write has its turn. `noted`: called in the transaction that notes
   * the write; it succeeds then also while D1 has not confirmed it.
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
      statedAt?: StatedAt;
      isWanted?: () => boolean;
      noted?: (remembered: readonly Remembered[]) => void;
    },
  ): Promise<Result<Remembered[]>> {
    return this.#deps.writes.write(owner, { once, noted }, async (draft) => {
      if (!isWanted()) return fail("not_found");
      const { similar } = this.#deps;
      const rows: RememberedRow[] = [];
      const candidates = memories.map((one) => this.#restating(one, draft.time));
      let citations = 0;
      const cited: StatedAt = (body) => (citations++ < CITATIONS ? statedAt(body) : null);
      draft.readTexts(candidates.map(({ identity }) => identity.dedupeKey));
      for (const [i, candidate] of candidates.entries()) {
        // The checks of a long message take a while: other calls run between two.
        if (citations > 0) await turn();
        const path = memories.length === 1 ? undefined : `body.memories[${i}]`;
        const one = rememberOne(draft, owner, candidate, { path, statedAt: cited, similar });
        if (!one.ok) return one;
        rows.push(one.value);
      }
      return ok({ rows, vectors: vectorsOf(rows) });
    });
  }

  /**
   * A candidate that restates a stored memory, as that memory: its text, its triple and its trust stay, since the candidate has
   * confirmed no word of them. Its vector is that of the stored text, which a new version copies.
   */
  #restating(candidate: Prepared, now: number): Prepared {
    const { body, identity, status } = candidate;
    if (body.dedupe !== "merge" || status !== "active" || identity.id !== null) return candidate;
    const stored = this.#deps.similar.restated(candidate, now);
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

  /** The id of the live memory that states the same as a candidate; null without one. */
  async knownAs({ hash }: Owner, input: NewMemory): Promise<string | null> {
    const { table, now } = this.#deps;
    const { body } = input;
    const identity = await identityOf(hash, { ...body, text: textOf(body) }, false);
    const candidate = { ...input, identity, status: "active" as const };
    const row = targetOf(new MemoryDraft(table, table.clock.next(now())), candidate);
    return row !== null && states(row, candidate) ? row.id : null;
  }

  patch(
    owner: Owner,
    id: string,
    { body, ...change }: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Released>> {
    return this.#change(owner, id, change, async (draft, current, rules) => {
      const ruling = rulingOf(bodyOf(current), rules);
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
    return this.#change(owner, id, change, async (draft, current, rules) => {
      const past = draft.version(current.id, version);
      if (past === null)
        return fail("not_found", {
          details: [{ path: "body.version", message: "is no version of this memory" }],
        });
      const ruling = rulingOf(bodyOf(current), rules);
      return restoreIn(draft, current, { past, by: change.by, ruling });
    });
  }

  /**
   * Makes a quarantined memory active, with the trust of the caller, who is a person or a backend. It gets the id of its name, or
   * of the memory that it merges with, if any.
   */
  release(owner: Owner, id: string, change: MemoryChange): Promise<Result<Released>> {
    return this.#change(owner, id, change, (draft, current, rules) =>
      decideRelease(draft, owner, { current, by: change.by, rules }),
    );
  }

  /** The tenant's rules; none for a memory without a predicate. */
  async #rulesFor({ subject, predicate }: RememberBody): Promise<Result<RulesByPredicate>> {
    const isTriple = subject !== undefined && predicate !== undefined;
    return isTriple ? d1Result(() => this.#deps.predicates.rules()) : ok(new Map());
  }

  /** Puts memories with their history; see `importIn`. The alarm embeds them. */
  import(
    owner: Owner,
    { epoch, memories }: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<Imported>> {
    const { table, pending, writes, quota, erasureEpoch, now } = this.#deps;
    const arrived = writes.scopeErasures;
    return pending.inTurn(async () => {
      if (!(await pending.flush())) return pending.pendingFailure(NOT_NOTED);
      if (epoch !== erasureEpoch.current) return fail("erased_meanwhile");
      const time = table.clock.next(now());
      const { put, ...counted } = importIn(table, owner, { memories, now: time, quota });
      if (put.length === 0) return ok(counted);
      if (writes.isErased(put, arrived)) return fail("erased_meanwhile");
      const outcome = await pending.put(owner, put);
      return outcome === "done" ? ok(counted) : writes.failureOf(outcome);
    });
  }

  async #change(
    owner: Owner,
    id: string,
    { condition, once }: MemoryChange,
    decide: (draft: MemoryDraft, current: MemoryRow, rules: RulesByPredicate) => Promise<Result<ReleasedRow>>,
  ): Promise<Result<Released>> {
    const written = await this.#deps.writes.write(owner, { once }, async (draft) => {
      const current = currentOf(draft, this.#deps.table.idOf(id) ?? id);
      if (current === null) return fail("not_found");
      const unmet = conditionFailure(condition, current);
      if (unmet !== null) return unmet;
      const rules = await this.#rulesFor(bodyOf(current));
      if (!rules.ok) return rules;
      const decided = await decide(draft, current, rules.value);
      if (!decided.ok) return decided;
      const { row, ended = [] } = decided.value;
      const text = embeddedText(row);
      const vectors = new Map<number, TextEmbedding>();
      // A quarantined memory has no vector yet.
      if (text !== embeddedText(current) || current.status !== row.status)
        vectors.set(row.version, await embedOne(this.#deps.embedder, text));
      return ok({ rows: [{ row, ended, rest: { created: false } }], formerIds: [current.id], vectors });
    });
    if (!written.ok) return written;
    const [changed] = written.value;
    if (changed === undefined) throw new Error("a change has one memory");
    return ok({ ...changed.memory, ...(changed.superseded && { superseded: changed.superseded }) });
  }
}
