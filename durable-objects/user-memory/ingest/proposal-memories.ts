import { checksAgainst, type Proposal } from "../../../src/domain/ingest/checks/check-proposal.ts";
import { ok, type Result } from "../../../src/domain/errors.ts";
import type { Candidate, Owner, Writer } from "../../../src/domain/memory/record.ts";
import { leastOf, trustOfRole } from "../../../src/domain/memory/trust.ts";
import type { WrittenBy } from "../../../src/domain/schema/provenance.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { RememberBody } from "../../../src/domain/schema/memory.ts";
import type { MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { PredicateRules } from "../../../src/platform/d1/predicate-rules.ts";
import type { Embedder } from "../../../src/platform/embeddings/embedder.ts";
import { prepareMemories } from "../../../src/platform/prepare-memories.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { Prepared, Remembered } from "../../../src/contract/user-memory.ts";
import type { Lineage } from "../threads/lineage.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { StoredIngest } from "./ingest-store.ts";
import type { Extractor, Step } from "./next-step.ts";

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
  knownAs: (owner: Owner, candidate: Candidate) => Promise<string | null>;
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

/** A proposal as the body of a memory, or why it is none. */
type Proposed = {
  kind: MemoryKind;
  sources: readonly number[];
  body: RememberBody | null;
  reasons: string[];
  by: Writer;
};

/** Failures that another attempt may get past. */
const PASSING: ReadonlySet<string> = new Set(["storage_unavailable", "migrations_not_applied"]);

/** Checks proposals, and stores them as memories: those that pass every check are live, the others are quarantined. */
export class ProposalMemories {
  readonly #deps: ProposalMemoriesDependencies;

  constructor(deps: ProposalMemoriesDependencies) {
    this.#deps = deps;
  }

  /** Fails if D1 is away, and calls `done` in all other cases: other failures are results. */
  async store(owner: Owner, step: Step, given: Given): Promise<Result<null>> {
    const proposed = await this.#proposed(step, given);
    const results: IngestResult[] = proposed.map(({ kind, sources, reasons }) => ({
      kind,
      outcome: "failed",
      ...(reasons.length > 0 && { reasons }),
      sources: [...sources],
    }));
    const prepared = await this.#prepare(owner, proposed, step.waiting);
    if (!prepared.ok) return prepared;
    const former = new Set<string>();
    const settle = (
      { index, candidate }: (typeof prepared.value)[number],
      { memory, created, replaced, superseded }: Remembered,
    ) => {
      const live = created ? "created" : replaced === true ? "updated" : "known";
      const outcome = memory.status === "quarantined" ? "quarantined" : live;
      if (candidate.waited !== undefined) former.add(candidate.waited);
      const reasons = memory.status === "quarantined" ? memory.reasons : undefined;
      Object.assign(results[index] ?? {}, {
        outcome,
        memoryId: memory.id,
        ...(reasons && { reasons }),
        ...(superseded && { superseded: superseded.map(({ id }) => id) }),
      });
    };
    const unknown: typeof prepared.value = [];
    for (const one of prepared.value) {
      const { index, candidate } = one;
      const known =
        candidate.status === "quarantined" && candidate.waited === undefined
          ? await this.#deps.knownAs(owner, candidate)
          : null;
      const result = results[index];
      if (known === null || result === undefined) unknown.push(one);
      // A live memory has no reasons against it.
      else results[index] = { kind: result.kind, outcome: "known", memoryId: known, sources: result.sources };
    }
    const remember = (some: typeof unknown, noted: () => void = () => {}) =>
      this.#deps.remember(owner, {
        memories: some.map(({ candidate }) => candidate),
        isWanted: given.isWanted,
        noted: (remembered) => {
          for (const [i, one] of remembered.entries()) {
            const of = some[i];
            if (of !== undefined) settle(of, one);
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

  /** Checks one proposal after another: other calls run between two. */
  async #proposed(
    { proposals, extractor, window, judged }: Step,
    { ingest, thread }: Given,
  ): Promise<Proposed[]> {
    const { facts, episodes, procedures } = proposals;
    const check = checksAgainst(window);
    const others = new Map(
      window.flatMap(({ seq, speaker, isOwner }) => (isOwner || speaker === null ? [] : [[seq, speaker]])),
    );
    const times = new Map(window.map(({ seq, at }) => [seq, at]));
    const roles = new Map(window.map(({ seq, role }) => [seq, role]));
    const { scope, by: caller } = ingest.state;
    const sourceOf = (seq: number) => {
      const speaker = others.get(seq);
      return {
        thread: thread.id,
        message: seq,
        ...(speaker !== undefined && { speaker }),
        extractor: nameOf(extractor),
      };
    };
    /** The first message, with its speaker if each of the others has the same. */
    const firstOf = (sources: readonly number[]) => {
      const { speaker, ...first } = sourceOf(Math.min(...sources));
      const isOnly = sources.every((seq) => others.get(seq) === speaker);
      return { ...first, ...(isOnly && speaker !== undefined && { speaker }) };
    };
    const saidAt = (sources: readonly number[]): number | undefined =>
      sources.reduce<number | undefined>((last, seq) => {
        const at = times.get(seq);
        return at === undefined || (last !== undefined && last > at) ? last : at;
      }, undefined);
    const propose = (
      kind: MemoryKind,
      proposal: Proposal,
      {
        fields,
        checked,
        statedBy,
      }: { fields: Record<string, unknown>; checked: readonly string[]; statedBy?: number | undefined },
    ): Proposed => {
      const { sources } = proposal;
      const isThere = sources.every((seq) => this.#deps.lineage.position(thread, seq) !== null);
      const { success, data } = RememberBody.safeParse({
        kind,
        ...fields,
        // A fact may cite what others say as well.
        source: statedBy === undefined ? firstOf(sources) : sourceOf(statedBy),
        ...(scope !== null && { scope }),
      });
      const reasons = !isThere ? ["source_deleted"] : !success ? ["invalid"] : [...checked];
      const body = isThere && success ? { ...data, status: statusOf(reasons) } : null;
      const said = sources.map((seq) => trustOfRole(roles.get(seq) ?? "tool"));
      return {
        kind,
        sources,
        body,
        reasons,
        by: {
          // An episode by rules repeats what was said.
          trust: leastOf(
            caller.trust,
            ...said,
            ...(isByRules(extractor) && kind === "episode" ? [] : ["model" as const]),
          ),
          writtenBy: { ...caller.writtenBy, ...extractedBy(extractor) },
          sources: sources.toSorted((a, b) => a - b).map(sourceOf),
          ...(reasons.length > 0 && { reasons }),
        },
      };
    };
    const all: (() => Proposed | null)[] = [
      ...facts.map((fact, place) => () => {
        const { sources, validFrom = saidAt(sources), isDoubtful, ...given } = fact;
        const { verdict, against } = judged?.[place] ?? { verdict: check("fact", fact), against: [] };
        const { reasons: checked, sentence } = verdict;
        // What a pattern misreads is no matter for review.
        if (isByRules(extractor) && (checked.length > 0 || (isDoubtful && sentence === null))) return null;
        const fields = {
          ...(isDoubtful ? {} : given),
          // A text of the caller's own model may say something else in the same words.
          ...(sentence !== null && { text: sentence }),
          ...(validFrom !== undefined && { validFrom }),
          // The sentence is no later statement than its message.
          ...(isByRules(extractor) && { createdAt: saidAt(sources) }),
        };
        return propose("fact", fact, {
          fields,
          checked: [...checked, ...against],
          statedBy: verdict.stated?.message.seq,
        });
      }),
      ...episodes.map((episode) => () => {
        const at = Math.min(...episode.sources.map((seq) => times.get(seq) ?? Infinity));
        const fields = {
          text: episode.text,
          dedupe: "merge",
          ...(Number.isFinite(at) && { createdAt: at }),
        };
        return propose("episode", episode, { fields, checked: check("episode", episode).reasons });
      }),
      ...procedures.map((procedure) => () => {
        const { sources: _sources, ...fields } = procedure;
        return propose("procedure", procedure, { fields, checked: check("procedure", procedure).reasons });
      }),
    ];
    const proposed: Proposed[] = [];
    for (const one of all) {
      if (proposed.length > 0) await turn();
      const made = one();
      if (made !== null) proposed.push(made);
    }
    return proposed;
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

const statusOf = (reasons: readonly string[]) =>
  reasons.length === 0 ? ("active" as const) : ("quarantined" as const);

const isByRules = (extractor: Extractor): boolean => extractor !== "caller" && "rules" in extractor;

const extractedBy = (extractor: Extractor): WrittenBy =>
  extractor === "caller" || "rules" in extractor ? {} : { model: extractor.model, prompt: extractor.prompt };

const nameOf = (extractor: Extractor): string =>
  extractor === "caller" ? "caller" : "rules" in extractor ? extractor.rules : extractor.model;
