import type { SourceMessage } from "../proposal.ts";
export const checkProposal = (
  _kind: string,
  _proposal: unknown,
  _window: readonly SourceMessage[],
): string[] => [];
