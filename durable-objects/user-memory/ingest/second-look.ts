import { checksAgainst } from "../../../src/domain/ingest/checks/check-proposal.ts";
import type { Verdict } from "../../../src/domain/ingest/checks/check-fact.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import { lineOf, type ShownFact } from "../../../src/domain/ingest/prompts/look-2.ts";
import { type FactProposal, NO_PROPOSALS, type SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import { tripleText } from "../../../src/domain/memory/identity.ts";
import { sourcesOf } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { Reply } from "../../../src/platform/models/ask.ts";
import type { LanguageModel } from "../../../src/platform/models/language-model.ts";
import { areAlike, lookAt, type Verdicts } from "../../../src/platform/models/look.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type {
  Extractor,
  FailedStep,
  Judged,
  Look,
  LookedAt,
  LookedBatch,
  Looking,
  Step,
  StepWait,
} from "./step.ts";

/** The memory that waits in quarantine under an id; null without one. `pending`: a write of it may still change that. */
export type WaitingMemory = (id: string) => MemoryRow | "pending" | null;
/** Asks the model. It fails on the facts alone, or the step does. */
type Ask = (
  question: (model: LanguageModel) => Promise<Reply<Verdicts>>,
) => Promise<Reply<Verdicts> | StepWait | FailedStep>;

/** Why a fact waits that passed the checks. */
const [DENIED, NOT_LOOKED_AT] = ["denied_by_look", "not_looked_at"] as const;
/** Why the model is not shown a fact: the checks refuse it, or a part of its long sentence may say the contrary of the whole. */
const [REFUSED, TOO_LONG] = ["refused", "too_long"] as const;

/** Facts of one call, and bytes of one of them with its sentence. */
const [FACTS, BYTES] = [20, 1_024];
/** Changes of a sentence after each of which the model is asked again, and calls about one fact after whose refusal it is not. */
const [CHANGES, REFUSALS] = [2, 2];

/**
 * The look that a step needs before it is stored: the model is shown each fact with its sentence alone, as it may have obeyed what it read
 * when it extracted. Null for what rules found, or the checks refuse anyway.
 */
export async function lookFor({ proposals, extractor, window }: Step): Promise<Look | null> {
  if (extractor.by === "rules" || proposals.facts.length === 0) return null;
  const check = checksAgainst(window);
  const facts: LookedAt[] = [];
  for (const fact of proposals.facts) {
    // Other calls run between two checks.
    if (facts.length > 0) await turn();
    facts.push(check("fact", fact).reasons.length === 0 ? {} : { why: REFUSED });
  }
  if (facts.every(({ why }) => why === REFUSED)) return null;
  return { facts, most: FACTS };
}

/** A batch of memories that wait in quarantine, without their facts, for another look. */
export const lookAgain = (extractor: Extractor, ids: readonly string[]): LookedBatch => ({
  proposals: NO_PROPOSALS,
  extractor,
  look: { facts: ids.map(() => ({})), most: FACTS, again: ids },
});

/** The batch with the facts of the memories that still wait, as they are now; `pending` while a write may still change one. */
export function withFacts(
  batch: LookedBatch,
  of: { thread: StoredThread; waiting: WaitingMemory; isThere: (seq: number) => boolean },
): LookedBatch | "pending" {
  const { look } = batch;
  const waiting: { id: string; fact: FactProposal; looked: LookedAt }[] = [];
  for (const [place, id] of (look.again ?? []).entries()) {
    const row = of.waiting(id);
    if (row === "pending") return row;
    const fact = row && waitingFact(row, of);
    if (fact !== null) waiting.push({ id, fact, looked: look.facts[place] ?? {} });
  }
  return {
    ...batch,
    proposals: { ...NO_PROPOSALS, facts: waiting.map(({ fact }) => fact) },
    look: {
      ...look,
      facts: waiting.map(({ looked }) => looked),
      again: waiting.map(({ id }) => id),
    },
  };
}

/**
 * The fact of a memory that waits in quarantine. Null for one that a person has changed, that no message of the thread states any more, or
 * that is no fact of an extraction.
 */
function waitingFact(
  row: MemoryRow,
  { thread, isThere }: { thread: StoredThread; isThere: (seq: number) => boolean },
): FactProposal | null {
  const { status, trust, subject, predicate, object, text, validFrom } = row;
  if (status !== "quarantined" || isPerson(trust)) return null;
  if (subject === null || predicate === null || object === null) return null;
  const sources = sourcesOf(row).flatMap((source) =>
    source.thread === thread.id && typeof source.message === "number" ? source.message : [],
  );
  if (sources.length === 0 || !sources.every(isThere)) return null;
  const isOwnText = text !== tripleText({ subject, predicate, object });
  return { subject, predicate, object, ...(isOwnText && { text }), sources, validFrom };
}

