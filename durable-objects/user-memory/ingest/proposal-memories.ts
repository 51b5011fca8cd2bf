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
import { type Proposed, proposedMemories } from "./proposed-memories.ts";
import type { Step } from "./step.ts";

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
type Origin = {
  ingest: StoredIngest;
  thread: StoredThread;
  isWanted: () => boolean;
  done: (results: readonly IngestResult[], former: ReadonlySet<string>) => void;
};

/** A memory, and the proposal that it comes of. */
type Candidate = { proposed: Proposed; memory: Prepared };

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
  async store(owner: Owner, step: Step, origin: Origin): Promise<Result<null>> {
    const isThere = (seq: number) => this.#deps.lineage.position(origin.thread, seq) !== null;
    const all = await proposedMemories(step, { ...origin, isThere });
    const candidates = await this.#candidates(owner, all);
    if (!candidates.ok) return candidates;
    const unknown: Candidate[] = [];
    for (const one of candidates.value) if (!(await this.#isKnown(owner, one))) unknown.push(one);
    const former = new Set<string>();
    const remember = (some: readonly Candidate[], noted: () => void = () => {}) =>
      this.#deps.remember(owner, {
        memories: some.map(({ memory }) => memory),
        isWanted: origin.isWanted,
        noted: (remembered) => {
          for (const [i, one] of remembered.entries()) {
            const { waited, result = {} } = some[i]?.proposed ?? {};
            if (waited !== undefined) former.add(waited);
            Object.assign(result, outcomeOf(one));
          }
          noted();
        },
      });
    const done = () => {
      // A fact that was rejected or released meanwhile has a result already.
      const fresh = all.filter(
        ({ result }) => step.waiting === undefined || result.reasons?.[0] !== "not_found",
      );
      origin.done(
        fresh.map(({ result }) => result),
        former,
      );
    };
    const together = unknown.length === 0 ? null : await remember(unknown, done);
    if (together?.ok === true) return ok(null);
    if (together !== null && PASSING.has(together.code)) return together;
    // One that is refused must not take the others with it.
    for (const one of unknown) {
      const stored = await remember([one]);
      if (stored.ok) continue;
      if (PASSING.has(stored.code)) return stored;
      Object.assign(one.proposed.result, { outcome: "failed", reasons: [stored.code] });
    }
    done();
    return ok(null);
  }

  /** True if a live memory says it. Sets the result then. */
  async #isKnown(owner: Owner, { proposed, memory }: Candidate): Promise<boolean> {
    if (memory.status !== "quarantined" || memory.waited !== undefined) return false;
    const memoryId = await this.#deps.knownAs(owner, memory);
    if (memoryId === null) return false;
    const { kind, sources } = proposed.result;
    // A live memory has no reasons against it.
    proposed.result = { kind, outcome: "known", memoryId, sources };
    return true;
  }

  /** The memories of the proposals that are any. */
  async #candidates(owner: Owner, all: readonly Proposed[]): Promise<Result<Candidate[]>> {
    const { embedder, predicates } = this.#deps;
    const valid = all.flatMap((proposed) => {
      const { body, by } = proposed;
      return body === null ? [] : [{ proposed, body, by }];
    });
    const rules = await d1Result(() => predicates.rules());
    if (!rules.ok) return rules;
    const prepared = await prepareMemories({ embedder, rules: rules.value }, owner, valid);
    return ok(
      valid.flatMap(({ proposed }, i) => {
        const one = prepared[i];
        if (one === undefined) return [];
        const { waited } = proposed;
        // A model's reading changes no text that somebody will follow.
        const replaces = one.body.kind === "procedure" && { replaces: false };
        return [{ proposed, memory: { ...one, ...replaces, ...(waited !== undefined && { waited }) } }];
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
