import type { Proposals, Window } from "../../domain/ingest/proposal.ts";
import { answerSchema, NAME, promptOf, shapes } from "../../domain/ingest/prompts/extract-3.ts";
import { withOwnRules } from "../../domain/ingest/own-rules.ts";
import type { ExtractionRule } from "../../domain/schema/extraction.ts";
import type { z } from "zod";
import type { ExtractKind } from "../../domain/schema/ingest.ts";
import { ask, type Reply, type ParsedAnswer, strictParser } from "./ask.ts";
import type { LanguageModel } from "./language-model.ts";

/** Entries of each kind that are taken from one answer. */
const MOST = 100;

/** `unusable`: the kind of each entry that is no proposal, or cites no message of the window. */
type ExtractedAnswer = { proposals: Proposals; unusable: readonly ExtractKind[] };
/** The proposals are not checked yet. `prompt`: the name and version of what the model was asked. */
export type ModelExtraction = Reply<ExtractedAnswer> & { prompt: string };

/** Asks the model for memories of the messages. `own`: the tenant's rule. Of an answer that is wrong twice, the entries that are right are kept. */
export async function extract(
  model: LanguageModel,
  window: Window,
  kinds: readonly ExtractKind[],
  own: ExtractionRule | null = null,
): Promise<ModelExtraction> {
  const seqs = new Set([...window.context, ...window.messages].map(({ seq }) => seq));
  const schema = answerSchema(kinds);
  const parseStrictly = strictParser(schema);
  const parse = (json: unknown): ParsedAnswer<ExtractedAnswer> => {
    const { answer, problem } = parseStrictly(json);
    const cited = Object.values(answer ?? {}).flatMap((entries) => entries.flatMap(({ sources }) => sources));
    const unknown = cited.find((seq) => !seqs.has(seq));
    const usable = usableEntries(json, kinds, seqs);
    const hasSome = Object.values(usable.proposals).some((list) => list.length > 0);
    if (answer !== null && unknown === undefined) return { answer: usable, problem: null };
    // A field too many in an answer that found nothing is no failure.
    const isEmpty =
      usable.unusable.length === 0 && kinds.every((kind) => Array.isArray(Object(json)[kind] as unknown));
    return {
      answer: hasSome || isEmpty ? usable : null,
      problem: problem ?? `sources: there is no message ${unknown}`,
    };
  };
  const { system, content } = promptOf(kinds, window);
  const question = { system: own === null ? system : withOwnRules(system, own), content, schema, parse };
  return { ...(await ask(model, question)), prompt: own === null ? NAME : `${NAME}+own` };
}

/** The entries of an answer that are proposals and cite messages of the window, without fields and sources that are not known. */
function usableEntries(
  json: unknown,
  kinds: readonly ExtractKind[],
  seqs: ReadonlySet<number>,
): ExtractedAnswer {
  const answer = Object(json) as Partial<Record<ExtractKind, unknown>>;
  const unusable: ExtractKind[] = [];
  const usable = <T extends { sources: number[] }>(kind: ExtractKind, shape: z.ZodType<T>): T[] => {
    const entries: unknown = kinds.includes(kind) ? answer[kind] : null;
    return (Array.isArray(entries) ? entries : []).slice(0, MOST).flatMap((entry) => {
      const { data } = shape.safeParse(entry);
      const sources = data?.sources.filter((seq) => seqs.has(seq)) ?? [];
      if (data !== undefined && sources.length > 0) return [{ ...data, sources }];
      unusable.push(kind);
      return [];
    });
  };
  const proposals = {
    facts: usable("facts", shapes.facts),
    episodes: usable("episodes", shapes.episodes),
    procedures: usable("procedures", shapes.procedures),
  };
  return { proposals, unusable };
}
