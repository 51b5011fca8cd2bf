import type { MemoryKind } from "../../schema/memory-fields.ts";
import { ownWords, sentencesOf } from "../own-words.ts";
import type { EpisodeProposal, FactProposal, ProcedureProposal, SourceMessage } from "../proposal.ts";
import { deniesSomething, speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import { clausesOf, isEmpty, stemOf } from "./clauses.ts";
import { checkFact } from "./check-fact.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";
import { contentStems, numbersAndNames, saysAll } from "../../memory/content-stems.ts";

export type Proposal = FactProposal | EpisodeProposal | ProcedureProposal;

/** Characters of an episode and of a procedure. */
const LONGEST = { episode: 2_000, procedure: 8_000 };
/** The share of the words of an episode or a procedure that its messages have to have. */
const SHARE = 0.5;

/**
 * The reasons why a proposal may not become a live memory; none if it may. It is distrusted unless its messages show it: what the
 * checks cannot tell is quarantined. `window`: the messages that it may cite, and those before them.
 */
export function checkProposal(
  kind: MemoryKind,
  proposal: Proposal,
  window: readonly SourceMessage[],
): Reason[] {
  if ("object" in proposal) return checkFact(proposal, window);
  return kind === "episode" || kind === "procedure" ? checkText(kind, proposal, window) : ["malformed"];
}

/** An episode retells, and a procedure lists, what the user and the assistant said themselves. */
function checkText(
  kind: "episode" | "procedure",
  proposal: EpisodeProposal | ProcedureProposal,
  window: readonly SourceMessage[],
): Reason[] {
  const text = "title" in proposal ? `${proposal.title}\n${proposal.text}` : proposal.text;
  const cited = window.filter(({ seq }) => proposal.sources.includes(seq));
  const said = cited
    .filter(({ role }) => role === "user" || role === "assistant")
    .map((message) => (message.role === "user" ? ownWords(message.text) : message.text))
    .join("\n");
  const reasons: Reason[] = [];
  if (text.trim() === "" || text.length > LONGEST[kind]) reasons.push("malformed");
  if (hidesSomething(text)) reasons.push("hidden_characters");
  if (holdsSecret(text)) reasons.push("secret");
  if (speaksToTheMemory(withoutTheUser(text))) reasons.push("instruction");
  if (said === "") return [...reasons, "not_said_by_user"];
  const stems = new Set(contentStems(said));
  const words = contentStems(text);
  const found = words.filter((word) => stems.has(word)).length;
  const isShown =
    found >= words.length * SHARE &&
    numbersAndNames(text).every((word) => saysAll(said, word)) &&
    (text.match(CODE) ?? []).every((word) => said.includes(word));
  if (!isShown) reasons.push("not_in_source");
  if (contradicts(text, said)) reasons.push("negated");
  return reasons;
}

/** Addresses, paths, options and pipes: what somebody types as it stands. */
const CODE =
  /(?<!\S)-{1,2}\p{L}[^\s,.;:!?]*|(?:\|{1,2}|&&|[$~])(?=\s)|(?<![\p{L}\p{N}_-])(?!and\/or|he\/she)[\p{L}\p{N}_-]{2,}(?:[./@\\:=]+[\p{L}\p{N}_-]{2,})+/gu;

/** The words of a clause that say something, and whether it denies them. */
type ClauseWords = { stems: ReadonlySet<string>; isNegated: boolean };
const clauseWordsOf = (text: string): ClauseWords[] =>
  sentencesOf(text)
    .flatMap(clausesOf)
    .map(({ tokens, isNegated }) => ({
      isNegated,
      stems: new Set(tokens.filter((token) => !isEmpty(token) && !deniesSomething(token)).map(stemOf)),
    }))
    .filter(({ stems }) => stems.size > 0);

/** True if a clause denies what the sources say without a denial, or says what they deny. */
function contradicts(text: string, said: string): boolean {
  const sources = clauseWordsOf(said);
  // The clauses of the sources by word: of a long text, few are compared with each clause.
  const byStem = new Map<string, number[]>();
  for (const [place, { stems }] of sources.entries())
    for (const word of stems) {
      const places = byStem.get(word);
      if (places === undefined) byStem.set(word, [place]);
      else places.push(place);
    }
  return clauseWordsOf(withoutTheUser(text)).some(({ stems, isNegated }) => {
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
