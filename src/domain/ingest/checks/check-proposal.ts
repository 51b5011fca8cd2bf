import type { MemoryKind } from "../../schema/memory-fields.ts";
import { ownWords } from "../own-words.ts";
import type { EpisodeProposal, FactProposal, ProcedureProposal, SourceMessage } from "../proposal.ts";
import { speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
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
  const isShown = found >= words.length * SHARE && numbersAndNames(text).every((word) => saysAll(said, word));
  return isShown ? reasons : [...reasons, "not_in_source"];
}

/** Who an episode is about. */
const withoutTheUser = (text: string): string =>
  text.replaceAll(/\b(?:the )?(?:user(?:['’]s)?|assistant(?:['’]s)?)\b/giu, "they");
