import { candidatesIn } from "../../../src/domain/ingest/patterns.ts";
import type { Proposals, SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import type { Window } from "../../../src/domain/ingest/window.ts";
import { sessionsOf } from "../../../src/domain/ingest/sessions.ts";
import type { Extracted, ExtractKind, Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import { extract } from "../../../src/platform/models/extract.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
import type { IngestState, IngestStore, Marks, StoredIngest } from "./ingest-store.ts";
import type { ModelUsage } from "./model-usage.ts";
import { messagesAround, windowAfter } from "./thread-window.ts";

/** What extracted a memory: a model with the version of its prompt, or rules. */
export type Extractor = { model: string; prompt: string } | { rules: string } | "caller";

/**
 * Proposals of some messages. `window`: what they may cite. `progress`: how far the thread is extracted once they are stored.
 * `failed`: the extraction of these messages failed for good, so there are no proposals. `unusable`: the results
 * of entries of the answer that are no proposals. `left`: what the caller's own model found besides, for the next steps.
 */
export type Step = {
  proposals: Proposals;
  by: Extractor;
  window: readonly SourceMessage[];
  progress: Partial<Marks>;
  failed?: string;
  unusable?: readonly IngestResult[];
  left?: Extracted | null;
  usage?: Ingest["usage"];
};
/** No step is possible now: `why`, and when to try again. `retries`: the attempts are bounded. `usage`: of a call that failed. */
export type Wait = { why: string; until: number | null; retries: boolean; usage?: Ingest["usage"] };

type NextStepDependencies = {
  store: Pick<IngestStore, "extracted" | "marks">;
  reader: Pick<ThreadReader, "walk">;
  usage: ModelUsage;
  languageModel: LanguageModel | null;
  now: () => number;
};
type FoundProposals = Pick<Step, "proposals" | "by" | "failed" | "unusable" | "usage">;

/** A session without a message for so long has ended. */
const SESSION_GAP_MS = 30 * 60_000;
/** Messages of a session at most: a longer one is several episodes. */
const SESSION_MESSAGES = 200;
/** Citations of the memories that a step takes of the caller's: each is checked against its messages. At least those of one memory. */
const CITED = 100;
/** The extraction's version where no model is bound. */
const PATTERNS = "patterns/1";
const SESSIONS = "sessions/1";

/** Finds the next proposals of an ingest, by one question to the model at most. */
export class NextStep {
  readonly #deps: NextStepDependencies;

  constructor(deps: NextStepDependencies) {
    this.#deps = deps;
  }

  /** Null if nothing is left. */
  async of(ingest: StoredIngest, thread: StoredThread): Promise<Step | Wait | null> {
    const progress = this.progressOf(ingest);
    return (
      this.#given(ingest, thread) ??
      (await this.#statements(ingest.state, thread, progress)) ??
      (await this.#episode(ingest.state, thread, progress))
    );
  }

  /** How far the thread is extracted: also by other ingests meanwhile, unless this one extracts again. */
  progressOf({ thread, state: { progress, again } }: StoredIngest): Marks {
    const marks = again ? null : this.#deps.store.marks(thread);
    const reached = (kind: ExtractKind) => Math.max(progress[kind], marks?.[kind] ?? 0);
    return { facts: reached("facts"), episodes: reached("episodes"), procedures: reached("procedures") };
  }

  /** What the caller's own model found. */
  #given({ id, hasExtracted }: StoredIngest, thread: StoredThread): Step | null {
    const extracted = hasExtracted ? this.#deps.store.extracted(id) : null;
    if (extracted === null) return null;
    const { taken, left } = firstOf(extracted);
    const cited = Object.values(taken).flatMap((list) => list.flatMap(({ sources }) => sources));
    return {
      proposals: taken,
      by: "caller",
      window: messagesAround(this.#deps.reader, thread, cited),
      progress: {},
      left,
    };
  }

  /** Facts and procedures, which need no whole session. */
  async #statements(
    { extract: kinds, to }: IngestState,
    thread: StoredThread,
    progress: Marks,
  ): Promise<Step | Wait | null> {
    const wanted = kinds.filter((kind) => kind !== "episodes" && progress[kind] < to);
    const after = Math.min(...wanted.map((kind) => progress[kind]));
    const together = wanted.filter((kind) => progress[kind] === after);
    if (together.length === 0) return null;
    const window = windowAfter(this.#deps.reader, thread, { after, upTo: to });
    const reached = (seq: number) => Object.fromEntries(together.map((kind) => [kind, seq]));
    if (window === null) return { ...NOTHING, progress: reached(to) };
    const { context, messages, last } = window;
    const found = await this.#find(together, { context, messages }, () => ({
      proposals: {
        ...NONE,
        facts: together.includes("facts") ? candidatesIn([...context, ...messages]) : [],
      },
      by: { rules: PATTERNS },
    }));
    if ("until" in found) return found;
    return {
      ...found,
      proposals: citing(found.proposals, new Set(messages.map(({ seq }) => seq))),
      window: [...context, ...messages],
      progress: reached(last),
    };
  }

  /** The episode of the next session that has ended. */
  async #episode(
    { extract: kinds, to, endsSessions }: IngestState,
    thread: StoredThread,
    { episodes: after }: Marks,
  ): Promise<Step | Wait | null> {
    if (!kinds.includes("episodes") || after >= to) return null;
    const { reader, now } = this.#deps;
    const window = windowAfter(reader, thread, { after, upTo: to, most: SESSION_MESSAGES });
    if (window === null) return { ...NOTHING, progress: { episodes: to } };
    const { messages, last } = window;
    const [session] = sessionsOf(messages, { gapMs: SESSION_GAP_MS });
    if (session === undefined) return { ...NOTHING, progress: { episodes: last } };
    const said = messages.filter(({ seq }) => seq >= session.from && seq <= session.to);
    const isLast = session.to >= (messages.at(-1)?.seq ?? 0) && last >= to;
    const ends = (said.at(-1)?.at ?? 0) + SESSION_GAP_MS;
    if (isLast && !endsSessions && ends > now()) return { why: "session", until: ends, retries: false };
    const progress = { episodes: isLast ? to : session.to };
    if (session.text === "") return { ...NOTHING, progress };
    const sources = said.map(({ seq }) => seq);
    const inItsWords = (): FoundProposals => ({
      proposals: { ...NONE, episodes: [{ text: session.text, sources }] },
      by: { rules: SESSIONS },
    });
    const found = await this.#find(["episodes"], { context: [], messages: said }, inItsWords);
    if ("until" in found) return found;
    return { ...found, window: said, progress };
  }

  /** Asks the model; without one, applies the rules. */
  async #find(
    kinds: readonly ExtractKind[],
    window: Window,
    byRules: () => FoundProposals,
  ): Promise<FoundProposals | Wait> {
    const { languageModel, usage, now } = this.#deps;
    if (window.messages.length === 0) return NOTHING;
    if (languageModel === null) return byRules();
    const extracted = await usage.count(now, () => extract(languageModel, window, kinds));
    if (extracted === null) return { why: "quota", until: usage.nextAllowed(now()), retries: false };
    if (!("failed" in extracted))
      return {
        proposals: extracted.answer.proposals,
        unusable: extracted.answer.unusable.map((kind) => ({
          kind: KIND_OF[kind],
          outcome: "failed",
          reasons: ["invalid_answer"],
          sources: [],
        })),
        by: { model: languageModel.name, prompt: extracted.prompt },
        usage: extracted.usage,
      };
    // Another call would get another answer, but these messages have had two.
    if (extracted.failed === "invalid_answer")
      return { ...NOTHING, failed: extracted.failed, usage: extracted.usage };
    return { why: extracted.failed, until: null, retries: true, usage: extracted.usage };
  }
}

/** The first memories of a caller's model, which cite few enough messages for one step, and the others; null for none. */
function firstOf({ facts = [], episodes = [], procedures = [] }: Extracted): {
  taken: Required<Extracted>;
  left: Extracted | null;
} {
  let cited = 0;
  const fits = ({ sources }: { sources: readonly number[] }) => (cited += sources.length) <= CITED;
  const taken = {
    facts: facts.filter(fits),
    episodes: episodes.filter(fits),
    procedures: procedures.filter(fits),
  };
  const left = {
    facts: facts.slice(taken.facts.length),
    episodes: episodes.slice(taken.episodes.length),
    procedures: procedures.slice(taken.procedures.length),
  };
  const isLeft = Object.values(left).some((list) => list.length > 0);
  return { taken, left: isLeft ? left : null };
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
const NOTHING = { proposals: NONE, by: { rules: PATTERNS }, window: [] } as const;
