import { answerSchema, entry, promptOf, type ShownFact } from "../../domain/ingest/prompts/look-2.ts";
import { normalise } from "../../domain/memory/normalise.ts";
import { ask, type Asked, type ParsedAnswer, strictParser } from "./ask.ts";
import type { LanguageModel } from "./language-model.ts";

/** By the place of a fact: true if its sentence states it. A fact without a usable answer is missing. */
export type Verdicts = ReadonlyMap<number, boolean>;

/** Characters of a long object that an answer has to repeat. */
const REPEATED = 20;

/** True if an answer about one fact could be taken for one about the other: these belong into two calls. */
export const areAlike = (one: string, other: string): boolean =>
  normalise(one).slice(0, REPEATED) === normalise(other).slice(0, REPEATED);

/** Asks the model whether each sentence states its fact. It sees nothing else of the conversation. A "no" stays, whatever it answers then. */
export function look(model: LanguageModel, facts: readonly ShownFact[]): Promise<Asked<Verdicts>> {
  const parseStrictly = strictParser(answerSchema);
  const denied = new Set<number>();
  const parse = (json: unknown): ParsedAnswer<Verdicts> => {
    const { problem } = parseStrictly(json);
    const verdicts = verdictsIn(json, facts);
    for (const [place, holds] of verdicts) if (!holds) denied.add(place);
    for (const place of denied) verdicts.set(place, false);
    const missing = facts.findIndex((_, i) => !verdicts.has(i));
    return {
      answer: verdicts.size === 0 ? null : verdicts,
      problem:
        problem ??
        (missing < 0
          ? null
          : `there is no single entry with the number and the object of line ${missing + 1}`),
    };
  };
  return ask(model, { ...promptOf(facts), schema: answerSchema, parse });
}

/** The answers that name a line and repeat its object. Of a line with two entries, and one that is malformed, there is none. */
function verdictsIn(json: unknown, facts: readonly ShownFact[]): Map<number, boolean> {
  const { looks } = Object(json) as { looks?: unknown };
  const entries = (Array.isArray(looks) ? looks : []).map((one: unknown) => ({
    n: Number((Object(one) as { n?: unknown }).n),
    data: entry.safeParse(one).data,
  }));
  const counts = new Map<number, number>();
  for (const { n } of entries) counts.set(n, (counts.get(n) ?? 0) + 1);
  const verdicts = new Map<number, boolean>();
  for (const { n, data } of entries) {
    const fact = facts[n - 1];
    if (data === undefined || fact === undefined || counts.get(n) !== 1) continue;
    if (repeats(data.object, fact.object))
      verdicts.set(n - 1, data.says && data.subject && data.fact && data.now);
  }
  return verdicts;
}

function repeats(given: string, object: string): boolean {
  const [said, wanted] = [normalise(given), normalise(object)];
  return said === wanted || (said.length >= REPEATED && wanted.startsWith(said));
}