/** Asks the model about the next facts, in one call. `window`: the messages as they are now. */
export async function lookFurther(
  batch: LookedBatch,
  window: readonly SourceMessage[],
  ask: Ask,
): Promise<Looking | StepWait | FailedStep> {
  const { shown, unshown } = await nextShown(batch, window);
  const places = shown.map(({ place }) => place);
  if (places.length === 0) return { batch: withLook(batch, unshown) };
  const reply = await ask((model) =>
    lookAt(
      model,
      shown.map(({ fact }) => fact),
    ),
  );
  if ("why" in reply) return reply;
  const { usage } = reply;
  const settled = (answers: readonly LookedAt[], changed?: Partial<Look>): Looking => {
    const answered = places.map((place, i) => [place, answers[i] ?? {}] as const);
    return { batch: withLook(batch, new Map([...unshown, ...answered]), changed), usage };
  };
  const { most, refused = 0 } = batch.look;
  if ("answer" in reply) {
    const answers = shown.map(async ({ fact }, i): Promise<LookedAt> => {
      const holds = reply.answer.get(i);
      return holds === undefined ? { why: "invalid_answer" } : { holds, seen: await hashOf(fact) };
    });
    return settled(await Promise.all(answers), { most: Math.min(FACTS, 2 * most), refused: 0 });
  }
  const { failed: why } = reply;
  const none = places.map(() => ({ why }));
  if (why === "invalid_answer") return settled(none);
  // One of the facts may be the reason.
  if (places.length > 1) return settled([], { most: Math.ceil(places.length / 2) });
  const next = settled(none, { most: 1, refused: refused + 1 });
  return refused + 1 < REFUSALS ? next : { ...next, batch: givenUp(next.batch, why) };
}

/**
 * Judges each fact by the messages as they are now; or returns the look that has to go on, as sentences have changed since the model saw
 * them.
 */
export async function judge(
  batch: LookedBatch,
  window: readonly SourceMessage[],
): Promise<Looking | { batch: LookedBatch; judged: readonly Judged[] }> {
  const check = checkOf(batch, window);
  const judged: Judged[] = [];
  const facts: LookedAt[] = [];
  for (const [place, fact] of batch.proposals.facts.entries()) {
    if (place > 0) await turn();
    const verdict = check(fact);
    const { against, looked } = await judgedBy(batch.look.facts[place] ?? {}, shownOf(fact, verdict));
    facts.push(looked);
    judged.push({ verdict, against });
  }
  const next = { ...batch, look: { ...batch.look, facts } };
  return isOver(next.look) ? { batch: next, judged } : { batch: next };
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
export const isOver = (look: Look): boolean => duePlaces(look).length === 0;

/** The batch after the last attempt of its look: the other facts get no answer. */
export const givenUp = (batch: LookedBatch, why: string): LookedBatch =>
  withLook(batch, new Map(duePlaces(batch.look).map((place) => [place, { why }])));

/** Reasons that lie in the messages: the model gives no answer about these once it is back, either. */
export const OF_MESSAGES: readonly string[] = ["invalid_answer", "model_refused"];

/** Why some facts have no answer, or undefined. `before`: the same of earlier looks. One that may pass stands for all: they are asked again. */
export function failureOf({ facts }: Look, before?: string): string | undefined {
  const now = facts.flatMap((fact) => (isUnanswered(fact) ? (fact.why ?? []) : []));
  if (now.length === 0) return undefined;
  const all = before === undefined ? now : [...now, before];
  return all.find((why) => !OF_MESSAGES.includes(why)) ?? all[0];
}

/**
 * The next facts that wait for an answer, as the model is shown them, and those of the first ones that it is not. Two facts of which an
 * answer could mistake one for the other come in two calls.
 */
async function nextShown(batch: LookedBatch, window: readonly SourceMessage[]) {
  const check = checkOf(batch, window);
  const shown: { place: number; fact: ShownFact }[] = [];
  const unshown = new Map<number, LookedAt>();
  for (const place of duePlaces(batch.look)) {
    if (shown.length === batch.look.most) break;
    const proposal = batch.proposals.facts[place];
    if (proposal === undefined || shown.some(({ fact }) => areAlike(fact.object, proposal.object))) continue;
    if (shown.length + unshown.size > 0) await turn();
    const fact = shownOf(proposal, check(proposal));
    if (fact !== null && !isTooLong(fact)) shown.push({ place, fact });
    else unshown.set(place, { why: fact === null ? REFUSED : TOO_LONG });
  }
  return { shown, unshown };
}

/**
 * The check of the facts of a look. The text of a memory that waits may be its sentence, which says more than the fact: it is a text of
 * the caller's only if the messages show no sentence for the fact.
 */
function checkOf(
  { look: { again } }: LookedBatch,
  window: readonly SourceMessage[],
): (fact: FactProposal) => Verdict {
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
export const isUnanswered = ({ why }: LookedAt = {}): boolean =>
  why !== undefined && why !== REFUSED && why !== TOO_LONG;

const duePlaces = ({ facts }: Look): number[] =>
  facts.flatMap(({ holds, why }, i) => (holds === undefined && why === undefined ? [i] : []));

/** The batch with a look that has come to these answers. */
const withLook = (
  batch: LookedBatch,
  answers: ReadonlyMap<number, LookedAt>,
  changed: Partial<Look> = {},
): LookedBatch => {
  const facts = batch.look.facts.map((fact, i) => ({ ...fact, ...answers.get(i) }));
  return { ...batch, look: { ...batch.look, facts, ...changed } };
};
