import { deniesSomething, read, speaksToTheMemory, withoutRoles } from "../../language/cues.ts";
import { anyOf, fieldsOf } from "../../language/fields.ts";
import { contentStems, joined, needsOf, numbersAndNames, says } from "../../memory/content-stems.ts";
import type { EpisodeProposal, ProcedureProposal } from "../proposal.ts";
import { hidesSomething } from "./characters.ts";
import { mayTell } from "./check-speaker.ts";
import type { Conversation } from "./conversation.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";

const WRITING = fieldsOf("writing");
/** Characters of an episode and of a procedure. */
const LONGEST = { episode: 2_000, procedure: 8_000 };
/** Characters that an episode or a procedure cites, addresses and options in it, and words of its clauses that others share. */
const [TOLD, TYPED, COMPARISONS] = [50_000, 100, 200_000];
/** The share of the words of an episode or a procedure that its messages have to have. */
const SHARE = 0.5;
/** Addresses, paths, options and pipes: what somebody types as it stands. */
const CODE = new RegExp(
  String.raw`(?<!\S)-{1,2}\p{L}[^\s,.;:!?]*|(?:\|{1,2}|&&|[$~])(?=\s)|(?<![\p{L}\p{N}_-])(?!${anyOf(WRITING.map(({ withSlash }) => withSlash))})[\p{L}\p{N}_-]{2,}(?:[./@\\:=]+[\p{L}\p{N}_-]{2,})+`,
  "gu",
);

/** An episode retells, and a procedure lists, what the user and the assistant said themselves. */
export function checkText(
  kind: "episode" | "procedure",
  proposal: EpisodeProposal | ProcedureProposal,
  conversation: Conversation,
): Reason[] {
  const text = "title" in proposal ? `${proposal.title}\n${proposal.text}` : proposal.text;
  const isTooLong = text.length > LONGEST[kind];
  const reasons: Reason[] = [];
  if (text.trim() === "" || isTooLong) reasons.push("malformed");
  if (hidesSomething(text)) reasons.push("hidden_characters");
  if (holdsSecret(text)) reasons.push("secret");
  const claims = withoutRoles(text);
  if (speaksToTheMemory(claims)) reasons.push("instruction");
  const cited = conversation
    .of(proposal.sources)
    .filter((message) => mayTell(kind, text, message.source) && message.ownText() !== "");
  if (cited.length === 0) return [...reasons, "not_said_by_user"];
  // Its words are refused for their number: nothing is looked for.
  if (isTooLong) return reasons;
  const code = new Set(text.match(CODE));
  const characters = cited.reduce((sum, one) => sum + one.ownText().length, 0);
  if (characters > TOLD || code.size > TYPED) return [...reasons, "too_long"];
  const stems = new Set(cited.flatMap((one) => one.stems()));
  const words = contentStems(claims);
  const isShown =
    words.filter((word) => stems.has(word)).length >= words.length * SHARE &&
    says(joined(cited.map((one) => one.sourceWords())), needsOf(numbersAndNames(claims).join(" "))) &&
    [...code].every((word) => cited.some((one) => one.ownText().includes(word)));
  if (!isShown) reasons.push("not_in_source");
  const isContrary = contradicts(clausesOf(claims), clausesOf(cited.map((one) => one.ownText()).join("\n")));
  if (isContrary !== false) reasons.push(isContrary === null ? "too_long" : "negated");
  return reasons;
}

/** The words of a part of a text between two marks, and whether it denies them. */
type ClauseWords = { stems: ReadonlySet<string>; isNegated: boolean };
const PART = new RegExp(
  String.raw`[,;:：，、；。.!?？！…()\n]+(?!\d)|\s${anyOf(WRITING.map(({ betweenClauses }) => betweenClauses))}\s`,
  "gu",
);

const clausesOf = (text: string): ClauseWords[] => {
  const reading = read(text);
  return text
    .split(PART)
    .map((part) => ({ stems: new Set(contentStems(part)), isNegated: deniesSomething(part, reading) }))
    .filter(({ stems }) => stems.size > 0);
};

/** True if a clause denies what the sources say without a denial, or says what they deny; null if too many would be compared. */
function contradicts(clauses: readonly ClauseWords[], sources: readonly ClauseWords[]): boolean | null {
  // The clauses of the sources by word: of a long text, few are compared with each clause.
  const places = sources.flatMap(({ stems }, place) => Array.from(stems, (word) => ({ word, place })));
  const byStem = Map.groupBy(places, ({ word }) => word);
  const compared = clauses
    .flatMap(({ stems }) => [...stems])
    .reduce((sum, word) => sum + (byStem.get(word)?.length ?? 0), 0);
  if (compared > COMPARISONS) return null;
  return clauses.some(({ stems, isNegated }) => {
    const shared = new Map<number, number>();
    for (const word of stems)
      for (const { place } of byStem.get(word) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    let [same, opposite] = [0, 0];
    for (const [place, count] of shared)
      if (sources[place]?.isNegated === isNegated) same = Math.max(same, count);
      else opposite = Math.max(opposite, count);
    const half = stems.size * SHARE;
    return isNegated ? same < half || opposite > same : opposite >= half && opposite > same;
  });
}
