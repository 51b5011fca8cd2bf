import { ownerNames, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { ofOwner } from "../../../src/domain/ingest/checks/check-speaker.ts";
import { ruleFor } from "../../../src/domain/ingest/own-rules.ts";
import type { ExtractionRule } from "../../../src/domain/schema/extraction.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { ExtractionSettings } from "../../../src/platform/d1/extraction-settings.ts";
import { candidatesIn } from "../../../src/domain/ingest/patterns.ts";
import type { FactProposal, Proposals, SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import { tripleText } from "../../../src/domain/memory/identity.ts";
import { sourcesOf } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import { mayState } from "../../../src/domain/ingest/may-state.ts";
import type { Range } from "../../../src/domain/ingest/ranges.ts";
import type { Window } from "../../../src/domain/ingest/window.ts";
import { sessionsOf } from "../../../src/domain/ingest/sessions.ts";
import type { Extracted, ExtractKind, Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import { extract, type ModelExtraction } from "../../../src/platform/models/extract.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import type { Lineage } from "../threads/lineage.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
import type { IngestStore, Marks, StoredIngest } from "./ingest-store.ts";
import { firstOf, hasMemories } from "./kept.ts";
import { addedUsage, type ModelUsage } from "./model-usage.ts";
import {
  givenUp,
  isOver,
  isUnanswered,
  type Judged,
  type Look,
  type Looking,
  type SecondLook,
  withFacts,
} from "./second-look.ts";
import { messagesAround, widened, windowAfter } from "./thread-window.ts";

/** The extractor of a memory: a model with the version of its prompt, or rules. */
export type Extractor = { model: string; prompt: string } | { rules: string } | "caller";

/**
 * Proposals of some messages. `window`: what they may cite. `range`: what of the thread is extracted once they are stored.
 * `failed`: why the extraction of that range failed for good, so there are no proposals; its `halves` may do better. `unusable`: the
 * results of entries of the answer that are no proposals. `look`: the model has looked at the facts. `judged`: what it and the checks
 * say of each. `waiting`: the memory in quarantine that each takes the place of.
 */
export type Step = {
  proposals: Proposals;
  extractor: Extractor;
  window: readonly SourceMessage[];
  range?: Range;
  failed?: string;
  halves?: readonly Range[];
  unusable?: readonly IngestResult[];
  usage?: Ingest["usage"];
  look?: Look;
  judged?: readonly Judged[];
  waiting?: readonly string[];
};
/** No step is possible before a time. */
export type StepWait = { why: string; until: number };
/** A step that failed. `isLasting`: another attempt fails too. `usage`: what it cost. */
export type FailedStep = { why: string; isLasting: boolean; usage?: Ingest["usage"] };

type NextStepDependencies = {
  store: Pick<IngestStore, "extracted" | "marks">;
  reader: Pick<ThreadReader, "walk">;
  lineage: Pick<Lineage, "position">;
  /** The memory that waits in quarantine under this id; null without one. `pending`: a write of it may still change that. */
  waiting: (id: string) => MemoryRow | "pending" | null;
  usage: ModelUsage;
  secondLook: SecondLook;
  extraction: Pick<ExtractionSettings, "current">;
  languageModel: LanguageModel | null;
  now: () => number;
};
/** A thread, and what is called before the model is asked about its messages. `of`: what the tenant's rules go by. */
type Source = {
  thread: StoredThread;
  asks: () => void;
  of: { scope: string | null; agent: string | null };
};
type FoundProposals = Pick<Step, "proposals" | "extractor" | "failed" | "unusable" | "usage">;
export type NoProposals = StepWait | FailedStep;

/** A session without a message for so long has ended. */
const SESSION_GAP_MS = 30 * 60_000;
/** Messages of a session at most: a longer one is several episodes. */
const SESSION_MESSAGES = 200;
/** The pause while D1 does not tell the tenant's rules. */
const STORAGE_MS = 60_000;
/** The extraction's version where no model is bound. */
const PATTERNS = "patterns/2";
const SESSIONS = "sessions/1";

/** Finds the next proposals of an ingest, and looks at them, by one question to the model at most. */
export class NextStep {
  readonly #deps: NextStepDependencies;

  constructor(deps: NextStepDependencies) {
    this.#deps = deps;
  }

  /** Null if nothing is left. `asks`: called before the model is. */
  async of(
    ingest: StoredIngest,
    thread: StoredThread,
    asks: () => void,
  ): Promise<Step | Looking | NoProposals | null> {
    const kept = ingest.hasExtracted ? this.#deps.store.extracted(ingest.id) : null;
    const [look] = kept?.looks ?? [];
    if (look?.again !== undefined) return this.#lookAgain(look, thread, asks);
    if (look !== undefined) return this.#look(look, thread, asks);
    const found =
      this.#given(kept, thread) ??
      (await this.#extract(ingest, {
        thread,
        asks,
        of: { scope: ingest.state.scope, agent: thread.agent ?? null },
      }));
    if (found === null || !("proposals" in found)) return found;
    const owners = ownerNames(thread.speakers ?? UNNAMED);
    const own = found.proposals.facts.map((fact) => ofOwner(fact, owners));
    const step: Step = { ...found, proposals: { ...found.proposals, facts: own } };
    const needed = await this.#deps.secondLook.of(step);
    return needed === null ? step : { look: needed, usage: step.usage, isFirst: true };
  }

  /** Looks at facts that wait in quarantine, as the memories have them now. */
  #lookAgain(
    look: Look,
    thread: StoredThread,
    asks: () => void,
  ): Promise<Step | Looking | NoProposals> | StepWait {
    const { waiting, lineage, now } = this.#deps;
    const rows = new Map((look.again ?? []).map((id) => [id, waiting(id)]));
    if (rows.values().some((row) => row === "pending")) return { why: "storage", until: now() + STORAGE_MS };
    const isThere = (seq: number) => lineage.position(thread, seq) !== null;
    const current = withFacts(look, (id) => {
      const row = rows.get(id);
      return row === undefined || row === null || row === "pending"
        ? null
        : waitingFact(row, thread, isThere);
    });
    return this.#look(current, thread, asks);
  }

  /** Asks about the next facts of a look, or ends it. The messages are read anew: one behind a sentence may take it back meanwhile. */
  async #look(look: Look, thread: StoredThread, asks: () => void): Promise<Step | Looking | NoProposals> {
    const { secondLook, reader } = this.#deps;
    const cited = Object.values(look.proposals).flatMap((list) => list.flatMap(({ sources }) => sources));
    const window = messagesAround(reader, thread, cited);
    if (!isOver(look)) return secondLook.ask(look, window, asks);
    const done = await secondLook.judge(look, window);
    return "judged" in done ? stepOf(done, window) : done;
  }

  /** The look of an ingest after its last attempt; null if none is under way. */
  givesUp({ id, hasExtracted }: StoredIngest, why: string): Looking | null {
    const [look] = (hasExtracted ? this.#deps.store.extracted(id)?.looks : null) ?? [];
    return look === undefined || isOver(look) ? null : { look: givenUp(look, why) };
  }

  /** The name of the model that is asked; null if rules extract. */
  get model(): string | null {
    return this.#deps.languageModel?.name ?? null;
  }

  /** The seqs up to which the thread is extracted: also by other ingests meanwhile, unless this one ignores their marks. */
  progressOf({ thread, state: { progress, ignoresMarks } }: StoredIngest): Marks {
    const marks = ignoresMarks ? null : this.#deps.store.marks(thread);
    const reached = (kind: ExtractKind) => Math.max(progress[kind], marks?.[kind] ?? 0);
    return { facts: reached("facts"), episodes: reached("episodes"), procedures: reached("procedures") };
  }

  /** The findings of the caller's own model. */
  #given(extracted: Extracted | null, thread: StoredThread): Step | null {
    if (extracted === null || !hasMemories(extracted)) return null;
    const { taken } = firstOf(extracted);
    const cited = Object.values(taken).flatMap((list) => list.flatMap(({ sources }) => sources));
    return {
      proposals: taken,
      extractor: "caller",
      window: messagesAround(this.#deps.reader, thread, cited),
    };
  }

  /** The next messages: first those of a retry, then facts and procedures, then episodes. */
  #extract(ingest: StoredIngest, from: Source): Promise<Step | NoProposals> | null {
    const { extract: kinds, to, redo, endsSessions } = ingest.state;
    const [again] = redo;
    if (again !== undefined)
      return again.kinds.includes("episodes")
        ? this.#episode(from, again, { endsSessions: true })
        : this.#statements(from, again);
    const progress = this.progressOf(ingest);
    const wanted = kinds.filter((kind) => progress[kind] < to);
    const statements = wanted.filter((kind) => kind !== "episodes");
    const after = Math.min(...statements.map((kind) => progress[kind]));
    const together = statements.filter((kind) => progress[kind] === after);
    if (together.length > 0) return this.#statements(from, { kinds: together, after, to });
    if (!wanted.includes("episodes")) return null;
    return this.#episode(from, { kinds: ["episodes"], after: progress.episodes, to }, { endsSessions });
  }

  /** Facts and procedures, which need no whole session. */
  async #statements({ thread, asks, of }: Source, { kinds, after, to }: Range): Promise<Step | NoProposals> {
    const { context, messages, last } = windowAfter(this.#deps.reader, thread, { after, upTo: to });
    const byRules = () => ({
      proposals: {
        ...NONE,
        facts: kinds.includes("facts") ? candidatesIn([...context, ...messages]) : [],
      },
      extractor: { rules: PATTERNS },
    });
    const found = await this.#find(kinds, { context, messages }, { byRules, asks, of });
    if ("why" in found) return found;
    const isRefused = found.failed === "model_refused" && messages.length > 1;
    const half = messages[Math.floor(messages.length / 2) - 1]?.seq ?? after;
    return {
      ...found,
      // One of the messages may be the reason.
      ...(isRefused && {
        halves: [
          { kinds, after, to: half },
          { kinds, after: half, to: last },
        ],
      }),
      proposals: citing(found.proposals, new Set(messages.map(({ seq }) => seq))),
      window: widened(this.#deps.reader, thread, messages),
      range: { kinds, after, to: last },
    };
  }

  /** The episode of the next session that has ended. */
  async #episode(
    { thread, asks, of }: Source,
    { kinds, after, to }: Range,
    { endsSessions }: { endsSessions: boolean },
  ): Promise<Step | NoProposals> {
    const { reader, now } = this.#deps;
    const { messages, last } = windowAfter(reader, thread, { after, upTo: to, most: SESSION_MESSAGES });
    const upTo = (seq: number): Range => ({ kinds, after, to: seq });
    const [session] = sessionsOf(messages, { gapMs: SESSION_GAP_MS });
    if (session === undefined) return { ...NOTHING, range: upTo(last) };
    const said = messages.filter(({ seq }) => seq >= session.from && seq <= session.to);
    const isLast = session.to >= (messages.at(-1)?.seq ?? 0) && last >= to;
    const ends = (said.at(-1)?.at ?? 0) + SESSION_GAP_MS;
    if (isLast && !endsSessions && ends > now()) return { why: "session", until: ends };
    const range = upTo(isLast ? to : session.to);
    if (session.text === "") return { ...NOTHING, range };
    const sources = said.map(({ seq }) => seq);
    const byRules = (): FoundProposals => ({
      proposals: { ...NONE, episodes: [{ text: session.text, sources }] },
      extractor: { rules: SESSIONS },
    });
    const found = await this.#find(["episodes"], { context: [], messages: said }, { byRules, asks, of });
    return "why" in found ? found : { ...found, window: said, range };
  }

  /** Asks the model; without one, applies the rules. No model is asked for facts where none can be. */
  async #find(
    wanted: readonly ExtractKind[],
    window: Window,
    { byRules, asks, of }: { byRules: () => FoundProposals } & Pick<Source, "asks" | "of">,
  ): Promise<FoundProposals | NoProposals> {
    const { languageModel, usage, now } = this.#deps;
    if (window.messages.length === 0) return NOTHING;
    if (languageModel === null) return byRules();
    const kinds = mayState(window) ? wanted : wanted.filter((kind) => kind !== "facts");
    if (kinds.length === 0) return NOTHING;
    if (languageModel.problem !== undefined) return { why: "model_misconfigured", isLasting: true };
    const settings = await d1Result(() => this.#deps.extraction.current());
    if (!settings.ok) return { why: "storage", until: now() + STORAGE_MS };
    const own = ruleFor(settings.value.rules, of);
    const extracted = await usage.count(now, () => {
      asks();
      return extractWithin(languageModel, window, kinds, own);
    });
    if ("until" in extracted) return extracted;
    if (!("failed" in extracted))
      return {
        proposals: extracted.answer.proposals,
        unusable: extracted.answer.unusable.map((kind) => ({
          kind: KIND_OF[kind],
          outcome: "failed",
          reasons: ["invalid_answer"],
          sources: [],
        })),
        extractor: { model: languageModel.name, prompt: extracted.prompt },
        usage: extracted.usage,
      };
    const { failed, usage: spent } = extracted;
    // The model fails on these messages, and may not on others.
    if (failed === "invalid_answer" || failed === "model_refused")
      return { ...NOTHING, failed, usage: spent };
    return { why: failed, isLasting: failed === "model_misconfigured", usage: spent };
  }
}

