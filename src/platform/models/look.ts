import { answerSchema, entry, promptOf, type ShownFact } from "../../domain/ingest/prompts/look-2.ts";
import { normalise } from "../../domain/memory/normalise.ts";
import { ask, type Reply, type ParsedAnswer, strictParser } from "./ask.ts";
import type { LanguageModel } from "./language-model.ts";

/** By the place of a fact: true if its sentence states it. A fact without a usable answer is missing. */
export type Verdicts = ReadonlyMap<number, boolean>;

/** Characters of a long object that an answer has to repeat. */
const REPEATED = 20;

/** True if an answer about one fact could be taken for one about the other: these belong into two calls. */
export const areAlike = (one: string, other: string): boolean =>
  normalise(one).slice(0, REPEATED) === normalise(other).slice(0, REPEATED);

/** Asks the model whether each sentence states its fact. It sees nothing else of the conversation. A "no" stays, whatever it answers then. */
export function lookAt(model: LanguageModel, facts: readonly ShownFact[]): Promise<Reply<Verdicts>> {
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
  const entries: readonly unknown[] = Array.isArray(looks) ? looks : [];
  const byLine = Map.groupBy(entries, (one) => Number((Object(one) as { n?: unknown }).n));
  const verdicts = new Map<number, boolean>();
  for (const [n, [first, ...others]] of byLine) {
    const { data } = entry.safeParse(first);
    const fact = facts[n - 1];
    if (others.length > 0 || data === undefined || fact === undefined) continue;
    if (repeats(data.object, fact.object))
      verdicts.set(n - 1, data.says && data.subject && data.fact && data.now);
  }
  return verdicts;
}

function repeats(answer: string, object: string): boolean {
  const [repeated, wanted] = [normalise(answer), normalise(object)];
  return repeated === wanted || (repeated.length >= REPEATED && wanted.startsWith(repeated));
}
