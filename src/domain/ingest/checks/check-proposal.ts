import type { MemoryKind } from "../../schema/memory-fields.ts";
import type { EpisodeProposal, FactProposal, ProcedureProposal, SourceMessage } from "../proposal.ts";
import { speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import { CitedMessages } from "./cited-messages.ts";
import { type ClauseWords, clauseWordsOf } from "./clauses.ts";
import { checkFact } from "./check-fact.ts";
import { mayTell } from "./check-speaker.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";
import { contentStems, joined, needsOf, numbersAndNames, says } from "../../memory/content-stems.ts";

export type Proposal = FactProposal | EpisodeProposal | ProcedureProposal;

/** Characters of an episode and of a procedure. */
const LONGEST = { episode: 2_000, procedure: 8_000 };
/** Characters that an episode or a procedure cites, addresses and options in it, and words of its clauses that others share. */
const [TOLD, TYPED, COMPARISONS] = [50_000, 100, 200_000];
/** The share of the words of an episode or a procedure that its messages have to have. */
const SHARE = 0.5;

/**
 * The reasons why a proposal may not become a live memory; none if it may. It is distrusted unless its messages show it: what the
 * checks cannot tell is quarantined. `window`: the messages that it may cite, and those before them.
 */
export const checkProposal = (
  kind: MemoryKind,
  proposal: Proposal,
  window: readonly SourceMessage[],
): Reason[] => checksAgainst(window)(kind, proposal);

/** The same check of several proposals: each message of the window is read once. */
export function checksAgainst(
  window: readonly SourceMessage[],
): (kind: MemoryKind, proposal: Proposal) => Reason[] {
  const messages = new CitedMessages(window);
  return (kind, proposal) => {
    if ("object" in proposal) return checkFact(proposal, messages);
    return kind === "episode" || kind === "procedure" ? checkText(kind, proposal, messages) : ["malformed"];
  };
}

/** An episode retells, and a procedure lists, what the user and the assistant said themselves. */
function checkText(
  kind: "episode" | "procedure",
  proposal: EpisodeProposal | ProcedureProposal,
  messages: CitedMessages,
): Reason[] {
  const text = "title" in proposal ? `${proposal.title}\n${proposal.text}` : proposal.text;
  const isTooLong = text.length > LONGEST[kind];
  const reasons: Reason[] = [];
  if (text.trim() === "" || isTooLong) reasons.push("malformed");
  if (hidesSomething(text)) reasons.push("hidden_characters");
  if (holdsSecret(text)) reasons.push("secret");
  if (speaksToTheMemory(withoutTheUser(text))) reasons.push("instruction");
  const said = messages
    .of(proposal.sources)
    .filter((message) => mayTell(kind, text, message) && message.told !== "");
  if (said.length === 0) return [...reasons, "not_said_by_user"];
  // Its words are refused for their number: nothing is looked for.
  if (isTooLong) return reasons;
  const code = new Set(text.match(CODE));
  const characters = said.reduce((sum, { told }) => sum + told.length, 0);
  if (characters > TOLD || code.size > TYPED) return [...reasons, "too_long"];
  const stems = new Set(said.flatMap(({ stems: some }) => some));
  const words = contentStems(text);
  const found = words.filter((word) => stems.has(word)).length;
  const isShown =
    found >= words.length * SHARE &&
    says(joined(said.map(({ saidItself }) => saidItself)), needsOf(numbersAndNames(text).join(" "))) &&
    [...code].every((word) => said.some(({ told }) => told.includes(word)));
  if (!isShown) reasons.push("not_in_source");
  const isContrary = contradicts(
    text,
    said.flatMap(({ clauses }) => clauses),
  );
  if (isContrary !== false) reasons.push(isContrary === true ? "negated" : "too_long");
  return reasons;
}

/** Addresses, paths, options and pipes: what somebody types as it stands. */
const CODE =
  /(?<!\S)-{1,2}\p{L}[^\s,.;:!?]*|(?:\|{1,2}|&&|[$~])(?=\s)|(?<![\p{L}\p{N}_-])(?!and\/or|he\/she)[\p{L}\p{N}_-]{2,}(?:[./@\\:=]+[\p{L}\p{N}_-]{2,})+/gu;

/** True if a clause denies what the sources say without a denial, or says what they deny; null if too many would be compared. */
function contradicts(text: string, sources: readonly ClauseWords[]): boolean | null {
  // The clauses of the sources by word: of a long text, few are compared with each clause.
  const byStem = new Map<string, number[]>();
  for (const [place, { stems }] of sources.entries())
    for (const word of stems) {
      const places = byStem.get(word);
      if (places === undefined) byStem.set(word, [place]);
      else places.push(place);
    }
  const clauses = clauseWordsOf(withoutTheUser(text));
  let compared = 0;
  for (const { stems } of clauses) for (const word of stems) compared += byStem.get(word)?.length ?? 0;
  if (compared > COMPARISONS) return null;
  return clauses.some(({ stems, isNegated }) => {
    const shared = new Map<number, number>();
    for (const word of stems)
      for (const place of byStem.get(word) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    let [same, opposite] = [0, 0];
    for (const [place, count] of shared)
      if (sources[place]?.isNegated === isNegated) same = Math.max(same, count);
      else opposite = Math.max(opposite, count);
    const half = stems.size * SHARE;
    return isNegated ? same < half || opposite > same : opposite >= half && opposite > same;
  });
}

/** Who an episode is about. */
const withoutTheUser = (text: string): string =>
  text.replaceAll(/\b(?:the )?(?:user(?:['’]s)?|assistant(?:['’]s)?)\b/giu, "they");
