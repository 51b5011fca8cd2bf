import { answerSchema, entry, promptOf, type ShownFact } from "../../domain/ingest/prompts/look-1.ts";
import { normalise } from "../../domain/memory/normalise.ts";
import { ask, type Asked, type ParsedAnswer, strictParser } from "./ask.ts";
import type { LanguageModel } from "./language-model.ts";

/** By the place of a fact: true if its sentence states it. A fact without a usable answer is missing. */
export type Verdicts = ReadonlyMap<number, boolean>;

/** Characters of a long object that an answer has to repeat. */
const REPEATED = 20;

/** Asks the model whether each sentence states its fact. It sees nothing else of the conversation. */
export function look(model: LanguageModel, facts: readonly ShownFact[]): Promise<Asked<Verdicts>> {
  const parseStrictly = strictParser(answerSchema);
  const parse = (json: unknown): ParsedAnswer<Verdicts> => {
    const { problem } = parseStrictly(json);
    const verdicts = verdictsIn(json, facts);
    const missing = facts.findIndex((_, i) => !verdicts.has(i));
    return {
      answer: verdicts.size === 0 ? null : verdicts,
      problem: problem ?? (missing < 0 ? null : `there is no entry with the object of line ${missing + 1}`),
    };
  };
  return ask(model, { ...promptOf(facts), schema: answerSchema, parse });
}

/** The answers that name a line and repeat its object. Two that differ count as none. */
function verdictsIn(json: unknown, facts: readonly ShownFact[]): Map<number, boolean> {
  const { looks } = Object(json) as { looks?: unknown };
  const verdicts = new Map<number, boolean>();
  const contradicted = new Set<number>();
  for (const one of Array.isArray(looks) ? looks.slice(0, 2 * facts.length) : []) {
    const { data } = entry.safeParse(one);
    const fact = data === undefined ? undefined : facts[data.n - 1];
    if (data === undefined || fact === undefined || !repeats(data.object, fact.object)) continue;
    const place = data.n - 1;
    const holds = data.says && data.subject && data.fact && data.now;
    if ((verdicts.get(place) ?? holds) !== holds) contradicted.add(place);
    verdicts.set(place, holds);
  }
  for (const place of contradicted) verdicts.delete(place);
  return verdicts;
}

function repeats(given: string, object: string): boolean {
  const [said, wanted] = [normalise(given), normalise(object)];
  return said === wanted || (said.length >= REPEATED && wanted.startsWith(said));
}
