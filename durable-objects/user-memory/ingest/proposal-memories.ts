import { ok, type Result } from "../../../src/domain/errors.ts";
import type { NewMemory, Owner } from "../../../src/domain/memory/record.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { PredicateRules } from "../../../src/platform/d1/predicate-rules.ts";
import type { Embedder } from "../../../src/platform/embeddings/embedder.ts";
import { prepareMemories } from "../../../src/platform/prepare-memories.ts";
import type { Prepared, Remembered } from "../../../src/contract/user-memory.ts";
import type { Lineage } from "../threads/lineage.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { StoredIngest } from "./ingest-store.ts";
import type { Step } from "./next-step.ts";
import { type Proposed, proposedMemories } from "./proposed-memories.ts";

type ProposalMemoriesDependencies = {
  embedder: Embedder;
  predicates: Pick<PredicateRules, "rules">;
  lineage: Pick<Lineage, "position">;
  remember: (
    owner: Owner,
    request: {
      memories: readonly Prepared[];
      isWanted: () => boolean;
      noted: (remembered: readonly Remembered[]) => void;
    },
  ) => Promise<Result<Remembered[]>>;
  /** The live memory that a candidate adds nothing to; null without one. */
  knownAs: (owner: Owner, candidate: NewMemory) => Promise<string | null>;
};
/**
 * The origin of proposals. `isWanted`: asked before the write. `done`: called with one result for each proposal, in the
 * transaction that notes the write of their memories. `former`: ids in quarantine of memories that these results take the place of.
 */
export type Given = {
  ingest: StoredIngest;
  thread: StoredThread;
  isWanted: () => boolean;
  done: (results: readonly IngestResult[], former: ReadonlySet<string>) => void;
};

/** A memory with the place of its proposal. */
type PreparedProposal = { candidate: Prepared; index: number };

/** Failures that another attempt may get past. */
const PASSING: ReadonlySet<string> = new Set([
  "storage_unavailable",
  "daily_limit",
  "migrations_not_applied",
]);

/** Checks proposals, and stores them as memories: those that pass every check are live, the others are quarantined. */
export class ProposalMemories {
  readonly #deps: ProposalMemoriesDependencies;

  constructor(deps: ProposalMemoriesDependencies) {
    this.#deps = deps;
  }

  /** Fails if D1 is away, and calls `done` in all other cases: other failures are results. */
  async store(owner: Owner, step: Step, given: Given): Promise<Result<null>> {
    const proposed = await proposedMemories(step, given, this.#deps.lineage);
    const results: IngestResult[] = proposed.map(({ kind, sources, reasons }) => ({
      kind,
      outcome: "failed",
      ...(reasons.length > 0 && { reasons }),
      sources: [...sources],
    }));
    const prepared = await this.#prepare(owner, proposed, step.waiting);
    if (!prepared.ok) return prepared;
    const former = new Set<string>();
    const unknown = await this.#unknown(owner, prepared.value, results);
    const remember = (some: typeof unknown, noted: () => void = () => {}) =>
      this.#deps.remember(owner, {
        memories: some.map(({ candidate }) => candidate),
        isWanted: given.isWanted,
        noted: (remembered) => {
          for (const [i, one] of remembered.entries()) {
            const { index = -1, candidate } = some[i] ?? {};
            if (candidate?.waited !== undefined) former.add(candidate.waited);
            Object.assign(results[index] ?? {}, outcomeOf(one));
          }
          noted();
        },
      });
    const done = () => {
      // A fact that was rejected or released meanwhile has a result already.
      const those = results.filter(
        ({ reasons }) => step.waiting === undefined || reasons?.[0] !== "not_found",
      );
      given.done(those, former);
    };
    const all = unknown.length === 0 ? null : await remember(unknown, done);
    if (all?.ok === true) return ok(null);
    if (all !== null && PASSING.has(all.code)) return all;
    // One that is refused must not take the others with it.
    for (const one of unknown) {
      const stored = await remember([one]);
      if (stored.ok) continue;
      if (PASSING.has(stored.code)) return stored;
      Object.assign(results[one.index] ?? {}, { outcome: "failed", reasons: [stored.code] });
    }
    done();
    return ok(null);
  }

  /** The memories among these that add something to the live ones. Sets the results of the others. */
  async #unknown(owner: Owner, prepared: readonly PreparedProposal[], results: IngestResult[]) {
    const unknown: PreparedProposal[] = [];
    for (const one of prepared) {
      const { index, candidate } = one;
      const mayBeKnown = candidate.status === "quarantined" && candidate.waited === undefined;
      const known = mayBeKnown ? await this.#deps.knownAs(owner, candidate) : null;
      const result = results[index];
      if (known === null || result === undefined) unknown.push(one);
      // A live memory has no reasons against it.
      else results[index] = { kind: result.kind, outcome: "known", memoryId: known, sources: result.sources };
    }
    return unknown;
  }

  /** The memories of the proposals that are any, each with the place of its proposal. `waiting`: by that, whose place they take. */
  async #prepare(owner: Owner, proposed: readonly Proposed[], waiting: readonly string[] = []) {
    const { embedder, predicates } = this.#deps;
    const valid = proposed.flatMap(({ body, by }, index) => (body === null ? [] : [{ index, body, by }]));
    const rules = await d1Result(() => predicates.rules());
    if (!rules.ok) return rules;
    const candidates = await prepareMemories({ embedder, rules: rules.value }, owner, valid);
    return ok(
      candidates.map((candidate, i) => {
        const index = valid[i]?.index ?? 0;
        const waited = waiting[index];
        return {
          // A model's reading changes no text that somebody will follow.
          candidate: {
            ...candidate,
            ...(candidate.body.kind === "procedure" && { replaces: false }),
            ...(waited !== undefined && { waited }),
          },
          index,
        };
      }),
    );
  }
}

/** The fields of a result by the memory that its proposal has become. */
function outcomeOf({ memory, created, replaced, superseded }: Remembered): Partial<IngestResult> {
  const live = created ? "created" : replaced === true ? "updated" : "known";
  const isWaiting = memory.status === "quarantined";
  return {
    outcome: isWaiting ? "quarantined" : live,
    memoryId: memory.id,
    ...(isWaiting && memory.reasons && { reasons: memory.reasons }),
    ...(superseded && { superseded: superseded.map(({ id }) => id) }),
  };
}
