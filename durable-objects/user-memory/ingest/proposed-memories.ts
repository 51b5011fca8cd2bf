import { checksAgainst } from "../../../src/domain/ingest/checks/check-proposal.ts";
import type {
  EpisodeProposal,
  FactProposal,
  ProcedureProposal,
  Proposal,
  SourceMessage,
} from "../../../src/domain/ingest/proposal.ts";
import type { Writer } from "../../../src/domain/memory/record.ts";
import { leastOf, trustOfRole } from "../../../src/domain/memory/trust.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { RememberBody } from "../../../src/domain/schema/memory.ts";
import type { MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { StoredIngest } from "./ingest-store.ts";
import type { Step } from "./step.ts";

/**
 * A proposal as the body of a memory; null if it is none. `result`: it failed, until it is stored. `waited`: the memory in quarantine that
 * it takes the place of.
 */
export type Proposed = { body: RememberBody | null; by: Writer; result: IngestResult; waited?: string };

type Origin = { ingest: StoredIngest; thread: StoredThread; isThere: (seq: number) => boolean };

/** Checks one proposal after another: other calls run between two. */
export async function proposedMemories(step: Step, origin: Origin): Promise<Proposed[]> {
  const proposed: Proposed[] = [];
  for (const one of new StepProposals(step, origin).all()) {
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
  readonly #check: ReturnType<typeof checksAgainst>;
  readonly #messages: ReadonlyMap<number, SourceMessage>;

  constructor(step: Step, origin: Origin) {
    this.#step = step;
    this.#origin = origin;
    this.#check = checksAgainst(step.window);
    this.#messages = new Map(step.window.map((message) => [message.seq, message]));
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

  get #isByRules(): boolean {
    return this.#step.extractor.by === "rules";
  }

  #fact(fact: FactProposal, place: number): Proposed | null {
    const { judged, waiting } = this.#step;
    const { sources, validFrom = this.#latestOf(sources), isDoubtful, ...triple } = fact;
    const { verdict, against } = judged?.[place] ?? { verdict: this.#check("fact", fact), against: [] };
    const { reasons, sentence, stated } = verdict;
    // A misreading by a pattern is no matter for review.
    if (this.#isByRules && (reasons.length > 0 || (isDoubtful && sentence === null))) return null;
    const fields = {
      ...(isDoubtful ? {} : triple),
      // A text of the caller's own model may say something else in the same words.
      ...(sentence !== null && { text: sentence }),
      ...(validFrom !== undefined && { validFrom }),
      // The sentence is no later statement than its message.
      ...(this.#isByRules && { createdAt: this.#latestOf(sources) }),
      // A fact may cite what others say as well.
      source: stated === null ? this.#firstOf(sources) : this.#sourceOf(stated.message.seq),
    };
    const proposed = this.#propose("fact", fact, fields, [...reasons, ...against]);
    const waited = waiting?.[place];
    return { ...proposed, ...(waited !== undefined && { waited }) };
  }

  #episode(episode: EpisodeProposal): Proposed {
    const at = Math.min(...episode.sources.map((seq) => this.#messages.get(seq)?.at ?? Infinity));
    const fields = { text: episode.text, dedupe: "merge", ...(Number.isFinite(at) && { createdAt: at }) };
    return this.#propose("episode", episode, fields);
  }

  #procedure(procedure: ProcedureProposal): Proposed {
    const { title, text } = procedure;
    return this.#propose("procedure", procedure, { title, text });
  }

  #propose(
    kind: MemoryKind,
    proposal: Proposal,
    fields: Record<string, unknown>,
    reasons: readonly string[] = this.#check(kind, proposal).reasons,
  ): Proposed {
    const { ingest, isThere } = this.#origin;
    const { scope } = ingest.state;
    const sources = [...proposal.sources];
    const { data } = RememberBody.safeParse({
      kind,
      source: this.#firstOf(sources),
      ...fields,
      ...(scope !== null && { scope }),
    });
    const body = sources.every(isThere) ? data : null;
    const all = body === null ? ["source_deleted"] : body === undefined ? ["invalid"] : [...reasons];
    return {
      body: body ? { ...body, status: all.length === 0 ? "active" : "quarantined" } : null,
      by: this.#writerOf(kind, sources, all),
      result: { kind, outcome: "failed", ...(all.length > 0 && { reasons: all }), sources },
    };
  }

  #writerOf(kind: MemoryKind, sources: readonly number[], reasons: readonly string[]): Writer {
    const { by: caller } = this.#origin.ingest.state;
    const { extractor } = this.#step;
    const roles = sources.map((seq) => trustOfRole(this.#messages.get(seq)?.role ?? "tool"));
    // An episode by rules repeats what was said.
    const model = this.#isByRules && kind === "episode" ? [] : (["model"] as const);
    const { name, prompt } = extractor.by === "model" ? extractor : {};
    return {
      trust: leastOf(caller.trust, ...roles, ...model),
      writtenBy: { ...caller.writtenBy, ...(prompt !== undefined && { model: name, prompt }) },
      sources: sources.toSorted((a, b) => a - b).map((seq) => this.#sourceOf(seq)),
      ...(reasons.length > 0 && { reasons: [...reasons] }),
    };
  }

  /** The name of a message's sender, unless that is the owner. */
  #guestOf(seq: number): string | undefined {
    const message = this.#messages.get(seq);
    return message?.isOwner === false ? (message.speaker ?? undefined) : undefined;
  }

  #sourceOf(seq: number) {
    const speaker = this.#guestOf(seq);
    return {
      thread: this.#origin.thread.id,
      message: seq,
      ...(speaker !== undefined && { speaker }),
      extractor: this.#step.extractor.name,
    };
  }

  /** The first message, with its speaker if each of the others has the same. */
  #firstOf(sources: readonly number[]) {
    const { speaker, ...first } = this.#sourceOf(Math.min(...sources));
    const isOnly = sources.every((seq) => this.#guestOf(seq) === speaker);
    return { ...first, ...(isOnly && speaker !== undefined && { speaker }) };
  }

  /** The time of the latest of these messages. */
  #latestOf(sources: readonly number[]): number | undefined {
    const times = sources.flatMap((seq) => this.#messages.get(seq)?.at ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}
