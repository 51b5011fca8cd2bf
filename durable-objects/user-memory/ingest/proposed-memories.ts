import { checksAgainst, type Proposal } from "../../../src/domain/ingest/checks/check-proposal.ts";
import type {
  EpisodeProposal,
  FactProposal,
  ProcedureProposal,
} from "../../../src/domain/ingest/proposal.ts";
import type { Writer } from "../../../src/domain/memory/record.ts";
import { leastOf, trustOfRole } from "../../../src/domain/memory/trust.ts";
import { RememberBody } from "../../../src/domain/schema/memory.ts";
import type { MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { WrittenBy } from "../../../src/domain/schema/provenance.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { Lineage } from "../threads/lineage.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { StoredIngest } from "./ingest-store.ts";
import type { Extractor, Step } from "./next-step.ts";

/** A proposal as the body of a memory, or why it is none. */
export type Proposed = {
  kind: MemoryKind;
  sources: readonly number[];
  body: RememberBody | null;
  reasons: string[];
  by: Writer;
};

type Origin = { ingest: StoredIngest; thread: StoredThread };

/** Checks one proposal after another: other calls run between two. */
export async function proposedMemories(
  step: Step,
  origin: Origin,
  lineage: Pick<Lineage, "position">,
): Promise<Proposed[]> {
  const proposed: Proposed[] = [];
  for (const one of new StepProposals(step, origin, lineage).all()) {
    if (proposed.length > 0) await turn();
    const made = one();
    if (made !== null) proposed.push(made);
  }
  return proposed;
}

/** The proposals of one step, whose sources are the messages of its window. */
class StepProposals {
  readonly #step: Step;
  readonly #origin: Origin;
  readonly #lineage: Pick<Lineage, "position">;
  readonly #check: ReturnType<typeof checksAgainst>;
  readonly #isByRules: boolean;
  /** The speakers that are not the owner, the times and the roles of the messages. */
  readonly #others: ReadonlyMap<number, string>;
  readonly #times: ReadonlyMap<number, number | undefined>;
  readonly #roles: ReadonlyMap<number, string>;

  constructor(step: Step, origin: Origin, lineage: Pick<Lineage, "position">) {
    const { window, extractor } = step;
    this.#step = step;
    this.#origin = origin;
    this.#lineage = lineage;
    this.#check = checksAgainst(window);
    this.#isByRules = extractor !== "caller" && "rules" in extractor;
    this.#others = new Map(
      window.flatMap(({ seq, speaker, isOwner }) => (isOwner || speaker === null ? [] : [[seq, speaker]])),
    );
    this.#times = new Map(window.map(({ seq, at }) => [seq, at]));
    this.#roles = new Map(window.map(({ seq, role }) => [seq, role]));
  }

  /** Checks one each; null for one that is no memory. */
  all(): (() => Proposed | null)[] {
    const { facts, episodes, procedures } = this.#step.proposals;
    return [
      ...facts.map((fact, place) => () => this.#fact(fact, place)),
      ...episodes.map((episode) => () => this.#episode(episode)),
      ...procedures.map((procedure) => () => this.#procedure(procedure)),
    ];
  }

  #fact(fact: FactProposal, place: number): Proposed | null {
    const { sources, validFrom = this.#saidAt(sources), isDoubtful, ...given } = fact;
    const { verdict, against } = this.#step.judged?.[place] ?? {
      verdict: this.#check("fact", fact),
      against: [],
    };
    const { reasons: checked, sentence } = verdict;
    // A misreading by a pattern is no matter for review.
    if (this.#isByRules && (checked.length > 0 || (isDoubtful && sentence === null))) return null;
    const fields = {
      ...(isDoubtful ? {} : given),
      // A text of the caller's own model may say something else in the same words.
      ...(sentence !== null && { text: sentence }),
      ...(validFrom !== undefined && { validFrom }),
      // The sentence is no later statement than its message.
      ...(this.#isByRules && { createdAt: this.#saidAt(sources) }),
    };
    const statedBy = verdict.stated?.message.seq;
    return this.#propose("fact", fact, { fields, checked: [...checked, ...against], statedBy });
  }

  #episode(episode: EpisodeProposal): Proposed {
    const at = Math.min(...episode.sources.map((seq) => this.#times.get(seq) ?? Infinity));
    const fields = { text: episode.text, dedupe: "merge", ...(Number.isFinite(at) && { createdAt: at }) };
    return this.#propose("episode", episode, { fields, checked: this.#check("episode", episode).reasons });
  }

  #procedure(procedure: ProcedureProposal): Proposed {
    const { sources: _sources, ...fields } = procedure;
    const { reasons } = this.#check("procedure", procedure);
    return this.#propose("procedure", procedure, { fields, checked: reasons });
  }

  #propose(
    kind: MemoryKind,
    { sources }: Proposal,
    {
      fields,
      checked,
      statedBy,
    }: { fields: Record<string, unknown>; checked: readonly string[]; statedBy?: number | undefined },
  ): Proposed {
    const { thread, ingest } = this.#origin;
    const { scope } = ingest.state;
    const isThere = sources.every((seq) => this.#lineage.position(thread, seq) !== null);
    const { success, data } = RememberBody.safeParse({
      kind,
      ...fields,
      // A fact may cite what others say as well.
      source: statedBy === undefined ? this.#firstOf(sources) : this.#sourceOf(statedBy),
      ...(scope !== null && { scope }),
    });
    const reasons = !isThere ? ["source_deleted"] : !success ? ["invalid"] : [...checked];
    const body = isThere && success ? { ...data, status: statusOf(reasons) } : null;
    return { kind, sources, body, reasons, by: this.#writerOf(kind, sources, reasons) };
  }

  #writerOf(kind: MemoryKind, sources: readonly number[], reasons: readonly string[]): Writer {
    const { by: caller } = this.#origin.ingest.state;
    const said = sources.map((seq) => trustOfRole(this.#roles.get(seq) ?? "tool"));
    // An episode by rules repeats what was said.
    const model = this.#isByRules && kind === "episode" ? [] : (["model"] as const);
    return {
      trust: leastOf(caller.trust, ...said, ...model),
      writtenBy: { ...caller.writtenBy, ...extractedBy(this.#step.extractor) },
      sources: sources.toSorted((a, b) => a - b).map((seq) => this.#sourceOf(seq)),
      ...(reasons.length > 0 && { reasons: [...reasons] }),
    };
  }

  #sourceOf(seq: number) {
    const speaker = this.#others.get(seq);
    return {
      thread: this.#origin.thread.id,
      message: seq,
      ...(speaker !== undefined && { speaker }),
      extractor: nameOf(this.#step.extractor),
    };
  }

  /** The first message, with its speaker if each of the others has the same. */
  #firstOf(sources: readonly number[]) {
    const { speaker, ...first } = this.#sourceOf(Math.min(...sources));
    const isOnly = sources.every((seq) => this.#others.get(seq) === speaker);
    return { ...first, ...(isOnly && speaker !== undefined && { speaker }) };
  }

  /** The time of the latest of these messages. */
  #saidAt(sources: readonly number[]): number | undefined {
    const times = sources.flatMap((seq) => this.#times.get(seq) ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}

const statusOf = (reasons: readonly string[]) =>
  reasons.length === 0 ? ("active" as const) : ("quarantined" as const);

const extractedBy = (extractor: Extractor): WrittenBy =>
  extractor === "caller" || "rules" in extractor ? {} : { model: extractor.model, prompt: extractor.prompt };

const nameOf = (extractor: Extractor): string =>
  extractor === "caller" ? "caller" : "rules" in extractor ? extractor.rules : extractor.model;