/** Extracts. An earlier message may be what the model refuses: then it is asked without those. */
async function extractWithin(
  model: LanguageModel,
  window: Window,
  kinds: readonly ExtractKind[],
  own: ExtractionRule | null,
): Promise<ModelExtraction> {
  const asked = await extract(model, window, kinds, own);
  const isRefused = "failed" in asked && asked.failed === "model_refused";
  if (!isRefused || window.context.length === 0) return asked;
  const again = await extract(model, { ...window, context: [] }, kinds, own);
  return { ...again, usage: addedUsage(asked.usage, again.usage) };
}

/** The step of a look that is over. What waits in quarantine without an answer stays there as it is. */
function stepOf(
  { look, judged: all }: Required<Pick<Step, "look" | "judged">>,
  window: Step["window"],
): Step {
  const { extractor, range, unusable, again } = look;
  const isSettled = (_: unknown, place: number) => again === undefined || !isUnanswered(look.facts[place]);
  const judged = all.filter(isSettled);
  const proposals = { ...look.proposals, facts: look.proposals.facts.filter(isSettled) };
  return {
    proposals,
    extractor,
    window,
    look,
    judged,
    ...(again !== undefined && { waiting: again.filter(isSettled) }),
    ...(range !== undefined && { range }),
    ...(unusable !== undefined && { unusable }),
  };
}

