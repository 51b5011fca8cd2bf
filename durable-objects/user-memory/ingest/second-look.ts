import { checksAgainst } from "../../../src/domain/ingest/checks/check-proposal.ts";
import { lineOf, type ShownFact } from "../../../src/domain/ingest/prompts/look-1.ts";
import type { FactProposal, Proposals } from "../../../src/domain/ingest/proposal.ts";
import type { Range } from "../../../src/domain/ingest/ranges.ts";
import {
  type Source,
  type SourceSentence,
  sourceSentence,
} from "../../../src/domain/ingest/source-sentence.ts";
import type { Extracted, Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import { look } from "../../../src/platform/models/look.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { Extractor, NoProposals, Step } from "./next-step.ts";

/**
 * A fact that passed the checks, as the model sees it. `holds`: the model's answer. `why`: there is none, and no further call of this
 * ingest asks for one.
 */
type LookedAt = { shown: ShownFact; holds?: boolean; why?: string };
/**
 * The proposals of a step that wait for a second look of the model at their facts. It is kept until they are stored: neither a crash nor
 * an eviction asks for the proposals again. `seqs`: the messages that they may cite. `facts`: by their place among the proposals; null for
 * one that failed the checks. `most`: the facts of one call. `again`: they wait in quarantine since the look failed before.
 */
export type Look = {
  proposals: Proposals;
  extractor: Extractor;
  seqs: readonly number[];
  range?: Range;
  unusable?: readonly IngestResult[];
  facts: readonly (LookedAt | null)[];
  most: number;
  again?: true;
};
/** What a look has come to: it is kept in place of the former state. `left`: memories of the caller's that are none of its matter. */
export type Looking = {
  look: Look;
  usage?: Ingest["usage"] | undefined;
  left?: Extracted | null | undefined;
};

/** Why a fact waits that passed the checks. */
export const lookReasons = {
  denied_by_look:
    "The model saw the sentence and the fact alone, and says that the sentence does not state it.",
  not_looked_at: "The model has not looked at it: its calls failed, or its answers lack the fact.",
} as const;

/** Facts of one call, and bytes of one of them with its sentence. */
const [FACTS, BYTES] = [20, 1_024];

type SecondLookDependencies = { usage: ModelUsage; languageModel: LanguageModel | null; now: () => number };

/** Shows the model each fact with its sentence alone, before the fact becomes live: it may have obeyed what it read when it extracted. */
export class SecondLook {
  readonly #deps: SecondLookDependencies;

  constructor(deps: SecondLookDependencies) {
    this.#deps = deps;
  }

  /** The look that a step needs before it is stored; null without a model, and for what rules found or the checks refuse anyway. */
  async of({ proposals, extractor, window, range, unusable }: Step): Promise<Look | null> {
    const isByRules = extractor !== "caller" && "rules" in extractor;
    if (this.#deps.languageModel === null || isByRules || proposals.facts.length === 0) return null;
    const check = checksAgainst(window);
    const facts: (LookedAt | null)[] = [];
    for (const fact of proposals.facts) {
      // Other calls run between two checks.
      if (facts.length > 0) await turn();
      const { reasons, source } = check("fact", fact);
      facts.push(reasons.length === 0 && source !== null ? lookAt(fact, source) : null);
    }
    if (facts.every((fact) => fact === null)) return null;
    return {
      proposals,
      extractor,
      seqs: window.map(({ seq }) => seq),
      ...(range !== undefined && { range }),
      ...(unusable !== undefined && { unusable }),
      facts,
      most: FACTS,
    };
  }

  /** Asks the model about the next facts, in one call. `asks`: called before it. */
  async ask(given: Look, asks: () => void): Promise<Looking | NoProposals> {
    const { languageModel, usage, now } = this.#deps;
    const places = duePlaces(given).slice(0, given.most);
    const shown = places.flatMap((place) => given.facts[place]?.shown ?? []);
    if (languageModel === null || languageModel.problem !== undefined)
      return { why: "model_misconfigured", isLasting: true };
    const asked = await usage.count(now, () => {
      asks();
      return look(languageModel, shown);
    });
    if ("until" in asked) return asked;
    if (!("failed" in asked)) {
      const settled = new Map(
        places.map((place, i) => {
          const holds = asked.answer.get(i);
          return [place, holds === undefined ? { why: "invalid_answer" } : { holds }];
        }),
      );
      return { look: withAnswers(given, settled), usage: asked.usage };
    }
    const { failed, usage: spent } = asked;
    // One of the facts may be the reason.
    if (failed === "model_refused" && places.length > 1)
      return { look: { ...given, most: Math.ceil(places.length / 2) }, usage: spent };
    if (failed === "model_refused" || failed === "invalid_answer")
      return { look: withAnswers(given, new Map(places.map((p) => [p, { why: failed }]))), usage: spent };
    return { why: failed, isLasting: failed === "model_misconfigured", usage: spent };
  }
}

/** True if no fact waits for an answer. */
export const isOver = (given: Look): boolean => duePlaces(given).length === 0;

/** The look after its last attempt: the other facts get no answer. */
export const givenUp = (given: Look, why: string): Look =>
  withAnswers(given, new Map(duePlaces(given).map((place) => [place, { why }])));

/** Why some facts have no answer, or null. */
export const failureOf = ({ facts }: Look): string | null =>
  facts.find((fact) => isUnanswered(fact))?.why ?? null;

/** A look at the facts without an answer, for a retry. They wait in quarantine meanwhile. */
export function unlooked({ proposals, facts, extractor, seqs }: Look): Look {
  const failed = facts.flatMap((fact, i) => {
    const proposal = proposals.facts[i];
    return fact !== null && isUnanswered(fact) && proposal !== undefined
      ? [{ proposal, fact: { shown: fact.shown } }]
      : [];
  });
  return {
    proposals: { facts: failed.map(({ proposal }) => proposal), episodes: [], procedures: [] },
    extractor,
    seqs,
    facts: failed.map(({ fact }) => fact),
    most: FACTS,
    again: true,
  };
}

/** The reasons against the fact in a place that passes the checks. Its sentence may have changed since the model saw it. */
export function reasonsOf(
  { proposals, facts }: Look,
  place: number,
  source: Source | null,
): readonly (keyof typeof lookReasons | typeof TOO_LONG)[] {
  const [proposal, looked] = [proposals.facts[place], facts[place]];
  if (looked?.why === TOO_LONG) return [TOO_LONG];
  if (proposal === undefined || looked?.holds === undefined || source === null) return ["not_looked_at"];
  const { shown } = lookAt(proposal, source);
  if (lineOf(shown, 0) !== lineOf(looked.shown, 0)) return ["not_looked_at"];
  return looked.holds ? [] : ["denied_by_look"];
}

/** The reason of a fact that the model is not shown: a part of a long sentence may say the contrary of the whole. */
const TOO_LONG = "too_long";

function lookAt(proposal: FactProposal, source: Source): LookedAt {
  const { subject, predicate, object } = proposal;
  const fact = { subject, predicate, object };
  const shown = { ...fact, sentence: sourceSentence(proposal, source) };
  const isTooLong = new TextEncoder().encode(lineOf(shown, FACTS)).byteLength > BYTES;
  return isTooLong ? { shown: { ...fact, sentence: NO_SENTENCE }, why: TOO_LONG } : { shown };
}

const NO_SENTENCE: SourceSentence = { text: "", saidBy: "" };

const isUnanswered = (fact: LookedAt | null): boolean => fact?.why !== undefined && fact.why !== TOO_LONG;

const duePlaces = ({ facts }: Look): number[] =>
  facts.flatMap((fact, i) =>
    fact !== null && fact.holds === undefined && fact.why === undefined ? [i] : [],
  );

const withAnswers = (given: Look, answers: ReadonlyMap<number, Partial<LookedAt>>): Look => ({
  ...given,
  most: FACTS,
  facts: given.facts.map((fact, i) => fact && { ...fact, ...answers.get(i) }),
});
