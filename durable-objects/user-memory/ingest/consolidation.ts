import { checkProposal } from "../../../src/domain/ingest/checks/check-proposal.ts";
import { episodeGroups } from "../../../src/domain/ingest/episode-groups.ts";
import { answerSchema, NAME, promptOf } from "../../../src/domain/ingest/prompts/consolidate-1.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { leastOf } from "../../../src/domain/memory/trust.ts";
import type { Embedder } from "../../../src/platform/embeddings/embedder.ts";
import { ask, strictParser } from "../../../src/platform/models/ask.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import { prepareMemories } from "../../../src/platform/prepare-memories.ts";
import type { Consolidated } from "../../../src/contract/user-memory.ts";
import type { MemoryForgetter } from "../memories/memory-forgetter.ts";
import type { Summaries } from "../memories/summaries.ts";
import type { MemoryWriter } from "../memories/memory-writer.ts";
import type { ModelUsage } from "./model-usage.ts";

type ConsolidationDependencies = {
  summaries: Pick<Summaries, "extractedEpisodes">;
  forgetter: Pick<MemoryForgetter, "reviveEpisodes">;
  writer: Pick<MemoryWriter, "summarise">;
  embedder: Embedder;
  languageModel: LanguageModel | null;
  usage: ModelUsage;
  now: () => number;
};
type Episodes = readonly [MemoryRow, ...MemoryRow[]];

/** Episodes that one run reads, and summaries that it asks for. */
const [READ, ASKED] = [1_000, 4];
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Replaces old episodes, which a model extracted, by summaries of a month each. */
export class Consolidation {
  readonly #deps: ConsolidationDependencies;

  constructor(deps: ConsolidationDependencies) {
    this.#deps = deps;
  }

  /** Summarises some of the groups of episodes from before a time. A group that fails stays as it is. */
  async run(owner: Owner, before: number): Promise<Consolidated> {
    const { summaries, forgetter, languageModel, usage, now } = this.#deps;
    const done = { summaries: 0, episodes: 0 };
    await forgetter.reviveEpisodes(owner);
    if (languageModel === null) return done;
    const groups = episodeGroups(summaries.extractedEpisodes(before, READ));
    // Groups that fail each time do not keep the others waiting for ever.
    const first = groups.length === 0 ? 0 : Math.floor(now() / WEEK_MS) % groups.length;
    for (const group of [...groups.slice(first), ...groups.slice(0, first)].slice(0, ASKED)) {
      if (!isSome(group)) break;
      const question = { ...promptOf(group), schema: answerSchema, parse: strictParser(answerSchema) };
      const asked = await usage.count(now, () => ask(languageModel, question));
      if ("until" in asked) break;
      if ("failed" in asked) {
        // The model fails on these episodes, and may not on the next group.
        if (asked.failed === "invalid_answer" || asked.failed === "model_refused") continue;
        break;
      }
      if (!(await this.#store(owner, { episodes: group, text: asked.answer.text }))) continue;
      done.summaries++;
      done.episodes += group.length;
    }
    return done;
  }

  /** Stores a summary that passes the checks. False if it does not, or if an episode has changed meanwhile. */
  async #store(owner: Owner, { episodes, text }: { episodes: Episodes; text: string }): Promise<boolean> {
    const { embedder, languageModel, writer } = this.#deps;
    const told = episodes.map((episode, i) => ({
      seq: i + 1,
      role: "assistant",
      speaker: null,
      isOwner: false,
      text: episode.text,
      at: episode.createdAt,
    }));
    const reasons = checkProposal("episode", { text, sources: told.map(({ seq }) => seq) }, told);
    if (reasons.length > 0) {
      console.warn({ message: "a summary of episodes failed the checks", reasons });
      return false;
    }
    const [{ scope, source }] = episodes;
    const last = episodes.at(-1) ?? episodes[0];
    const body = {
      kind: "episode",
      text,
      dedupe: "none",
      createdAt: last.createdAt,
      updatedAt: last.updatedAt,
      ...(scope !== null && { scope }),
      ...(source !== null && { source }),
    } as const;
    const by = {
      trust: leastOf("model", ...episodes.map(({ trust }) => trust)),
      writtenBy: { model: languageModel?.name ?? "", prompt: NAME },
      sources: episodes.flatMap((episode) => episode.source ?? []),
      summaryOf: episodes.map(({ id }) => id),
    };
    const [summary] = await prepareMemories({ embedder, rules: new Map() }, owner, [{ body, by }]);
    if (summary === undefined) return false;
    return (await writer.summarise(owner, { summary, episodes })).ok;
  }
}

const isSome = (episodes: readonly MemoryRow[]): episodes is Episodes => episodes.length > 0;
