/**
 * A message as extraction and its checks see it. `speaker`: the name of its sender, if it has one. `isOwner`: the owner of the memory
 * wrote it, as a user. `text`: what its sender wrote. `at`: milliseconds since the epoch.
 */
export type SourceMessage = {
  seq: number;
  role: string;
  speaker: string | null;
  isOwner: boolean;
  text: string;
  at: number;
};

/** The messages to extract from, and those before them, which only explain them. */
export type Window = { context: readonly SourceMessage[]; messages: readonly SourceMessage[] };

/** `sources`: the seqs of the messages that say it, at least one. `isDoubtful`: its sentence is sure, and what it says is not. */
export type FactProposal = {
  subject: string;
  predicate: string;
  object: string;
  text?: string;
  sources: readonly number[];
  validFrom?: number;
  isDoubtful?: true;
};
export type EpisodeProposal = { text: string; sources: readonly number[] };
export type ProcedureProposal = { title: string; text: string; sources: readonly number[] };
export type Proposals = {
  facts: readonly FactProposal[];
  episodes: readonly EpisodeProposal[];
  procedures: readonly ProcedureProposal[];
};
export type Proposal = FactProposal | EpisodeProposal | ProcedureProposal;

export const NO_PROPOSALS: Proposals = { facts: [], episodes: [], procedures: [] };

/** The proposals with another list of each kind. */
export const mapKinds = (
  { facts, episodes, procedures }: Proposals,
  change: <P extends Proposal>(list: readonly P[], kind: keyof Proposals) => readonly P[],
): Proposals => ({
  facts: change(facts, "facts"),
  episodes: change(episodes, "episodes"),
  procedures: change(procedures, "procedures"),
});

/** The seqs of all messages that proposals cite. */
export const citedBy = ({ facts, episodes, procedures }: Proposals): number[] =>
  [facts, episodes, procedures].flat().flatMap(({ sources }) => sources);
