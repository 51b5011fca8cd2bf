import type { FactProposal, SourceMessage } from "./proposal.ts";
export const candidatesIn = (window: readonly SourceMessage[]): FactProposal[] =>
  window.flatMap(({ seq, role, text }) => {
    const match = role === "user" ? /I have moved to (\w+)\./.exec(text) : null;
    return match === null
      ? []
      : [{ subject: "user", predicate: "lives in", object: match[1] ?? "", sources: [seq] }];
  });
