import { checksAgainst } from "../../../src/domain/ingest/checks/check-proposal.ts";
import type { Verdict } from "../../../src/domain/ingest/checks/check-fact.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import { lineOf, type ShownFact } from "../../../src/domain/ingest/prompts/look-2.ts";
import type { FactProposal, Proposals, SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import type { Range } from "../../../src/domain/ingest/ranges.ts";
import type { Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import { areAlike, look } from "../../../src/platform/models/look.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { Extractor, NoProposals, Step } from "./next-step.ts";

/**
 * A fact whose sentence the model sees. `holds`: its answer. `seen`: the hash of what it saw, as no text of a message is stored again.
 * `why`: there is no answer, and no further call of this ingest asks for one. `changes`: how often its sentence has changed since.
 */
type LookedAt = { holds?: boolean; seen?: string; why?: string; changes?: number };
/**
 * The proposals of a step that wait for a second look of the model at their facts. It is kept until they are stored: neither a crash nor
 * an eviction asks for the proposals again. `seqs`: the messages that they may cite. `facts`: by their place among the proposals.
 * `most`: the facts of one call. `refused`: calls in a row about one fact that the model refused. `again`: the memories that wait in
 * quarantine since the look failed before, by the place of their facts. These are read from the memories each time, and not kept here.
 */
export type Look = {
  proposals: Proposals;
  extractor: Extractor;
  seqs: readonly number[];
  range?: Range;
  unusable?: readonly IngestResult[];
  facts: readonly LookedAt[];
  most: number;
  refused?: number;
  again?: readonly string[];
};
/** Facts without an answer, by the ids under which they wait in quarantine: a retry asks about them. */
export type Unlooked = { extractor: Extractor; ids: readonly string[] };
/** The state of a look, in place of its former one. `isFirst`: the look takes its proposals out of what the ingest keeps. */
export type Looking = {
  look: Look;
  usage?: Ingest["usage"] | undefined;
  isFirst?: true;
};
/** The judgement of the checks and of the look on a fact. `against`: why it waits though it passes the checks. */
export type Judged = { verdict: Verdict; against: readonly string[] };

/** Why a fact waits that passed the checks. */
const [DENIED, NOT_LOOKED_AT] = ["denied_by_look", "not_looked_at"] as const;
/** Why the model is not shown a fact: the checks refuse it, or a part of its long sentence may say the contrary of the whole. */
const [REFUSED, TOO_LONG] = ["refused", "too_long"] as const;
const UNSHOWN: ReadonlySet<string> = new Set([REFUSED, TOO_LONG]);

/** Facts of one call, and bytes of one of them with its sentence. */
const [FACTS, BYTES] = [20, 1_024];
/** Changes of a sentence after each of which the model is asked again, and calls about one fact after whose refusal it is not. */
const [CHANGES, REFUSALS] = [2, 2];

const NO_PROPOSALS: Proposals = { facts: [], episodes: [], procedures: [] };

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
    const facts: LookedAt[] = [];
    for (const fact of proposals.facts) {
      // Other calls run between two checks.
      if (facts.length > 0) await turn();
      facts.push(check("fact", fact).reasons.length === 0 ? {} : { why: REFUSED });
    }
    if (facts.every(({ why }) => why === REFUSED)) return null;
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

  /** Asks the model about the next facts, in one call. `window`: the messages as they are now. `asks`: called before it. */
  async ask(given: Look, window: readonly SourceMessage[], asks: () => void): Promise<Looking | NoProposals> {
    const { languageModel, usage, now } = this.#deps;
    const { shown, unshown } = await nextShown(given, window);
    const places = shown.map(({ place }) => place);
    if (places.length === 0) return { look: withAnswers(given, unshown) };
    if (languageModel === null || languageModel.problem !== undefined)
      return { why: "model_misconfigured", isLasting: true };
    const asked = await usage.count(now, () => {
      asks();
      return look(
        languageModel,
        shown.map(({ fact }) => fact),
      );
    });
    if ("until" in asked) return asked;
    const settled = (answers: readonly (readonly [number, LookedAt])[], changed: Partial<Look>): Looking => ({
      look: { ...withAnswers(given, new Map([...unshown, ...answers])), ...changed },
      usage: asked.usage,
    });
    const none = (why: string) => places.map((place) => [place, { why }] as const);
    if (!("failed" in asked)) {
      const { answer } = asked;
      const answers = await Promise.all(
        shown.map(async ({ place, fact }, i): Promise<readonly [number, LookedAt]> => {
          const holds = answer.get(i);
          if (holds === undefined) return [place, { why: "invalid_answer" }];
          return [place, { holds, seen: await hashOf(fact) }];
        }),
      );
      return settled(answers, { most: Math.min(FACTS, 2 * given.most), refused: 0 });
    }
    const { failed, usage: spent } = asked;
    if (failed === "invalid_answer") return settled(none(failed), {});
    if (failed !== "model_refused")
      return { why: failed, isLasting: failed === "model_misconfigured", usage: spent };
    // One of the facts may be the reason.
    if (places.length > 1) return settled([], { most: Math.ceil(places.length / 2) });
    const refused = (given.refused ?? 0) + 1;
    const { look: next } = settled(none(failed), { most: 1, refused });
    return { look: refused < REFUSALS ? next : givenUp(next, failed), usage: spent };
  }

  /**
   * Judges each fact by the messages as they are now; or returns the look that has to go on, as sentences have
   * changed since the model saw them.
   */
  async judge(
    given: Look,
    window: readonly SourceMessage[],
  ): Promise<Looking | { look: Look; judged: readonly Judged[] }> {
    const check = checkOf(given, window);
    const judged: Judged[] = [];
    const facts: LookedAt[] = [];
    for (const [place, fact] of given.proposals.facts.entries()) {
      if (place > 0) await turn();
      const verdict = check(fact);
      const { against, looked } = await judgedBy(given.facts[place] ?? {}, shownOf(fact, verdict));
      facts.push(looked);
      judged.push({ verdict, against });
    }
    const next = { ...given, facts };
    return isOver(next) ? { look: next, judged } : { look: next };
  }
}

/** Why a fact waits, by what the model saw of it and what it would see now; and its look, anew if its sentence has changed. */
async function judgedBy(
  looked: LookedAt,
  shown: ShownFact | null,
): Promise<{ against: readonly string[]; looked: LookedAt }> {
  if (shown === null) return { against: [], looked };
  if (isTooLong(shown)) return { against: [TOO_LONG], looked };
  if (looked.seen === (await hashOf(shown))) {
    const denied = looked.holds === false ? DENIED : NOT_LOOKED_AT;
    return { against: looked.holds === true ? [] : [denied], looked };
  }
  const against = [NOT_LOOKED_AT];
  if (looked.seen === undefined && looked.why !== REFUSED) return { against, looked };
  const changes = (looked.changes ?? 0) + 1;
  return { against, looked: changes <= CHANGES ? { changes } : { changes, why: "changed" } };
}

/** True if no fact waits for an answer. */
export const isOver = (given: Look): boolean => duePlaces(given).length === 0;

/** The look after its last attempt: the other facts get no answer. */
export const givenUp = (given: Look, why: string): Look =>
  withAnswers(given, new Map(duePlaces(given).map((place) => [place, { why }])));

/** Reasons that lie in the messages: the model gives no answer about these once it is back, either. */
export const OF_MESSAGES: readonly string[] = ["invalid_answer", "model_refused"];

/** Why some facts have no answer, or null. `before`: the same of earlier looks. One that may pass stands for all: they are asked again. */
export function failureOf({ facts }: Look, before?: string): string | null {
  const now = facts.flatMap((fact) => (isUnanswered(fact) ? (fact.why ?? []) : []));
  if (now.length === 0) return null;
  const all = before === undefined ? now : [...now, before];
  return all.find((why) => !OF_MESSAGES.includes(why)) ?? all[0] ?? null;
}

/** The facts without an answer, for a retry. They wait in quarantine meanwhile. `stored`: the results of all its facts, unless it is one. */
export function unlookedIn({ facts, extractor, again }: Look, stored: readonly IngestResult[]): Unlooked {
  const ids = facts.flatMap((fact, place) => {
    if (!isUnanswered(fact)) return [];
    const { outcome, memoryId } = stored[place] ?? {};
    return again?.[place] ?? (outcome === "quarantined" && memoryId !== undefined ? memoryId : []);
  });
  return { extractor, ids };
}

/** A look at memories that wait in quarantine, without their facts. */
export const lookAgain = ({ extractor, ids }: Unlooked): Look => ({
  proposals: NO_PROPOSALS,
  extractor,
  seqs: [],
  facts: ids.map(() => ({})),
  most: FACTS,
  again: ids,
});

/** The look with the facts of the memories that still wait. */
export function withFacts(given: Look, factOf: (id: string) => FactProposal | null): Look {
  const waiting = (given.again ?? []).flatMap((id, place) => {
    const fact = factOf(id);
    return fact === null ? [] : [{ id, fact, looked: given.facts[place] ?? {} }];
  });
  return {
    ...given,
    proposals: { ...NO_PROPOSALS, facts: waiting.map(({ fact }) => fact) },
    facts: waiting.map(({ looked }) => looked),
    again: waiting.map(({ id }) => id),
  };
}

/**
 * The next facts that wait for an answer, as the model is shown them, and those of the first ones that it is not. Two facts of which an
 * answer could mistake one for the other come in two calls.
 */
async function nextShown(given: Look, window: readonly SourceMessage[]) {
  const check = checkOf(given, window);
  const shown: { place: number; fact: ShownFact }[] = [];
  const unshown = new Map<number, LookedAt>();
  for (const place of duePlaces(given)) {
    if (shown.length === given.most) break;
    const proposal = given.proposals.facts[place];
    if (proposal === undefined || shown.some(({ fact }) => areAlike(fact.object, proposal.object))) continue;
    if (shown.length + unshown.size > 0) await turn();
    const fact = shownOf(proposal, check(proposal));
    if (fact === null) unshown.set(place, { why: REFUSED });
    else if (isTooLong(fact)) unshown.set(place, { why: TOO_LONG });
    else shown.push({ place, fact });
  }
  return { shown, unshown };
}

/**
 * The check of the facts of a look. The text of a memory that waits may be its sentence, which says more than the fact: it is a text of
 * the caller's only if the messages show no sentence for the fact.
 */
function checkOf({ again }: Look, window: readonly SourceMessage[]): (fact: FactProposal) => Verdict {
  const check = checksAgainst(window);
  return (fact) => {
    const { text, ...bare } = fact;
    if (again === undefined || text === undefined) return check("fact", fact);
    const verdict = check("fact", bare);
    return verdict.sentence === null ? check("fact", fact) : verdict;
  };
}

/** A fact as the model is shown it; null if the checks refuse it. */
function shownOf(
  { subject, predicate, object, text }: FactProposal,
  { stated, sentence, reasons }: Verdict,
): ShownFact | null {
  if (stated === null || reasons.length > 0) return null;
  // The memory shows its sentence; where that needs the fact to be understood, it shows the caller's text.
  const isTextShown = sentence === null && text !== undefined;
  return { subject, predicate, object, ...(isTextShown && { text }), stated };
}

const isTooLong = (fact: ShownFact): boolean =>
  new TextEncoder().encode(lineOf(fact, FACTS)).byteLength > BYTES;

const hashOf = (fact: ShownFact): Promise<string> => hash16(lineOf(fact, 0));

/** True if a fact waits as the model has not looked at it. */
export const isUnanswered = ({ why }: LookedAt = {}): boolean => why !== undefined && !UNSHOWN.has(why);

const duePlaces = ({ facts }: Look): number[] =>
  facts.flatMap(({ holds, why }, i) => (holds === undefined && why === undefined ? [i] : []));

const withAnswers = (given: Look, answers: ReadonlyMap<number, LookedAt>): Look => ({
  ...given,
  facts: given.facts.map((fact, i) => ({ ...fact, ...answers.get(i) })),
});
