import type { MemoryKind } from "../../schema/memory-fields.ts";
import type { Proposal, SourceMessage } from "../proposal.ts";
import { checkFact, type Verdict } from "./check-fact.ts";
import { checkText } from "./check-text.ts";
import { Conversation } from "./conversation.ts";
import type { Reason } from "./reasons.ts";

/**
 * The reasons why a proposal may not become a live memory; none if it may. It is distrusted unless its messages show it: what the
 * checks cannot tell is quarantined. `window`: the messages that it may cite, and those around them.
 */
export const checkProposal = (
  kind: MemoryKind,
  proposal: Proposal,
  window: readonly SourceMessage[],
): Reason[] => checksAgainst(window)(kind, proposal).reasons;

/** The same check of several proposals: each message of the window is read once. */
export function checksAgainst(
  window: readonly SourceMessage[],
): (kind: MemoryKind, proposal: Proposal) => Verdict {
  const conversation = new Conversation(window);
  return (kind, proposal) => {
    if ("object" in proposal) return checkFact(proposal, conversation);
    const isText = kind === "episode" || kind === "procedure";
    const reasons: Reason[] = isText ? checkText(kind, proposal, conversation) : ["malformed"];
    return { reasons, sentence: null, stated: null };
  };
}