/**
 * The fact of a memory that waits in quarantine. Null for one that a person has changed, that no message of the thread states any more, or
 * that is no fact of an extraction.
 */
function waitingFact(
  row: MemoryRow,
  { id: thread }: StoredThread,
  isThere: (seq: number) => boolean,
): FactProposal | null {
  const { status, trust, subject, predicate, object, text, validFrom } = row;
  if (status !== "quarantined" || isPerson(trust)) return null;
  if (subject === null || predicate === null || object === null) return null;
  const sources = sourcesOf(row).flatMap((source) =>
    source.thread === thread && typeof source.message === "number" ? source.message : [],
  );
  if (sources.length === 0 || !sources.every(isThere)) return null;
  const isOwnText = text !== tripleText({ subject, predicate, object });
  return { subject, predicate, object, ...(isOwnText && { text }), sources, validFrom };
}

/** The proposals that cite one of these messages: the others were found before. */
function citing({ facts, episodes, procedures }: Proposals, seqs: ReadonlySet<number>): Proposals {
  const cites = ({ sources }: { sources: readonly number[] }) => sources.some((seq) => seqs.has(seq));
  return {
    facts: facts.filter(cites),
    episodes: episodes.filter(cites),
    procedures: procedures.filter(cites),
  };
}

const KIND_OF = { facts: "fact", episodes: "episode", procedures: "procedure" } as const;
const NONE: Proposals = { facts: [], episodes: [], procedures: [] };
const NOTHING = { proposals: NONE, extractor: { rules: PATTERNS }, window: [] } as const;
