import type { Proposals } from "../../domain/ingest/proposal.ts";
import { type Answer, answerSchema, NAME, promptOf } from "../../domain/ingest/prompts/extract-1.ts";
import type { Window } from "../../domain/ingest/window.ts";
import type { ExtractKind } from "../../domain/schema/ingest.ts";
import { ask, type Asked } from "./ask.ts";
import type { LanguageModel } from "./language-model.ts";

/** The proposals are not checked yet. `prompt`: the name and version of what the model was asked. */
export type Extraction = Asked<Proposals> & { prompt: string };

/** Asks the model for memories of the messages. */
export async function extract(
  model: LanguageModel,
  window: Window,
  kinds: readonly ExtractKind[],
): Promise<Extraction> {
  const seqs = new Set([...window.context, ...window.messages].map(({ seq }) => seq));
  const problemOf = (answer: Answer): string | null => {
    const cited = Object.values(answer).flatMap((entries) => entries.flatMap(({ sources }) => sources));
    const unknown = cited.find((seq) => !seqs.has(seq));
    return unknown === undefined ? null : `sources: there is no message ${unknown}`;
  };
  const asked = await ask(model, { ...promptOf(kinds, window), schema: answerSchema(kinds), problemOf });
  if ("failed" in asked) return { ...asked, prompt: NAME };
  const { facts = [], episodes = [], procedures = [] } = asked.answer;
  return { usage: asked.usage, answer: { facts, episodes, procedures }, prompt: NAME };
}
