import { ownerNames, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { ofOwner } from "../../../src/domain/ingest/checks/check-speaker.ts";
import { ruleFor } from "../../../src/domain/ingest/own-rules.ts";
import { candidatesIn } from "../../../src/domain/ingest/patterns.ts";
import {
  citedBy,
  mapKinds,
  NO_PROPOSALS,
  type SourceMessage,
  type Window,
} from "../../../src/domain/ingest/proposal.ts";
import { mayState } from "../../../src/domain/ingest/may-state.ts";
import type { Range } from "../../../src/domain/ingest/ranges.ts";
import { sessionsOf } from "../../../src/domain/ingest/sessions.ts";
import type { ExtractKind } from "../../../src/domain/schema/ingest.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { ExtractionSettings } from "../../../src/platform/d1/extraction-settings.ts";
import type { Reply } from "../../../src/platform/models/ask.ts";
import { extract } from "../../../src/platform/models/extract.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import type { Lineage } from "../threads/lineage.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
import type { IngestStore, Marks, StoredIngest } from "./ingest-store.ts";
import { addedUsage, type ModelUsage } from "./model-usage.ts";
import {
  givenUp,
  isOver,
  isUnanswered,
  judge,
  lookFor,
  lookFurther,
  type WaitingMemory,
  withFacts,
} from "./second-look.ts";
import {
  type Batch,
  batchOf,
  type FailedStep,
  type LookedBatch,
  type Looking,
  type Step,
  type StepWait,
} from "./step.ts";
import { messagesAround, widened, windowAfter } from "./thread-window.ts";

type NextStepDependencies = {
  store: Pick<IngestStore, "backlog" | "extent">;
  reader: Pick<ThreadReader, "walk">;
  lineage: Pick<Lineage, "position">;
  waiting: WaitingMemory;
  usage: ModelUsage;
  extraction: Pick<ExtractionSettings, "current">;
  languageModel: LanguageModel | null;
  now: () => number;
};
/** An ingest, its thread, and what is called before the model is asked. */
type Source = { ingest: StoredIngest; thread: StoredThread; asks: () => void };
type FoundProposals = Pick<Step, "proposals" | "extractor" | "failed" | "unusable" | "usage">;
type NoProposals = StepWait | FailedStep;

/** A session without a message for so long has ended. */
const SESSION_GAP_MS = 30 * 60_000;
/** Messages of a session at most: a longer one is several episodes. */
const SESSION_MESSAGES = 200;
/** The pause while D1 does not tell the tenant's rules. */
const STORAGE_MS = 60_000;
/** The extraction's version where no model is bound. */
const PATTERNS = { by: "rules", name: "patterns/2" } as const;
const SESSIONS = { by: "rules", name: "sessions/1" } as const;
const KIND_OF = { facts: "fact", episodes: "episode", procedures: "procedure" } as const;
const NOTHING = { proposals: NO_PROPOSALS, extractor: PATTERNS, window: [] } as const;

/** Finds the next proposals of an ingest, and looks at them, by one question to the model at most. */
export class NextStep {
  readonly #deps: NextStepDependencies;

  constructor(deps: NextStepDependencies) {
    this.#deps = deps;
  }

  /** Null if nothing is left. `asks`: called before the model is. */
  async of(from: Source): Promise<Step | Looking | NoProposals | null> {
    const { store, languageModel } = this.#deps;
    const { ingest, thread } = from;
    const [batch] = store.backlog(ingest).batches;
    if (batch?.look !== undefined) return this.#look({ ...batch, look: batch.look }, from);
    const next =
      batch === undefined ? await this.#extract(from) : { ...batch, window: this.#windowOf(batch, thread) };
    if (next === null || !("proposals" in next)) return next;
    const owners = ownerNames(thread.speakers ?? UNNAMED);
    const facts = next.proposals.facts.map((fact) => ofOwner(fact, owners));
    const seqs = next.range && next.window.map(({ seq }) => seq);
    const step: Step = { seqs, ...next, proposals: { ...next.proposals, facts } };
    const look = languageModel === null ? null : await lookFor(step);
    if (look === null) return step;
    return { batch: { ...batchOf(step), look }, usage: step.usage };
  }

  /** The batch of an ingest whose look gets no further answer, after its last attempt; null if no look is under way. */
  givesUp(ingest: StoredIngest, why: string): Looking | null {
    const [batch] = this.#deps.store.backlog(ingest).batches;
    if (batch?.look === undefined || isOver(batch.look)) return null;
    return { batch: givenUp({ ...batch, look: batch.look }, why) };
  }

  /** The name of the model that is asked; null if rules extract. */
  get model(): string | null {
    return this.#deps.languageModel?.name ?? null;
  }

  /** The seqs up to which the thread is extracted: also by other ingests meanwhile, unless this one ignores their marks. */
  progressOf({ thread, state: { progress, ignoresMarks } }: StoredIngest): Marks {
    const marks = ignoresMarks ? undefined : this.#deps.store.extent(thread)?.marks;
    const reached = (kind: ExtractKind) => Math.max(progress[kind], marks?.[kind] ?? 0);
    return { facts: reached("facts"), episodes: reached("episodes"), procedures: reached("procedures") };
  }

  /** Asks about the next facts of a look, or ends it. The messages are read anew: one behind a sentence may take it back meanwhile. */
  async #look(batch: LookedBatch, from: Source): Promise<Step | Looking | NoProposals> {
    const { waiting, lineage, now } = this.#deps;
    const { thread } = from;
    const isThere = (seq: number) => lineage.position(thread, seq) !== null;
    const current = batch.look.again === undefined ? batch : withFacts(batch, { thread, waiting, isThere });
    if (current === "pending") return { why: "storage", until: now() + STORAGE_MS };
    const window = this.#windowOf(current, thread);
    if (!isOver(current.look))
      return lookFurther(current, window, (question) => this.#ask(from.asks, question));
    const done = await judge(current, window);
    return "judged" in done ? { ...settled(done), window } : done;
  }

  /** The messages that a batch is judged by: all that were read for it, as they are now. */
  #windowOf({ seqs, proposals }: Batch, thread: StoredThread): SourceMessage[] {
    return messagesAround({ reader: this.#deps.reader, thread }, seqs ?? citedBy(proposals));
  }

  /** The next messages: first those of a retry, then facts and procedures, then episodes. */
  #extract(from: Source): Promise<Step | NoProposals> | null {
    const { extract: kinds, to, redo, endsSessions } = from.ingest.state;
    const [again] = redo;
    if (again !== undefined)
      return again.kinds.includes("episodes")
        ? this.#episode(from, again, { endsSessions: true })
        : this.#statements(from, again);
    const progress = this.progressOf(from.ingest);
    const wanted = kinds.filter((kind) => progress[kind] < to);
    const statements = wanted.filter((kind) => kind !== "episodes");
    const after = Math.min(...statements.map((kind) => progress[kind]));
    const together = statements.filter((kind) => progress[kind] === after);
    if (together.length > 0) return this.#statements(from, { kinds: together, after, to });
    if (!wanted.includes("episodes")) return null;
    return this.#episode(from, { kinds: ["episodes"], after: progress.episodes, to }, { endsSessions });
  }

  /** Facts and procedures, which need no whole session. */
  async #statements(from: Source, { kinds, after, to }: Range): Promise<Step | NoProposals> {
    const source = { reader: this.#deps.reader, thread: from.thread };
    const { context, messages, last } = windowAfter(source, { after, upTo: to });
    const next = await this.#find(from, kinds, { context, messages }, () => {
      const facts = kinds.includes("facts") ? candidatesIn([...context, ...messages]) : [];
      return { proposals: { ...NO_PROPOSALS, facts }, extractor: PATTERNS };
    });
    if ("why" in next) return next;
    // One of the messages may be the reason.
    const isRefused = next.failed === "model_refused" && messages.length > 1;
    const half = messages[Math.floor(messages.length / 2) - 1]?.seq ?? after;
    const halves = [
      { kinds, after, to: half },
      { kinds, after: half, to: last },
    ];
    // Other proposals were found before.
    const seqs = new Set(messages.map(({ seq }) => seq));
    return {
      ...next,
      ...(isRefused && { halves }),
      proposals: mapKinds(next.proposals, (list) =>
        list.filter(({ sources }) => sources.some((seq) => seqs.has(seq))),
      ),
      window: widened(source, messages),
      range: { kinds, after, to: last },
    };
  }

  /** The episode of the next session that has ended. */
  async #episode(
    from: Source,
    { kinds, after, to }: Range,
    { endsSessions }: { endsSessions: boolean },
  ): Promise<Step | NoProposals> {
    const { reader, now } = this.#deps;
    const { messages, last } = windowAfter(
      { reader, thread: from.thread },
      { after, upTo: to, most: SESSION_MESSAGES },
    );
    const [session] = sessionsOf(messages, { gapMs: SESSION_GAP_MS });
    if (session === undefined) return { ...NOTHING, range: { kinds, after, to: last } };
    const window = messages.filter(({ seq }) => seq >= session.from && seq <= session.to);
    const isLast = session.to >= (messages.at(-1)?.seq ?? 0) && last >= to;
    const ends = (window.at(-1)?.at ?? 0) + SESSION_GAP_MS;
    if (isLast && !endsSessions && ends > now()) return { why: "session", until: ends };
    const range = { kinds, after, to: isLast ? to : session.to };
    if (session.text === "") return { ...NOTHING, range };
    const episode = { text: session.text, sources: window.map(({ seq }) => seq) };
    const next = await this.#find(from, ["episodes"], { context: [], messages: window }, () => ({
      proposals: { ...NO_PROPOSALS, episodes: [episode] },
      extractor: SESSIONS,
    }));
    return "why" in next ? next : { ...next, window, range };
  }

  /** Asks the model; without one, applies the rules. No model is asked for facts where none can be. */
  async #find(
    { ingest, thread, asks }: Source,
    wanted: readonly ExtractKind[],
    window: Window,
    byRules: () => FoundProposals,
  ): Promise<FoundProposals | NoProposals> {
    const { languageModel, extraction, now } = this.#deps;
    if (window.messages.length === 0) return NOTHING;
    if (languageModel === null) return byRules();
    const kinds = mayState(window) ? wanted : wanted.filter((kind) => kind !== "facts");
    if (kinds.length === 0) return NOTHING;
    if (languageModel.problem !== undefined) return MISCONFIGURED;
    const settings = await d1Result(() => extraction.current());
    if (!settings.ok) return { why: "storage", until: now() + STORAGE_MS };
    const agent = thread.agent ?? null;
    const own = ruleFor(settings.value.rules, { scope: ingest.state.scope, agent });
    const reply = await this.#ask(asks, async (model) => {
      const first = await extract(model, window, kinds, own);
      const isRefused = "failed" in first && first.failed === "model_refused";
      if (!isRefused || window.context.length === 0) return first;
      // An earlier message may be what the model refuses.
      const again = await extract(model, { ...window, context: [] }, kinds, own);
      return { ...again, usage: addedUsage(first.usage, again.usage) };
    });
    if ("why" in reply) return reply;
    const { usage } = reply;
    if ("failed" in reply) return { ...NOTHING, failed: reply.failed, usage };
    const { proposals, unusable } = reply.answer;
    return {
      proposals,
      unusable: unusable.map((kind) => ({
        kind: KIND_OF[kind],
        outcome: "failed",
        reasons: ["invalid_answer"],
        sources: [],
      })),
      extractor: { by: "model", name: languageModel.name, prompt: reply.prompt },
      usage,
    };
  }

  /** Asks the model, and counts it. `failed`: the model fails on these messages, and may not on others. */
  async #ask<T extends Reply<object>>(
    asks: () => void,
    question: (model: LanguageModel) => Promise<T>,
  ): Promise<T | NoProposals> {
    const { languageModel, usage, now } = this.#deps;
    if (languageModel === null || languageModel.problem !== undefined) return MISCONFIGURED;
    const reply = await usage.count(now, () => {
      asks();
      return question(languageModel);
    });
    if ("why" in reply || !("failed" in reply)) return reply;
    const { failed: why, usage: spent } = reply;
    if (why === "invalid_answer" || why === "model_refused") return reply;
    return { why, isLasting: why === "model_misconfigured", usage: spent };
  }
}

const MISCONFIGURED: FailedStep = { why: "model_misconfigured", isLasting: true };

/** The batch of a look that is over, to store. What waits in quarantine without an answer stays there as it is. */
function settled({
  batch,
  judged,
}: {
  batch: LookedBatch;
  judged: NonNullable<Step["judged"]>;
}): Omit<Step, "window"> {
  const { facts, again } = batch.look;
  if (again === undefined) return { ...batch, judged };
  const isSettled = (_: unknown, place: number) => !isUnanswered(facts[place]);
  return {
    ...batch,
    proposals: { ...NO_PROPOSALS, facts: batch.proposals.facts.filter(isSettled) },
    judged: judged.filter(isSettled),
    waiting: again.filter(isSettled),
  };
}
